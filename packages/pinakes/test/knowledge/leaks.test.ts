/** Attempts on other users' resources, through every method: the answer is exactly that for a missing resource. */
import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, it } from "vitest";
import { makeCaller, type Caller } from "../../src/domain/caller.ts";
import { PinakesError } from "../../src/domain/errors.ts";
import { plantEntry } from "../audit/support/plant-entry.ts";
import {
  harmless,
  onCollection,
  onEverything,
  onQuarantine,
  onRepository,
  withoutCaller,
  type Target,
} from "./support/attempts.ts";
import { body, openTestPinakes, uploaded, type Place } from "./support/test-pinakes.ts";
import { until } from "../support/until.ts";
import { forAllTests } from "../support/for-tests.ts";

let group: Target;
let hidden: Target;
const missing = (repository: string = randomUUID()): Target => ({
  repository,
  collection: randomUUID(),
  deleted: randomUUID(),
  document: randomUUID(),
  job: randomUUID(),
  operation: randomUUID(),
  evaluation: randomUUID(),
  pipeline: randomUUID(),
  quarantined: `${randomUUID()}.${"0".repeat(32)}`,
});

const test = forAllTests(() => openTestPinakes("sqlite"));
beforeAll(async () => {
  await test.knowledge.repositories.create(test.admin, {
    repository_id: "vault",
    name: "Secret vault",
    allowed_groups: ["insiders"],
  });
  group = await fill("vault", test.admin, {});
  hidden = await fill("vault", test.as("ivy", { groups: ["insiders"] }), { private: true });
});

async function fill(repository: string, caller: Caller, input: object): Promise<Target> {
  const { knowledge } = test;
  const name = `Secret ${randomUUID().slice(0, 8)}`;
  const { collection_id, incarnation } = await knowledge.collections.create(caller, repository, {
    name,
    description: "about tangerine",
    ...input,
  });
  const place: Place = { knowledge, caller, repository, collection: collection_id };
  const { document_id } = await uploaded(place, "secret.txt", "the launch code is tangerine");
  await knowledge.graph.loadTriples(caller, repository, collection_id, {
    format: "ntriples",
    body: body('<a:secret> <a:of> "tangerine" .\n'),
  });
  const trash = await knowledge.collections.create(caller, repository, { name: `${name} trash`, ...input });
  const { job_id } = await knowledge.collections.delete(caller, repository, trash.collection_id);
  const archived = await knowledge.collections.create(caller, repository, { name: `${name} archive`, ...input });
  await knowledge.collections.archive(caller, repository, archived.collection_id);
  const operations = await knowledge.operations.list(caller, { limit: 100 });
  const operation = operations.items.find((one) => one.collection_id === archived.collection_id)
    ?.operation_id as string;
  const { evaluation_id } = await knowledge.evaluations.create(caller, {
    name,
    collections: [{ repository, collection: collection_id }],
    queries: [{ query: "tangerine", relevant: [{ document_id }] }],
  });
  return {
    repository,
    collection: collection_id,
    deleted: trash.collection_id,
    document: document_id,
    job: job_id,
    operation,
    evaluation: evaluation_id,
    pipeline: randomUUID(),
    quarantined: await plantEntry(
      test.pinakes.objects,
      test.admin.scope,
      { repository_id: repository, collection_id, incarnation },
      "tangerine",
    ),
  };
}

/** The outcome of an attempt, without the ids of the target. */
async function outcome(attempt: Promise<unknown>, target: Target): Promise<string> {
  const text = await attempt.then(
    (value) => `answered ${JSON.stringify(value)}`,
    (error: unknown) => {
      if (!PinakesError.isInstance(error)) throw error;
      return `${error.code}: ${error.detail}`;
    },
  );
  // Longest first: the id of an entry starts with that of its collection.
  const ids = Object.entries(target).toSorted(([, a], [, b]) => b.length - a.length);
  return ids.reduce((left, [name, id]) => left.replaceAll(id, `<${name}>`), text);
}

const outsiders: readonly (readonly [string, () => Caller])[] = [
  ["another workspace's admin", () => test.as("root", { tenant: "other", role: "admin" })],
  [
    "another workspace's user of the same name and groups",
    () => test.as("ivy", { tenant: "other", groups: ["insiders"] }),
  ],
  ["a user without the group", () => test.as("olaf")],
  ["a repository admin without the group", () => test.as("rita", { role: "repository_admin", groups: ["others"] })],
];

describe.each(outsiders)("%s", (_, who) => {
  it.each(Object.keys({ ...onRepository, ...onCollection }))(
    "%s: the answer is that for a missing resource",
    async (name) => {
      const attempt = { ...onRepository, ...onCollection }[name];
      const elsewhere = missing();
      const real = await outcome(attempt?.(test.knowledge, who(), group) as Promise<unknown>, group);
      expect(real).toBe(await outcome(attempt?.(test.knowledge, who(), elsewhere) as Promise<unknown>, elsewhere));
      expect(real).toMatch(/^NOT_FOUND/);
    },
  );

  it.each(Object.keys(onQuarantine))("%s: the answer is that for a missing entry", async (name) => {
    const elsewhere = missing();
    const real = await outcome(onQuarantine[name]?.(test.knowledge, who(), group) as Promise<unknown>, group);
    expect(real).toBe(
      await outcome(onQuarantine[name]?.(test.knowledge, who(), elsewhere) as Promise<unknown>, elsewhere),
    );
    expect(real).toMatch(/^(NOT_FOUND|FORBIDDEN)/);
  });

  it.each(Object.keys(onEverything))("%s: no trace of it", async (name) => {
    const text = await outcome(onEverything[name]?.(test.knowledge, who(), group) as Promise<unknown>, missing());
    for (const trace of [
      group.collection,
      group.deleted,
      group.document,
      group.job,
      group.operation,
      group.evaluation,
      "launch code",
      "Secret",
      "vault",
    ])
      expect(text).not.toContain(trace);
  });
});

describe("a user of the group, on a private collection of the same repository", () => {
  const who = () => test.as("mia", { groups: ["insiders"] });

  it.each(Object.keys(onCollection))("%s: the answer is that for a missing collection", async (name) => {
    const elsewhere = missing("vault");
    const real = await outcome(onCollection[name]?.(test.knowledge, who(), hidden) as Promise<unknown>, hidden);
    expect(real).toBe(
      await outcome(onCollection[name]?.(test.knowledge, who(), elsewhere) as Promise<unknown>, elsewhere),
    );
    expect(real).toMatch(/^NOT_FOUND/);
  });

  it.each(Object.keys(onEverything).filter((name) => !name.startsWith("queue.")))(
    "%s: no trace of it",
    async (name) => {
      const text = await outcome(onEverything[name]?.(test.knowledge, who(), hidden) as Promise<unknown>, missing());
      for (const trace of [
        hidden.collection,
        hidden.deleted,
        hidden.document,
        hidden.job,
        hidden.operation,
        hidden.evaluation,
      ])
        expect(text).not.toContain(trace);
    },
  );
});

describe("the table", () => {
  it("covers every method, and after all the attempts nothing has changed", async () => {
    const methods = (of: object, prefix: string) =>
      Object.getOwnPropertyNames(Object.getPrototypeOf(of))
        .filter((name) => name !== "constructor")
        .map((name) => `${prefix}${name}`);
    const { knowledge } = test;
    const parts: Readonly<Record<string, object>> = Object.fromEntries(Object.entries(knowledge));
    const there = [
      ...methods(knowledge, ""),
      ...Object.entries(parts).flatMap(([name, part]) => methods(part, `${name}.`)),
    ];
    const known = new Set([
      ...Object.keys({ ...onRepository, ...onCollection, ...onEverything, ...onQuarantine }),
      ...harmless,
      ...withoutCaller,
    ]);
    expect(there.filter((name) => !known.has(name))).toEqual([]);
    for (const target of [group, hidden]) {
      expect(await knowledge.collections.get(test.admin, "vault", target.collection)).toMatchObject({
        status: "ACTIVE",
        document_count: 1,
        description: "about tangerine",
      });
      expect(await knowledge.documents.get(test.admin, "vault", target.collection, target.document)).toMatchObject({
        status: "indexed",
        version: 1,
      });
      expect(await knowledge.quarantine.get(test.admin, target.quarantined)).toMatchObject({
        detail: "tangerine",
        restored_at: null,
      });
      expect((await knowledge.collections.get(test.admin, "vault", target.deleted, { deleted: true })).status).toBe(
        "DELETED",
      );
      expect((await knowledge.graph.matchTriples(test.admin, "vault", target.collection)).items).toMatchObject([
        { o: { value: "tangerine" } },
      ]);
    }
  });

  it("an invalid caller is refused by every method, before anything else", async () => {
    const real = test.as("root", { role: "admin" });
    for (const forged of [undefined, {}, { ...real }, structuredClone({ userId: "root", role: "admin", groups: [] })]) {
      for (const [name, attempt] of Object.entries({
        ...onRepository,
        ...onCollection,
        ...onEverything,
        ...onQuarantine,
      })) {
        const tried = (async () => attempt(test.knowledge, forged as unknown as Caller, group))();
        await expect(tried, name).rejects.toMatchObject({ code: "UNAUTHENTICATED" });
      }
    }
    expect(makeCaller({ tenant: "acme", userId: "x" }).role).toBe("user");
  });

  it("of events, another workspace and a user without the group see nothing that happens in it", async () => {
    const { knowledge } = test;
    const other = test.as("root", { tenant: "other", role: "admin" });
    const stop = new AbortController();
    const open = { acme: { caller: test.admin, repository: "open" }, other: { caller: other, repository: "open" } };
    for (const { caller, repository } of Object.values(open)) {
      await knowledge.repositories.create(caller, { repository_id: repository });
      await knowledge.collections.create(caller, repository, { collection_id: "marker" });
    }
    const watch = (caller: Caller) => {
      const seen: string[] = [];
      const done = (async () => {
        for await (const event of knowledge.events(caller, { signal: stop.signal, pollMs: 5 }))
          seen.push(JSON.stringify(event));
      })();
      return { seen, done };
    };
    const [olaf, stranger, admin] = [watch(test.as("olaf")), watch(other), watch(test.admin)];
    /** Changes something visible to all until all have seen it: earlier events have then reached them, too. */
    const marked = async () => {
      const before = [olaf, stranger, admin].map(({ seen }) => seen.length);
      for (const { caller, repository } of Object.values(open))
        await knowledge.collections.update(caller, repository, "marker", { description: randomUUID() });
      return [olaf, stranger, admin].every(({ seen }, i) =>
        seen.slice(before[i]).some((event) => event.includes("marker")),
      );
    };
    await until(marked);
    const place = { knowledge, caller: test.admin, repository: "vault", collection: group.collection };
    const { document_id } = await uploaded(place, "another.txt", "another secret");
    await until(async () => admin.seen.some((event) => event.includes(document_id)));
    await until(marked);
    await until(marked);
    stop.abort();
    await Promise.all([olaf, stranger, admin].map(({ done }) => done));
    for (const { seen } of [olaf, stranger]) expect(seen.filter((event) => !event.includes("marker"))).toEqual([]);
  });
});
