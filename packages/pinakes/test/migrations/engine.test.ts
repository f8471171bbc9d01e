/** A whole store moves to another engine and back: items, time to live, objects, vectors, triples, of all tenants. */
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { parseStores } from "../../src/config-stores.ts";
import type { Scope } from "../../src/domain/scope.ts";
import { moveEngine, open, type Pinakes } from "../../src/open.ts";
import { startDynamo, type DynamoServer } from "../../src/drivers/dynamodb/test-server.ts";
import { startPostgres, type TestServer as PostgresServer } from "../../src/drivers/postgres/test-server.ts";

const base = temporaryFolder("engine");
let postgres: PostgresServer;
let dynamo: DynamoServer;
beforeAll(async () => {
  // As in a configuration: an address has no room for keys.
  vi.stubEnv("AWS_ACCESS_KEY_ID", "test");
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", "test");
  postgres = await startPostgres();
  dynamo = await startDynamo();
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await postgres?.stop();
  await dynamo?.stop();
});

const both = { s: "<http://x/s>", p: "<http://x/p>", o: "<http://x/both>", g: "" };
const fleeting = { name: "fleeting", partitionKey: ["who"], ttl: 3_600, uniqueKeys: { nick: ["nick"] } };
const names = { dir: "dir", database: "database", items: "items", objects: "objects", queue: "queue" };
const stores = (items: string, objects: string) => ({
  items,
  objects: `file:${join(base, objects)}`,
  dir: join(base, objects),
  database: "move",
});
const config = (place: ReturnType<typeof stores>) => parseStores(place, names);
const places = () => ({
  sqlite: stores(`sqlite:${join(base, "one")}`, "one-objects"),
  postgres: stores(postgres.url, "two-objects"),
  dynamo: stores(`dynamodb://us-east-1/move?endpoint=${encodeURIComponent(dynamo.endpoint)}`, "three-objects"),
});

/** Of two workspaces: records, rows, triples with and without sources, a collection in the trash, items that expire. */
async function fill(pinakes: Pinakes): Promise<void> {
  for (const tenant of ["acme", "zeta"]) {
    const admin = pinakes.as({ tenant, userId: "root", role: "admin" });
    const { knowledge } = pinakes;
    await knowledge.repositories.create(admin, { repository_id: "kb" });
    for (const id of ["papers", "gone"]) {
      await knowledge.collections.create(admin, "kb", { collection_id: id, description: `of ${tenant}` });
      await knowledge.graph.loadTriples(admin, "kb", id, {
        format: "ntriples",
        body: body(`<http://${tenant}/a> <http://x/b> "${id}"@en .\n_:x <http://x/b> "1"^^<http://x/t> .`),
      });
      await knowledge.rows.upsert(admin, "kb", id, {
        items: Array.from({ length: 20 }, (_, i) => ({
          id: `r${i}`,
          vector: [i, 1, 2],
          text: `row ${i}`,
          metadata: { n: i },
        })),
      });
    }
    const { incarnation } = await knowledge.collections.get(admin, "kb", "papers");
    const quad = { s: "<http://x/s>", p: "<http://x/p>", o: "<http://x/o>", g: "<http://x/g>" };
    await pinakes.triples.write(admin.scope, incarnation, { insert: [quad], source: { source: "doc-1", part: 3 } });
    await pinakes.triples.write(admin.scope, incarnation, { insert: [quad], source: { source: "doc-2", part: 0 } });
    // Stated by a document and by a person: it outlives the document.
    await pinakes.triples.write(admin.scope, incarnation, { insert: [both] });
    await pinakes.triples.write(admin.scope, incarnation, { insert: [both], source: { source: "doc-1", part: 3 } });
    await knowledge.collections.delete(admin, "kb", "gone");
    await pinakes.items.openContainer(fleeting);
    for (let i = 0; i < 30; i += 1)
      await pinakes.items.write(admin.scope, "fleeting", ["me"], {
        op: "create",
        document: { id: `f${i}`, who: "me", nick: `n${i}`, ...(i === 0 ? { ttl: 7_200 } : {}) },
      });
  }
}

async function* body(text: string) {
  yield new TextEncoder().encode(text);
}

const differing = (report: Awaited<ReturnType<typeof moveEngine>>) => report.parts.filter(({ equal }) => !equal);

async function expectAll(place: ReturnType<typeof stores>): Promise<void> {
  await using pinakes = await open({ ...place, background: false });
  await pinakes.items.openContainer(fleeting);
  for (const tenant of ["acme", "zeta"]) {
    const admin = pinakes.as({ tenant, userId: "root", role: "admin" });
    const { items } = await pinakes.knowledge.graph.matchTriples(admin, "kb", "papers", { limit: 100 });
    expect(items).toHaveLength(4);
    expect(items.map(({ s }) => s.value)).toContain(`http://${tenant}/a`);
    const { incarnation } = await pinakes.knowledge.collections.get(admin, "kb", "papers");
    expect(await pinakes.triples.supports(admin.scope, incarnation, [both])).toEqual([[{ source: "doc-1", part: 3 }]]);
    expect(await pinakes.triples.asserted(admin.scope, incarnation, [both])).toEqual([true]);
    const { hits } = await pinakes.knowledge.rows.query(admin, "kb", "papers", {
      vector: [7, 1, 2],
      limit: 1,
      filter: { n: 7 },
    });
    expect(hits[0]).toMatchObject({ id: "r7", text: "row 7" });
    await expect(
      pinakes.items.write(admin.scope, "fleeting", ["me"], {
        op: "create",
        document: { id: "other", who: "me", nick: "n3" },
      }),
    ).rejects.toMatchObject({ code: "CONFLICT" });
    expect((await pinakes.knowledge.collections.restore(admin, "kb", "gone")).status).toBe("ACTIVE");
    expect((await pinakes.knowledge.graph.matchTriples(admin, "kb", "gone")).items).toHaveLength(2);
    await pinakes.knowledge.collections.delete(admin, "kb", "gone");
  }
}

describe("sqlite → postgres → dynamodb", () => {
  it("R-TG-94 R-TG-99 each move ends with equal counts and hashes, and everything works there", async () => {
    const { sqlite, postgres: second, dynamo: third } = places();
    {
      await using pinakes = await open({ ...sqlite, background: false });
      await fill(pinakes);
    }
    const first = await moveEngine(config(sqlite), config(second));
    expect(differing(first)).toEqual([]);
    expect(first.parts.length).toBeGreaterThan(10);
    expect(first.parts.find(({ part }) => part === "container fleeting")).toMatchObject({
      source: { count: 60 },
      target: { count: 60 },
    });
    expect(first.parts.find(({ part }) => part === "triples of acme")?.source.count).toBeGreaterThan(5);
    // Again it is a no-op.
    expect(differing(await moveEngine(config(sqlite), config(second)))).toEqual([]);
    const second2 = await moveEngine(config(second), config(third));
    expect(differing(second2)).toEqual([]);
    await expectAll(second);
    await expectAll(third);
  });

  it("differences are reported by container", async () => {
    const { sqlite, postgres: second } = places();
    await using pinakes = await open({ ...second, background: false });
    await pinakes.items.openContainer(fleeting);
    const admin = pinakes.as({ tenant: "acme", userId: "root", role: "admin" });
    await pinakes.items.write(admin.scope, "fleeting", ["me"], { op: "delete", id: "f5" });
    const report = await moveEngine(config(sqlite), config(second), { verifyOnly: true });
    expect(report.equal).toBe(false);
    expect(differing(report).map(({ part }) => part)).toContain("container fleeting");
  });

  it("R-TG-94 R-TG-129 the hash reveals what is asserted here and only supported there, and a missing support", async () => {
    const { sqlite, postgres: second } = places();
    const differ = async (
      change: (triples: Pinakes["triples"], scope: Scope, space: string) => Promise<unknown>,
    ): Promise<string[]> => {
      {
        await using pinakes = await open({ ...second, background: false });
        const admin = pinakes.as({ tenant: "zeta", userId: "root", role: "admin" });
        const { incarnation } = await pinakes.knowledge.collections.get(admin, "kb", "papers");
        await change(pinakes.triples, admin.scope, incarnation);
      }
      const report = await moveEngine(config(sqlite), config(second), { verifyOnly: true });
      return differing(report).flatMap(({ part }) => (part.startsWith("triples") ? [part] : []));
    };
    const source = { source: "doc-1", part: 3 };
    expect(await differ(async () => {})).toEqual([]);
    expect(
      await differ((triples, scope, space) => triples.write(scope, space, { remove: [both], insert: [both], source })),
    ).toEqual(["triples of zeta"]);
    expect(await differ((triples, scope, space) => triples.write(scope, space, { insert: [both] }))).toEqual([]);
    expect(
      await differ((triples, scope, space) => triples.write(scope, space, { remove: [both], insert: [both] })),
    ).toEqual(["triples of zeta"]);
    expect(await differ((triples, scope, space) => triples.write(scope, space, { insert: [both], source }))).toEqual(
      [],
    );
  });

  it("R-TG-129 in every copy, a quad asserted by a person outlives the document that states it, too", async () => {
    const { postgres: second, dynamo: third } = places();
    for (const place of [second, third]) {
      await using pinakes = await open({ ...place, background: false });
      const admin = pinakes.as({ tenant: "acme", userId: "root", role: "admin" });
      const { incarnation } = await pinakes.knowledge.collections.get(admin, "kb", "papers");
      await pinakes.triples.removeSource(admin.scope, incarnation, "doc-1");
      expect(await pinakes.triples.count(admin.scope, incarnation, both)).toBe(1);
      await pinakes.triples.removeSource(admin.scope, incarnation, "doc-2");
      expect(await pinakes.triples.count(admin.scope, incarnation, { g: "<http://x/g>" })).toBe(0);
    }
  });

  it("R-TG-99 a move interrupted at any page resumes there; the times of items stay", async () => {
    const { sqlite } = places();
    const target = stores(`sqlite:${join(base, "four")}`, "four-objects");
    let tries = 0;
    for (;;) {
      tries += 1;
      const stop = new AbortController();
      let seen = 0;
      const done = await moveEngine(config(sqlite), config(target), {
        signal: stop.signal,
        onProgress: ({ what }) => {
          if (!what.startsWith("comparing") && (seen += 1) === 4) stop.abort();
        },
      }).catch((error: unknown) => {
        if (!stop.signal.aborted) throw error;
        return undefined;
      });
      if (done === undefined) continue;
      expect(differing(done)).toEqual([]);
      break;
    }
    expect(tries).toBeGreaterThan(3);
    await using before = await open({ ...sqlite, background: false });
    await using after = await open({ ...target, background: false });
    const admin = before.as({ tenant: "acme", userId: "root", role: "admin" });
    const key = { partition: ["me"], id: "f7" };
    await after.items.openContainer(fleeting);
    await before.items.openContainer(fleeting);
    expect(await after.items.read(admin.scope, "fleeting", key)).toEqual(
      await before.items.read(admin.scope, "fleeting", key),
    );
  });

  it("a queue with messages is refused, and so is memory", async () => {
    const place = stores(`sqlite:${join(base, "busy")}`, "busy-objects");
    const target = stores(`sqlite:${join(base, "idle")}`, "idle-objects");
    {
      await using pinakes = await open({ ...place, background: false });
      const admin = pinakes.as({ tenant: "acme", userId: "root", role: "admin" });
      await pinakes.knowledge.repositories.create(admin, { repository_id: "kb" });
      await pinakes.knowledge.collections.create(admin, "kb", { collection_id: "c" });
      await pinakes.knowledge.documents.upload(admin, "kb", "c", { name: "a.txt", body: "waits to be indexed" });
    }
    await expect(moveEngine(config(place), config(target))).rejects.toMatchObject({
      code: "CONFLICT",
      message: expect.stringContaining("still has messages"),
    });
    await expect(moveEngine(config({ ...place, items: "memory:" }), config(target))).rejects.toMatchObject({
      code: "INVALID",
    });
  });
});
