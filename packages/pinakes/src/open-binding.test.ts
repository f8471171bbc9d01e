/** Items, triples and objects of one store stay together. */
import { mkdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../test/support/temporary-folder.ts";
import { useServers } from "../test/support/servers.ts";
import { parseStores } from "./config-stores.ts";
import { open, storeIds, type OpenOptions } from "./open.ts";

const base = temporaryFolder("binding");
const { postgres, dynamo } = useServers();

const names = { dir: "dir", database: "database", items: "items", objects: "objects", queue: "queue" };
const quiet = { background: false } as const;
const ids = (options: Pick<OpenOptions, "dir" | "items" | "objects" | "database">, bind = false) =>
  storeIds(parseStores(options, names), { bind });

async function opened(options: OpenOptions): Promise<void> {
  await using pinakes = await open({ ...quiet, ...options });
  expect(await pinakes.ready()).toMatchObject({ ready: true, reasons: {} });
}

describe.each([
  ["SQLite", (name: string) => ({ items: `sqlite:${join(base, name)}` })],
  ["PostgreSQL", (name: string) => ({ items: postgres(), database: name })],
  ["DynamoDB", (name: string) => ({ items: dynamo(name) })],
])("the store id on %s", (engine, address) => {
  const place = (name: string, objects: string) => ({
    ...address(name),
    dir: join(base, `${engine}-${name}`),
    objects: `file:${join(base, `${engine}-${objects}`)}`,
  });

  it("is written once, even if several processes open the store at the same time, and is the same in items, objects and triples", async () => {
    const stores = place("first", "first");
    await Promise.all([opened(stores), opened(stores), opened(stores)]);
    const told = await ids(stores);
    expect(told.items).toMatch(/^[0-9a-f-]{36}$/);
    expect(told).toEqual({ items: told.items, objects: told.items, triples: [told.items] });
    await opened(stores);
    expect(await ids(stores)).toEqual(told);
  });

  it("rejects objects of another store, or of none, unless confirmed; accepts the right ones as before", async () => {
    const [one, two] = [place("one", "one"), place("two", "two")];
    await opened(one);
    await opened(two);
    const [first, second] = [await ids(one), await ids(two)];
    const mixed = open({ ...quiet, ...one, objects: two.objects });
    await expect(mixed).rejects.toMatchObject({ code: "CONFLICT" });
    const detail = await mixed.then(String, (error: Error) => error.message);
    for (const part of [first.items, second.items, "PINAKES_OBJECTS", `${engine}-two`, "pinakes stores bind"])
      expect(detail).toContain(part);
    // An empty folder, and memory, are not its objects either.
    await expect(open({ ...quiet, ...one, objects: `file:${join(base, `${engine}-empty`)}` })).rejects.toThrow(
      /has no store id/,
    );
    await expect(open({ ...quiet, ...one, objects: "memory:" })).rejects.toThrow(/has no store id/);
    // New items with foreign objects: rejected, and nothing is written to them.
    await expect(open({ ...quiet, ...place("three", "one") })).rejects.toThrow(/have no store id yet/);
    expect((await ids(place("three", "one"))).items).toBeUndefined();
    await expect(open({ ...quiet, items: "memory:", objects: one.objects })).rejects.toThrow(/are in memory/);
    await opened(one);
    expect([await ids(one), await ids(two)]).toEqual([first, second]);
    // Confirmed, and the way back stays open.
    const elsewhere = { ...one, objects: `file:${join(base, `${engine}-empty`)}` };
    expect(await ids(elsewhere, true)).toEqual(first);
    await opened(elsewhere);
    await opened(one);
  });

  it("is not ready as soon as its objects are gone, and is ready when they are back", async () => {
    const stores = place("ready", "ready");
    const folder = join(base, `${engine}-ready`);
    await using pinakes = await open({ ...quiet, ...stores });
    await rename(folder, `${folder}-away`);
    await mkdir(folder, { recursive: true });
    const answer = await pinakes.ready();
    expect(answer.ready).toBe(false);
    expect(Object.keys(answer.reasons)).toEqual(["objects"]);
    await rm(folder, { recursive: true });
    await rename(`${folder}-away`, folder);
    expect(await pinakes.ready()).toMatchObject({ ready: true });
  });
});

it("a folder of an earlier version has no id: it gets one, and its data are kept", async () => {
  const dir = join(base, "earlier");
  {
    await using pinakes = await open({ ...quiet, dir });
    const admin = pinakes.as({ tenant: "acme", userId: "root", role: "admin" });
    await pinakes.knowledge.repositories.create(admin, { repository_id: "kb" });
    await pinakes.objects.put(admin.scope, "a", Buffer.from("x"));
  }
  await forgetIds(dir);
  expect(await ids({ dir })).toEqual({ items: undefined, objects: undefined, triples: [] });
  await using pinakes = await open({ ...quiet, dir });
  const admin = pinakes.as({ tenant: "acme", userId: "root", role: "admin" });
  expect(await pinakes.knowledge.repositories.get(admin, "kb")).toMatchObject({ repository_id: "kb" });
  expect(await pinakes.objects.get(admin.scope, "a")).toBeDefined();
  const told = await ids({ dir });
  expect(told).toEqual({ items: told.items, objects: told.items, triples: [told.items] });
});

/** Removes the id everywhere, bypassing the store that protects it. */
async function forgetIds(dir: string): Promise<void> {
  const { openSqliteItems, openSqliteTriples } = await import("./drivers/sqlite/index.ts");
  const { openFileObjects } = await import("./drivers/fs/index.ts");
  const { systemScope } = await import("./domain/scope.ts");
  const system = systemScope("a test", () => {});
  const scope = system.forTenant("pinakes.store");
  const database = "pinakes";
  await using items = await openSqliteItems({ dir, database });
  await items.openContainer({ name: "pinakes-probe", partitionKey: ["probe"] });
  await items.write(scope, "pinakes-probe", ["store"], { op: "delete", id: "store" });
  await using triples = await openSqliteTriples({ dir, database });
  const { quads } = await triples.match(scope, "store", {});
  await triples.write(scope, "store", { remove: quads });
  await using objects = await openFileObjects({ dir: join(dir, "objects") });
  await objects.delete(system, ["pinakes/store.json"]);
}
