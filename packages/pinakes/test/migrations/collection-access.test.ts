/** `migrate-collection`: a move never widens access. */
import { beforeAll, expect, it } from "vitest";
import { makeCaller, type Caller } from "../../src/domain/caller.ts";
import { itemIds } from "../../src/knowledge/records/records.ts";
import { plant } from "./support/planted-collection.ts";
import { World } from "./support/world.ts";
import { forAllTests } from "../support/for-tests.ts";

const user = (userId: string, ...groups: readonly string[]): Caller => makeCaller({ tenant: "acme", userId, groups });
const world = forAllTests(() => World.open());
const process = forAllTests(() => world.process());
beforeAll(async () => {
  for (const [repository_id, allowed_groups] of Object.entries({
    open: null,
    staff: ["staff"],
    both: ["staff", "guests"],
    guests: ["guests"],
  }))
    await process.knowledge.repositories.create(world.admin, { repository_id, allowed_groups });
});

const source = (repository: string, collection: string, to: string) => ({
  kind: "collection",
  repository,
  collection,
  to: { repository: to },
});

async function moved(repository: string, collection: string, to: string, caller = world.admin): Promise<void> {
  const { migration_id } = await process.migrations.create(caller, {
    source: source(repository, collection, to),
    auto: true,
  });
  expect(await process.migrations.drive(caller, migration_id)).toMatchObject({ state: "switched", error: null });
}

async function sees(who: Caller, repository: string, collection: string): Promise<boolean> {
  return process.knowledge.collections.get(who, repository, collection).then(
    () => true,
    (error: unknown) => {
      expect(error).toMatchObject({ code: "NOT_FOUND" });
      return false;
    },
  );
}

it("R-TG-63 R-TG-100 groups inherited from the repository move with the collection to one that admits others", async () => {
  await process.knowledge.collections.create(world.admin, "staff", { collection_id: "wages" });
  await process.knowledge.collections.create(world.admin, "staff", { collection_id: "rota" });
  await moved("staff", "wages", "open");
  expect(await process.knowledge.collections.get(world.admin, "open", "wages")).toMatchObject({
    allowed_groups: ["staff"],
  });
  expect([await sees(user("eve"), "open", "wages"), await sees(user("sue", "staff"), "open", "wages")]).toEqual([
    false,
    true,
  ]);
  await moved("staff", "rota", "both");
  expect([await sees(user("guy", "guests"), "both", "rota"), await sees(user("sue", "staff"), "both", "rota")]).toEqual(
    [false, true],
  );
});

it("R-TG-63 if the new repository admits the same or fewer, or it stays in its own, the collection continues without its own groups", async () => {
  await process.knowledge.collections.create(world.admin, "open", { collection_id: "news" });
  await process.knowledge.collections.create(world.admin, "both", { collection_id: "menu" });
  await moved("open", "news", "staff");
  await moved("both", "menu", "staff");
  for (const id of ["news", "menu"])
    expect(await process.knowledge.collections.get(world.admin, "staff", id)).toMatchObject({ allowed_groups: null });
  const renamed = { ...source("staff", "menu", "staff"), to: { collection: "meals" } };
  const { migration_id } = await process.migrations.create(world.admin, { source: renamed, auto: true });
  expect(await process.drive(migration_id)).toMatchObject({ state: "switched" });
  expect(await process.knowledge.collections.get(world.admin, "staff", "meals")).toMatchObject({
    allowed_groups: null,
  });
});

it("R-TG-63 a repository that excludes groups the old one admitted is a problem of the plan, as are groups that only two together admit", async () => {
  await process.knowledge.collections.create(world.admin, "staff", { collection_id: "plans" });
  const plan = await process.plan(source("staff", "plans", "guests"));
  expect(plan.problems).toEqual([
    { where: "staff/plans", reason: expect.stringContaining("is open to staff, which repository") as string },
  ]);
  await process.knowledge.repositories.create(world.admin, { repository_id: "narrow", allowed_groups: ["a", "b"] });
  await process.knowledge.collections.create(world.admin, "narrow", { collection_id: "ones", allowed_groups: ["a"] });
  await process.knowledge.collections.create(world.admin, "narrow", {
    collection_id: "twos",
    allowed_groups: ["a", "b"],
  });
  await process.knowledge.repositories.update(world.admin, "narrow", { allowed_groups: ["b"] });
  expect((await process.plan(source("narrow", "ones", "open"))).problems).toEqual([
    { where: "narrow/ones", reason: expect.stringContaining("and another one of repository") as string },
  ]);
  await moved("narrow", "twos", "open");
  expect([await sees(user("al", "a"), "open", "twos"), await sees(user("bo", "b"), "open", "twos")]).toEqual([
    false,
    true,
  ]);
});

it("R-TG-63 a private collection moves wherever its creator may: only groups that the new repository admits stay", async () => {
  const una = user("una", "staff", "guests");
  await process.knowledge.collections.create(una, "staff", { collection_id: "notes", private: true });
  await process.knowledge.collections.create(una, "both", {
    collection_id: "drafts",
    private: true,
    allowed_groups: ["staff", "guests"],
  });
  await moved("staff", "notes", "guests", una);
  await moved("both", "drafts", "guests", una);
  expect(await process.knowledge.collections.get(una, "guests", "notes")).toMatchObject({
    private: true,
    created_by: "una",
    allowed_groups: null,
  });
  expect(await process.knowledge.collections.get(una, "guests", "drafts")).toMatchObject({
    private: true,
    allowed_groups: ["guests"],
  });
  for (const id of ["notes", "drafts"]) expect(await sees(user("guy", "guests"), "guests", id)).toBe(false);
});

it("R-TG-63 the missing repository is the one that is named", async () => {
  await process.knowledge.repositories.create(world.admin, { repository_id: "sunk" });
  await process.knowledge.collections.create(world.admin, "sunk", { collection_id: "wreck" });
  const { migration_id } = await process.migrations.create(world.admin, { source: source("sunk", "wreck", "open") });
  await world.items.write(world.admin.scope, "collections", ["sunk"], { op: "delete", id: itemIds.repository });
  const { problems } = await process.drive(migration_id);
  expect(problems.map(({ reason }) => reason)).toEqual(['is in repository "sunk", which no longer exists.']);
});

it("R-TG-63 moved out of a personal repository it stays private to that user, whatever its record said there", async () => {
  const ann = user("ann");
  await process.knowledge.collections.create(ann, "me", { collection_id: "diary" });
  await process.knowledge.collections.update(ann, "me", "diary", { private: false });
  await moved("me", "diary", "open", ann);
  expect(await process.knowledge.collections.get(ann, "open", "diary")).toMatchObject({
    private: true,
    created_by: "ann",
  });
  expect(await sees(user("eve"), "open", "diary")).toBe(false);
});

it("R-TG-63 changed groups of a repository are found between copy and switch, and copying again follows them", async () => {
  await process.knowledge.repositories.create(world.admin, { repository_id: "late", allowed_groups: ["staff"] });
  await process.knowledge.collections.create(world.admin, "late", { collection_id: "memo" });
  const { migration_id } = await process.plan(source("late", "memo", "open"));
  await process.run(migration_id, "copy", "validate");
  await process.knowledge.repositories.update(world.admin, "late", { allowed_groups: ["board"] });
  expect(await process.run(migration_id, "cutover")).toMatchObject({
    state: "copied",
    error: expect.stringContaining("settings") as string,
  });
  expect(await process.run(migration_id, "copy", "validate", "cutover")).toMatchObject({
    state: "switched",
    error: null,
  });
  expect(await process.knowledge.collections.get(world.admin, "open", "memo")).toMatchObject({
    allowed_groups: ["board"],
  });
});

it("documents with an access of their own keep it, with their triples, at the new place", async () => {
  await plant(world, process, "vault");
  for (const id of ["vault-one", "vault-two"])
    await process.knowledge.documents.setAccess(world.admin, "kb", "vault", id, { allowed_users: ["vera"] });
  await moved("kb", "vault", "open");
  const learned = async (who: Caller) => {
    const { items } = await process.knowledge.documents.list(who, "open", "vault", {});
    const triples = await process.knowledge.graph.matchTriples(who, "open", "vault", {});
    const { document_count } = await process.knowledge.collections.get(who, "open", "vault");
    return {
      documents: items.map(({ document_id }) => document_id).toSorted(),
      triples: triples.items.length,
      document_count,
    };
  };
  expect(await learned(user("sue"))).toEqual({ documents: [], triples: 2, document_count: 0 });
  expect(await learned(user("vera"))).toEqual({
    documents: ["vault-one", "vault-two"],
    triples: 3,
    document_count: 2,
  });
  await process.knowledge.documents.setAccess(world.admin, "open", "vault", "vault-one", { allowed_users: ["sue"] });
  expect(await learned(user("sue"))).toEqual({ documents: ["vault-one"], triples: 3, document_count: 1 });
  expect(await learned(user("vera"))).toEqual({ documents: ["vault-two"], triples: 3, document_count: 1 });
});
