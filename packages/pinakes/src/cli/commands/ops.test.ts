/** Commands that label, tag, describe, delete and purge collections, and look after operations. */
import { beforeAll, expect, it, vi } from "vitest";
import { readConfig } from "../../config.ts";
import { openStores } from "../../open.ts";
import { collections } from "./collections.ts";
import { UsageError } from "../terminal/command.ts";
import { keys } from "./keys.ts";
import { ops } from "./ops.ts";
import { repositories } from "./repositories.ts";
import { cliFolder, failure } from "../terminal/test-terminal.ts";

// Each command opens the stores anew: a busy machine takes its time.
const { env, call, json } = cliFolder("ops");

beforeAll(async () => {
  await json(repositories, "create", "kb");
  await json(collections, "create", "kb/papers", "--tags", "old");
});

it("R-TG-107 adds and removes tags, and finds by them", async () => {
  expect(await json(collections, "tag", "kb/papers", "add", "physics", "old", "1905")).toMatchObject({
    metadata: { tags: ["old", "physics", "1905"] },
  });
  expect(await json(collections, "tag", "kb/papers", "remove", "old", "never")).toMatchObject({
    metadata: { tags: ["physics", "1905"] },
  });
  const found = async (...args: string[]) =>
    (await json<{ items: { collection_id: string }[] }>(collections, "list", ...args)).items.length;
  expect(await found("--tag", "physics")).toBe(1);
  expect(await found("--tag", "physics", "--tag", "old")).toBe(0);
  expect(await found("--tag", "physics", "--tag", "old", "--any-tag")).toBe(1);
  expect(await found("--sort", "last_used_at", "--unused-since", "2001-01-01T00:00:00Z")).toBe(0);
  expect(await failure(call(collections, ["tag", "kb/papers", "put", "x"]))).toBeInstanceOf(UsageError);
  expect((await failure(call(collections, ["tag", "kb/papers", "add", "no/slash"]))).code).toBe("INVALID");
  expect((await failure(call(collections, ["tag", "kb/none", "add", "x"]))).code).toBe("NOT_FOUND");
});

it("R-TG-107 labels a collection; an empty text takes the label away", async () => {
  expect(await json(collections, "label", "kb/papers", "--name", "Old papers", "--description", "All")).toMatchObject({
    name: "Old papers",
    description: "All",
    metadata: { tags: ["physics", "1905"] },
  });
  expect(await json(collections, "label", "kb/papers", "--description", "")).toMatchObject({
    name: "Old papers",
    description: "",
  });
  expect(await json(collections, "label", "kb/papers", "--name", "")).toMatchObject({ name: "papers" });
  expect(await failure(call(collections, ["label", "kb/papers"]))).toBeInstanceOf(UsageError);
});

it("R-TG-05 R-TG-107 describes it: the record, its state, and what each store holds", async () => {
  const described = await json(collections, "describe", "kb/papers");
  expect(described).toMatchObject({
    collection_id: "papers",
    status: "ACTIVE",
    usage: { stores: { documents: 0, objects: 0, vectors: 0, triples: 0 }, bytes: 0, consistent: true },
    operations: [],
  });
  expect((await call(collections, ["describe", "kb/papers"])).out).toMatch(/triples\s+0/);
});

it("R-TG-27 R-TG-107 asks before a delete, with No for an answer that is none; -y does not ask; without a terminal it is refused", async () => {
  for (const answer of ["", "n", "no", "yes please"]) {
    const asked = vi.fn<(question: string) => Promise<string>>(async () => answer);
    expect((await failure(call(collections, ["delete", "kb/papers"], { ask: asked }))).message).toContain(
      "nothing was changed",
    );
    expect(asked.mock.calls[0]?.[0]).toContain("[y/N]");
  }
  expect((await failure(call(collections, ["delete", "kb/papers"]))).message).toContain("--yes");
  expect(await json(collections, "show", "kb/papers")).toMatchObject({ status: "ACTIVE" });
  expect((await call(collections, ["delete", "kb/papers", "-y"])).code).toBe(0);
  expect((await failure(call(collections, ["delete", "kb/papers", "-y"]))).code).toBe("NOT_FOUND");
});

it("R-TG-107 restores the life that is named, and purges with a report by store", async () => {
  const former = await json<{ incarnation: string }>(collections, "show", "kb/papers", "--deleted");
  const fresh = await json<{ incarnation: string }>(collections, "create", "kb/papers");
  expect(fresh.incarnation).not.toBe(former.incarnation);
  expect((await failure(call(collections, ["restore", "kb/papers", "--incarnation", former.incarnation]))).code).toBe(
    "CONFLICT",
  );
  expect((await failure(call(collections, ["purge", "kb/papers"]))).message).toContain("--yes");
  const purged = await json<{ operation_id: string; stores: { store: string; remaining: number }[] }>(
    collections,
    "purge",
    "kb/papers",
    "--yes",
  );
  expect(purged).toMatchObject({ status: "done", collection_id: "papers" });
  expect(purged.stores.map(({ store, remaining }) => [store, remaining]).toSorted()).toEqual([
    ["documents", 0],
    ["objects", 0],
    ["triples", 0],
    ["vectors", 0],
  ]);
  expect(await json(collections, "restore", "kb/papers", "--incarnation", former.incarnation)).toMatchObject({
    incarnation: former.incarnation,
  });
  expect(await json(ops, "list", "--collection", "papers")).toMatchObject({
    items: [{ operation_id: purged.operation_id }],
  });
  expect((await call(ops, ["show", purged.operation_id])).out).toMatch(
    /vectors\s+confirmed.*files and records of the index/,
  );
  expect((await call(ops, ["list", "--status", "failed"])).out).toContain("There are no operations");
  expect((await failure(call(ops, ["retry", purged.operation_id]))).code).toBe("CONFLICT");
  expect((await failure(call(ops, ["show", "none"]))).code).toBe("NOT_FOUND");
});

it("R-TG-107 R-TG-50 a purge that a store holds up is exit code 1 on retry, its count a dash, and 0 when it is done", async () => {
  await json(collections, "create", "kb/held");
  const config = readConfig(env);
  const register = async (work: (pinakes: Awaited<ReturnType<typeof openStores>>) => Promise<unknown>) => {
    await using pinakes = await openStores(config.stores, { background: false, log: () => {} });
    await work(pinakes);
  };
  const capabilities = { delete: true, archive: true, list: false };
  await register(({ lifecycle }) => lifecycle.participants.register({ store: "away", class: "object", capabilities }));
  let id = "";
  await register(async (pinakes) => {
    const { knowledge } = pinakes;
    const admin = pinakes.as({ tenant: "default", userId: "root", role: "admin" });
    id = (await knowledge.collections.delete(admin, "kb", "held", { purge: true, confirm: "held" })).job_id;
  });
  expect(await json(ops, "list", "--status", "running")).toMatchObject({ items: [{ operation_id: id }] });
  // Nobody answers for the store: it cannot be done, and the exit code says so.
  const held = await call(ops, ["retry", id, "--wait", "0", "--json"]);
  expect(held.code).toBe(1);
  const told = JSON.parse(held.out) as {
    status: string;
    stores: { store: string; status: string; remaining: number | null }[];
  };
  expect(told.status).toBe("running");
  expect(told.stores.find(({ store }) => store === "away")?.status).toMatch(/^(?:waiting|sent)$/);
  // It never counted: what it has is unknown, and not nothing.
  expect(told.stores.find(({ store }) => store === "away")?.remaining).toBeNull();
  expect((await call(ops, ["show", id])).out).toMatch(/away\s+(?:waiting|sent)\s+0\s+–\s+rows/);
  expect((await failure(call(ops, ["retry", id, "--wait", "3601"]))).message).toContain("3600");
  await register(({ lifecycle }) => lifecycle.participants.unregister("away"));
  const ran = await call(ops, ["retry", id, "--json"]);
  expect([ran.code, JSON.parse(ran.out)]).toMatchObject([0, { status: "done", partial: true }]);
});

it("makes a key that may purge", async () => {
  expect(await json(keys, "create", "--user", "petra", "--purge")).toMatchObject({
    role: "user",
    permissions: ["purge"],
  });
  expect((await call(keys, ["list"])).out).toContain("purge");
});
