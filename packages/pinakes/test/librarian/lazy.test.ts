/** Collections created on first use, and the record of their use. */
import { beforeEach, describe, expect, it } from "vitest";
import { makeCaller, type Caller } from "../../src/domain/caller.ts";
import { useEveryMs } from "../../src/knowledge/collections/uses.ts";
import type { Knowledge } from "../../src/knowledge/index.ts";
import { World } from "../lifecycle/support/world.ts";
import { body } from "../knowledge/support/test-pinakes.ts";
import { forEachTest } from "../support/for-tests.ts";

let knowledge: Knowledge;
let admin: Caller;
const world = forEachTest(() => World.open());
const process = forEachTest(() => world.process());
beforeEach(async () => {
  ({ knowledge } = process);
  ({ admin } = world);
  await knowledge.repositories.create(admin, { repository_id: "auto", auto_create: true });
});

type Load = (id: string, repository?: string) => Promise<unknown>;
const loads = (): Readonly<Record<string, Load>> => ({
  document: (id, repository = "auto") =>
    knowledge.documents.upload(admin, repository, id, { name: "a.txt", body: body("x") }),
  "many documents": (id, repository = "auto") =>
    knowledge.documents.uploadMany(admin, repository, id, (take) => take({ name: "a.txt", body: body("x") })),
  "upload grant": async (id, repository = "auto") => {
    const { url } = await knowledge.grants.upload(admin, repository, id, { name: "a.txt" });
    return knowledge.grants.useUpload(url.split("/").at(-1) as string, body("x"));
  },
  embeddings: (id, repository = "auto") =>
    knowledge.rows.upsert(admin, repository, id, { items: [{ id: "a", vector: [1, 2] }] }),
  triples: (id, repository = "auto") =>
    knowledge.graph.loadTriples(admin, repository, id, { format: "ntriples", body: body("<a:s> <a:p> <a:o> .\n") }),
});
const loadNames = ["document", "many documents", "upload grant", "embeddings", "triples"];

const queries = (): Readonly<Record<string, (id: string, repository: string) => Promise<unknown>>> => ({
  search: (id, repository) =>
    knowledge.search.run(admin, { query: "x", mode: "keyword", collections: [{ repository, collection: id }] }),
  "rows.query": (id, repository) => knowledge.rows.query(admin, repository, id, { vector: [1, 2] }),
  triples: (id, repository) => knowledge.graph.matchTriples(admin, repository, id),
  "triples as RDF": async (id, repository) =>
    Array.fromAsync(await knowledge.graph.exportTriples(admin, repository, id, { format: "nquads" })),
  "triples of several": (id, repository) =>
    knowledge.graph.matchAcross(admin, { collections: [{ repository, collection: id }] }),
  sparql: (id, repository) => knowledge.graph.sparql(admin, repository, id, { query: "ASK { ?s ?p ?o }" }),
  "sparql of several": (id, repository) =>
    knowledge.graph.sparqlAcross(admin, { query: "ASK { ?s ?p ?o }", collections: [{ repository, collection: id }] }),
});
const queryNames = [
  "search",
  "rows.query",
  "triples",
  "triples as RDF",
  "triples of several",
  "sparql",
  "sparql of several",
];

describe("loading", () => {
  it.each(loadNames)(
    "R-TG-16 R-TG-28 the first %s registers the collection with its defaults, and records the use",
    async (name) => {
      await loads()[name]?.("papers");
      const record = await knowledge.collections.get(admin, "auto", "papers");
      expect(record).toMatchObject({
        name: "papers",
        description: "",
        metadata: { tags: [], custom_fields: {} },
        status: "ACTIVE",
      });
      expect(record.last_used_at).toBe(new Date(world.now).toISOString());
      expect(record.updated_at).toBe(record.created_at);
    },
  );

  it.each(loadNames)(
    "R-TG-16 if the repository does not allow it, the first %s is refused and creates nothing",
    async (name) => {
      await expect(loads()[name]?.("papers", "kb")).rejects.toMatchObject({ code: "NOT_FOUND" });
      expect(
        (await knowledge.collections.list(admin, { repositoryId: "kb", status: "all" })).items.map(
          ({ is_default }) => is_default,
        ),
      ).toEqual([true]);
    },
  );

  it("an invalid request creates nothing", async () => {
    await expect(
      knowledge.documents.upload(admin, "auto", "a", { name: "../x", body: body("x") }),
    ).rejects.toMatchObject({
      code: "INVALID",
    });
    await expect(knowledge.rows.upsert(admin, "auto", "b", { items: [] })).rejects.toThrow();
    await expect(
      knowledge.documents.upload(admin, "auto", "bad id!", { name: "a.txt", body: body("x") }),
    ).rejects.toMatchObject({
      code: "INVALID",
    });
    expect((await knowledge.collections.list(admin, { repositoryId: "auto", status: "all" })).items).toHaveLength(1);
  });

  it("R-TG-18 a hundred concurrent first uses, by every entry point, create one record, with one time and one incarnation", async () => {
    const all = Object.values(loads()).filter((_, i) => i >= 3);
    const docs = Array.from({ length: 50 }, (_, i) =>
      knowledge.documents.upload(admin, "auto", "crowd", { name: `f${i}.txt`, body: body("x") }),
    );
    await Promise.all([...docs, ...Array.from({ length: 50 }, (_, i) => all[i % all.length]?.("crowd"))]);
    const lives = await world.items.query(admin.scope, "collections", {
      equals: { repository_id: "auto" },
      range: { prefix: "collection:crowd" },
    });
    expect(lives.items).toHaveLength(1);
    const record = await knowledge.collections.get(admin, "auto", "crowd");
    expect(record.document_count).toBe(50);
    expect((await knowledge.collections.usage(admin, "auto", "crowd")).stores).toMatchObject({
      vectors: 1,
      triples: 1,
    });
  });

  it.each(loadNames)(
    "R-TG-16 the first %s registers an id that is another's name, or differs from its id in case, beside that one",
    async (name) => {
      await knowledge.collections.create(admin, "auto", { collection_id: "r1", name: "Reports" });
      for (const id of ["Case", "case", "reports"]) await loads()[name]?.(id);
      const names = await Promise.all(
        ["Case", "case", "reports"].map(async (id) => (await knowledge.collections.get(admin, "auto", id)).name),
      );
      expect(names).toEqual([
        "Case",
        expect.stringMatching(/^case [0-9a-f]{8}$/),
        expect.stringMatching(/^reports [0-9a-f]{8}$/),
      ]);
      // Each has its own contents.
      const uses = await Promise.all(
        ["Case", "case", "reports"].map(async (id) => (await knowledge.collections.usage(admin, "auto", id)).stores),
      );
      expect(uses[1]).toEqual(uses[0]);
      expect(uses[2]).toEqual(uses[0]);
      expect((await knowledge.collections.get(admin, "auto", "r1")).name).toBe("Reports");
    },
  );

  it("R-TG-18 two ids that differ in case, with fifty concurrent first uses each, make two records with two names", async () => {
    const ids = ["Crowd", "crowd"];
    await Promise.all(Array.from({ length: 100 }, async (_, i) => loads()["embeddings"]?.(ids[i % 2] as string)));
    const { items } = await world.items.query(admin.scope, "collections", {
      equals: { repository_id: "auto" },
      range: { prefix: "collection:" },
    });
    const made = items.map(({ document }) => document).filter(({ is_default }) => is_default !== true);
    expect(made.map(({ collection_id }) => collection_id).toSorted()).toEqual(["Crowd", "crowd"]);
    expect(new Set(made.map(({ name_key }) => name_key)).size).toBe(2);
    // The first one is named by its id.
    expect(made.filter(({ name, collection_id }) => name === collection_id)).toHaveLength(1);
    const count = await world.items.read(admin.scope, "collections", { partition: ["auto"], id: "count" });
    expect(count?.document["collections"]).toBe(3);
  });

  it("a new incarnation of an id whose name was taken meanwhile gets its own name", async () => {
    const load = loads()["embeddings"] as Load;
    await load("Case");
    const former = await knowledge.collections.get(admin, "auto", "Case");
    await knowledge.collections.delete(admin, "auto", "Case", {});
    await process.lifecycle.idle();
    await load("case");
    await load("Case");
    const [lower, upper] = [
      await knowledge.collections.get(admin, "auto", "case"),
      await knowledge.collections.get(admin, "auto", "Case"),
    ];
    expect([lower.name, upper.name]).toEqual(["case", expect.stringMatching(/^Case [0-9a-f]{8}$/)]);
    expect(upper.incarnation).not.toBe(former.incarnation);
    // The deleted incarnation is kept beside it, unchanged.
    expect(
      await knowledge.collections.get(admin, "auto", "Case", { deleted: true, incarnation: former.incarnation }),
    ).toMatchObject({
      name: "Case",
      status: "DELETED",
    });
  });

  it("R-TG-14 R-TG-19 a use changes nothing of an existing record: not its name, tags, times, or version", async () => {
    await knowledge.collections.create(admin, "auto", {
      collection_id: "kept",
      name: "Kept",
      description: "As it is",
      metadata: { tags: ["a"] },
    });
    const before = await knowledge.collections.get(admin, "auto", "kept");
    for (const load of Object.values(loads()).slice(0, 1)) await load("kept");
    world.now += 2 * useEveryMs;
    await loads()["embeddings"]?.("kept");
    await queries()["triples"]?.("kept", "auto");
    const after = await knowledge.collections.get(admin, "auto", "kept");
    const { name, description, metadata, created_at, updated_at, incarnation } = before;
    expect(after).toMatchObject({ name, description, metadata, created_at, updated_at, incarnation });
    expect(after.last_used_at).toBe(new Date(world.now).toISOString());
    // The version read before all this is still current.
    expect(
      await knowledge.collections.update(admin, "auto", "kept", { description: "Newer" }, before.etag),
    ).toMatchObject({ description: "Newer" });
  });
});

describe("a use", () => {
  it("R-TG-28 is recorded by a SPARQL update too, which creates no collection", async () => {
    await knowledge.collections.create(admin, "auto", { collection_id: "graph" });
    const update = (id: string) =>
      knowledge.graph.sparql(admin, "auto", id, { update: "INSERT DATA { <a:s> <a:p> <a:o> }" });
    await update("graph");
    expect((await knowledge.collections.get(admin, "auto", "graph")).last_used_at).toBe(
      new Date(world.now).toISOString(),
    );
    await expect(update("typo")).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  it("is written at most once per interval, whatever happens in between", async () => {
    await loads()["embeddings"]?.("papers");
    const stats = async () =>
      (await world.items.query(admin.scope, "documents", { index: "lives", equals: { held: true } })).items[0];
    const incarnation = (await knowledge.collections.get(admin, "auto", "papers")).incarnation;
    const key = { partition: ["auto", incarnation], id: "stats" };
    const first = await world.items.read(admin.scope, "documents", key);
    expect(await stats()).toBeDefined();
    world.now += useEveryMs - 1;
    for (let i = 0; i < 20; i += 1) await queries()["rows.query"]?.("papers", "auto");
    expect((await world.items.read(admin.scope, "documents", key))?.etag).toBe(first?.etag);
    world.now += 1;
    await queries()["rows.query"]?.("papers", "auto");
    expect((await world.items.read(admin.scope, "documents", key))?.document["last_used_at"]).toBe(
      new Date(world.now).toISOString(),
    );
  });

  it("is not written again if another process just did", async () => {
    await loads()["embeddings"]?.("papers");
    const { etag } = await knowledge.collections.get(admin, "auto", "papers");
    world.now += useEveryMs / 2;
    const other = await world.process();
    await other.knowledge.rows.query(admin, "auto", "papers", { vector: [1, 2] });
    expect((await knowledge.collections.get(admin, "auto", "papers")).etag).toBe(etag);
    await other.close();
  });
});

describe("querying", () => {
  it.each(queryNames)("R-TG-17 by default %s creates nothing: a missing one is NOT_FOUND", async (name) => {
    await expect(queries()[name]?.("typo", "auto")).rejects.toMatchObject({ code: "NOT_FOUND" });
    expect((await knowledge.collections.list(admin, { repositoryId: "auto", status: "all" })).items).toHaveLength(1);
  });

  it.each(queryNames)(
    "R-TG-17 R-TG-29 if the repository has create_on_query, the first %s registers it",
    async (name) => {
      await knowledge.repositories.update(admin, "auto", { create_on_query: true });
      if (name === "search") await expect(queries()[name]?.("asked", "auto")).resolves.toMatchObject({ hits: [] });
      else await queries()[name]?.("asked", "auto");
      const record = await knowledge.collections.get(admin, "auto", "asked");
      expect(record).toMatchObject({ name: "asked", description: "", metadata: { tags: [], custom_fields: {} } });
      expect(record.last_used_at).toBe(new Date(world.now).toISOString());
      await expect(
        knowledge.repositories.update(admin, "auto", { create_on_query: "yes" as unknown as boolean }),
      ).rejects.toMatchObject({ code: "INVALID" });
    },
  );

  it("W6 a missing collection gives an empty answer that says so on request; a hidden one does the same", async () => {
    await loads()["document"]?.("papers");
    const stranger = makeCaller({ tenant: "acme", userId: "stranger" });
    await knowledge.collections.create(admin, "auto", { collection_id: "hidden", private: true });
    const ask = (caller: Caller, ...ids: string[]) =>
      knowledge.search.run(caller, {
        query: "x",
        mode: "keyword",
        collections: ids.map((collection) => ({ repository: "auto", collection })),
        unknown_collections: "empty",
      });
    const missing = (collection: string) => ({ repository: "auto", collection });
    expect(await ask(stranger, "nowhere")).toMatchObject({
      hits: [],
      collection_exists: false,
      missing: [missing("nowhere")],
    });
    expect(await ask(stranger, "hidden")).toMatchObject({
      hits: [],
      collection_exists: false,
      missing: [missing("hidden")],
    });
    expect(await ask(admin, "papers", "nowhere")).toMatchObject({
      collection_exists: false,
      missing: [missing("nowhere")],
    });
    expect(await ask(admin, "papers")).toMatchObject({ collection_exists: true, missing: [] });
    await expect(ask(admin)).rejects.toMatchObject({ code: "INVALID" });
    const strict = knowledge.search.run(stranger, { query: "x", mode: "keyword", collections: [missing("nowhere")] });
    await expect(strict).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  type Wishes = { readonly include_metadata?: boolean; readonly unknown_collections?: "empty" };
  const named = (...ids: string[]) => ids.map((collection) => ({ repository: "auto", collection }));
  const ofOne: readonly [string, (id: string, wishes: Wishes) => Promise<object>][] = [
    ["rows.query", (id, wishes) => knowledge.rows.query(admin, "auto", id, { vector: [1, 2], ...wishes })],
    ["triples", (id, wishes) => knowledge.graph.matchTriples(admin, "auto", id, wishes)],
  ];
  const ofSeveral: readonly [string, (ids: readonly string[], wishes: Wishes, caller?: Caller) => Promise<object>][] = [
    [
      "search",
      (ids, wishes, caller = admin) =>
        knowledge.search.run(caller, { query: "x", mode: "keyword", collections: named(...ids), ...wishes }),
    ],
    [
      "triples of several",
      (ids, wishes, caller = admin) => knowledge.graph.matchAcross(caller, { collections: named(...ids), ...wishes }),
    ],
    [
      "sparql of several",
      (ids, wishes, caller = admin) =>
        knowledge.graph.sparqlAcross(caller, { query: "ASK { ?s ?p ?o }", collections: named(...ids), ...wishes }),
    ],
  ];

  it.each(ofOne)("R-TG-29 the record of the collection is in the answer of %s only on request", async (_, ask) => {
    await loads()["triples"]?.("papers");
    for (const wishes of [{}, { include_metadata: false }])
      expect(await ask("papers", wishes)).not.toHaveProperty("collection");
    expect(await ask("papers", { include_metadata: true })).toMatchObject({
      collection: await knowledge.collections.get(admin, "auto", "papers"),
    });
  });

  it.each(ofSeveral)(
    "R-TG-29 the records of the collections are in the answer of %s only on request",
    async (_, ask) => {
      for (const id of ["papers", "notes"]) await loads()["triples"]?.(id);
      for (const wishes of [{}, { include_metadata: false }])
        expect(await ask(["papers"], wishes)).not.toHaveProperty("collections");
      const records = await Promise.all(["papers", "notes"].map((id) => knowledge.collections.get(admin, "auto", id)));
      expect(await ask(["papers", "notes", "papers"], { include_metadata: true })).toMatchObject({
        collections: records,
      });
    },
  );

  it("R-TG-29 … and of a SPARQL query; an update refuses the option", async () => {
    await loads()["triples"]?.("papers");
    const sparql = (input: object) => knowledge.graph.sparql(admin, "auto", "papers", input);
    expect(await sparql({ query: "ASK {}" })).toEqual({ kind: "boolean", value: true });
    const record = await knowledge.collections.get(admin, "auto", "papers");
    expect(await sparql({ query: "ASK {}", include_metadata: true })).toEqual({
      kind: "boolean",
      value: true,
      collections: [record],
    });
    await expect(sparql({ update: "DROP ALL", include_metadata: true })).rejects.toMatchObject({ code: "INVALID" });
    expect((await knowledge.collections.usage(admin, "auto", "papers")).triples).toBe(1);
  });

  it.each(ofSeveral)(
    "W6 R-TG-88 %s: missing or hidden collections are named on request; a forbidden one refuses all",
    async (_, ask) => {
      await loads()["triples"]?.("papers");
      await knowledge.collections.create(admin, "auto", { collection_id: "hidden", private: true });
      const stranger = makeCaller({ tenant: "acme", userId: "stranger" });
      const empty = { unknown_collections: "empty" } as const;
      expect(await ask(["papers", "nowhere"], empty)).toMatchObject({
        collection_exists: false,
        missing: named("nowhere"),
      });
      expect(await ask(["papers"], empty)).toMatchObject({ collection_exists: true, missing: [] });
      expect(await ask(["nowhere", "hidden"], empty, stranger)).toMatchObject({
        collection_exists: false,
        missing: named("nowhere", "hidden"),
      });
      expect(await ask(["papers"], {})).not.toHaveProperty("collection_exists");
      await expect(ask(["papers", "nowhere"], {})).rejects.toMatchObject({ code: "NOT_FOUND" });
      await expect(ask(["bad id!"], empty)).resolves.toMatchObject({ collection_exists: false });
    },
  );
});
