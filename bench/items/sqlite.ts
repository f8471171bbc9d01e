/** Items on SQLite against prepared node:sqlite statements on the same layout: the raw engine, without our guarantees. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { JsonObject } from "../../packages/pinakes/src/domain/json.ts";
import { tenantScope } from "../../packages/pinakes/src/domain/scope.ts";
import { openSqliteItems } from "../../packages/pinakes/src/drivers/sqlite/index.ts";
import type { ItemStore } from "../../packages/pinakes/src/ports/item-store.ts";
import { documentOf } from "../lib/documents.ts";
import { compare, us } from "../lib/measure.ts";
import type { Row } from "../lib/report.ts";

const scope = tenantScope("bench");
const container = {
  name: "states",
  partitionKey: ["p"],
  indexes: { byStatus: { partition: ["p"], sort: ["status", "at"] } },
  feed: true,
};

export async function sqliteRows(): Promise<Row[]> {
  const dir = mkdtempSync(join(tmpdir(), "pinakes-bench-"));
  const store = await openSqliteItems({ dir });
  try {
    await store.openContainer(container);
    return [
      await pointRead(store, dir, 1_024, 20_000),
      await pointRead(store, dir, 51_200, 4_000),
      await partitionQuery(store, dir),
      ...(await durableUpdates(store, dir)),
    ];
  } finally {
    await store.close();
    rmSync(dir, { recursive: true, force: true });
  }
}

async function load(store: ItemStore, p: string, count: number, bytes: number): Promise<void> {
  for (let start = 0; start < count; start += 20) {
    const size = Math.min(20, count - start);
    await store.batch(
      scope,
      container.name,
      [p],
      Array.from({ length: size }, (_, i) => ({ op: "create", document: documentOf(`i${start + i}`, p, bytes) })),
    );
  }
}

function rawDatabase(dir: string): DatabaseSync {
  return new DatabaseSync(join(dir, "pinakes.sqlite"), { readOnly: true });
}

async function pointRead(store: ItemStore, dir: string, bytes: number, operations: number): Promise<Row> {
  const p = `read-${bytes}`;
  const count = 200;
  await load(store, p, count, bytes);
  const db = rawDatabase(dir);
  const statement = db.prepare(`SELECT CAST(doc AS BLOB) FROM "c_${container.name}" WHERE pk = ? AND id = ?`);
  statement.setReturnArrays(true);
  const pk = JSON.stringify(["bench", p]);
  const result = await compare({
    rounds: 11,
    operations,
    theirs: () => {
      for (let i = 0; i < operations; i += 1)
        if ((statement.get(pk, `i${i % count}`) as unknown as [Uint8Array])[0].length < bytes - 100)
          throw new Error("short read");
    },
    ours: async () => {
      for (let i = 0; i < operations; i += 1) {
        const item = await store.readRaw(scope, container.name, { partition: [p], id: `i${i % count}` });
        if (item === undefined || item.bytes.length < bytes - 100) throw new Error("short read");
      }
    },
  });
  db.close();
  const kb = Math.round(bytes / 1024);
  return {
    name: `point read ${kb} KB raw, vs raw node:sqlite`,
    value: result.ratio,
    unit: "×",
    bar: { atLeast: 0.7 },
    note: `ours ${us(result.oursUs)}, raw ${us(result.theirsUs)}`,
  };
}

async function partitionQuery(store: ItemStore, dir: string): Promise<Row> {
  const p = "query";
  await load(store, p, 100, 5_120);
  const db = rawDatabase(dir);
  const statement = db.prepare(
    `SELECT id, etag, modified_at, doc FROM "c_${container.name}" WHERE pk = ? ORDER BY id LIMIT 100`,
  );
  statement.setReturnArrays(true);
  const pk = JSON.stringify(["bench", p]);
  const operations = 200;
  const result = await compare({
    rounds: 11,
    operations,
    theirs: () => {
      for (let i = 0; i < operations; i += 1) {
        const rows = (statement.all(pk) as unknown as [string, string, number, string][]).map(
          ([id, etag, modifiedAt, doc]) => ({
            id,
            etag,
            modifiedAt,
            document: JSON.parse(doc) as unknown,
          }),
        );
        if (rows.length !== 100) throw new Error("short page");
      }
    },
    ours: async () => {
      for (let i = 0; i < operations; i += 1) {
        const page = await store.query(scope, container.name, { equals: { p }, limit: 100 });
        if (page.items.length !== 100) throw new Error("short page");
      }
    },
  });
  db.close();
  return {
    name: "partition query of 100 × 5 KB, vs raw",
    value: result.ratio,
    unit: "×",
    bar: { atLeast: 0.8 },
    note: `ours ${us(result.oursUs)}, raw ${us(result.theirsUs)}, both parsed`,
  };
}

const inFlight = 64;
const updateRows = 20_000;
const updatePartitions = 100;

/** Any of 20,000 documents in 100 partitions, the same order for both sides. */
function* randomRows(): Generator<number> {
  for (let seed = 1; ;) {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff;
    yield seed % updateRows;
  }
}

function updateDocuments(): JsonObject[] {
  return Array.from({ length: updateRows }, (_, i) => documentOf(`i${i}`, `u${i % updatePartitions}`, 1_024));
}

/** The raw peer writes the same rows per update (document with index key, feed row and its index) and fsyncs per group of 64. */
async function durableUpdates(store: ItemStore, dir: string): Promise<Row[]> {
  const documents = updateDocuments();
  for (let p = 0; p < updatePartitions; p += 1) {
    const own = documents.filter((_, i) => i % updatePartitions === p);
    for (let start = 0; start < own.length; start += 100)
      await store.batch(
        scope,
        container.name,
        [`u${p}`],
        own.slice(start, start + 100).map((document) => ({ op: "create", document })),
      );
  }
  const raw = rawGroupCommit(dir, documents);
  const rows = randomRows();
  let at = 0;
  const update = async (): Promise<void> => {
    const document = documents[rows.next().value as number] as JsonObject;
    at += 1;
    await store.write(scope, container.name, [document["p"] as string], {
      op: "replace",
      document: { ...document, at },
    });
  };
  const groups = 100;
  const grouped = await compare({
    rounds: 9,
    operations: inFlight * groups,
    theirs: () => raw.run(groups),
    ours: async () => {
      await Promise.all(
        Array.from({ length: inFlight }, async () => {
          for (let i = 0; i < groups; i += 1) await update();
        }),
      );
    },
  });
  const singles = 256;
  const single = await compare({
    rounds: 9,
    operations: singles,
    theirs: async () => {
      for (let i = 0; i < singles; i += 1) await update();
    },
    ours: async () => {
      await Promise.all(
        Array.from({ length: inFlight }, async () => {
          for (let i = 0; i < singles / inFlight; i += 1) await update();
        }),
      );
    },
  });
  raw.close();
  return [
    {
      name: "durable updates 1 KB, 64 in flight, vs raw group-commit loop",
      value: grouped.ratio,
      unit: "×",
      bar: { atLeast: 0.8 },
      note: `ours ${Math.round(1e6 / grouped.oursUs)}/s, raw ${Math.round(1e6 / grouped.theirsUs)}/s; 20,000 rows, random`,
    },
    {
      name: "durable updates 1 KB, 64 in flight, vs one at a time",
      value: single.ratio,
      unit: "×",
      bar: { atLeast: 5 },
      note: `one at a time ${Math.round(1e6 / single.theirsUs)}/s`,
    },
  ];
}

function rawGroupCommit(dir: string, documents: readonly JsonObject[]): { run(groups: number): void; close(): void } {
  const db = new DatabaseSync(join(dir, "raw.sqlite"));
  db.exec(`
    PRAGMA page_size = 8192; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -32768;
    CREATE TABLE c (row INTEGER PRIMARY KEY, pk TEXT NOT NULL, id TEXT NOT NULL, etag TEXT NOT NULL, modified_at INTEGER NOT NULL, ttl INTEGER, own_expiry INTEGER, k BLOB, doc TEXT NOT NULL, UNIQUE (pk, id));
    CREATE INDEX c_k ON c (k) WHERE k IS NOT NULL;
    CREATE TABLE f (seq INTEGER PRIMARY KEY, tenant TEXT NOT NULL, pk TEXT NOT NULL, id_key TEXT NOT NULL, id TEXT NOT NULL, kind TEXT NOT NULL, etag TEXT NOT NULL, at INTEGER NOT NULL, expired INTEGER NOT NULL);
    CREATE INDEX f_t ON f (tenant, seq);`);
  const keyOf = (document: JsonObject, n: number) =>
    Buffer.from(
      `bench\0${document["p"] as string}\0in_progress\0${String(n).padStart(8, "0")}${document["id"] as string}0123456789ab`,
    );
  const pkOf = (document: JsonObject) => JSON.stringify(["bench", document["p"]]);
  const insert = db.prepare("INSERT INTO c (pk, id, etag, modified_at, k, doc) VALUES (?, ?, '', 0, ?, ?)");
  db.exec("BEGIN");
  // In the order in which the store was loaded: partition by partition.
  for (let p = 0; p < updatePartitions; p += 1) {
    for (let i = p; i < documents.length; i += updatePartitions) {
      const document = documents[i] as JsonObject;
      insert.run(pkOf(document), document["id"] as string, keyOf(document, 0), JSON.stringify(document));
    }
  }
  db.exec("COMMIT");
  const update = db.prepare("UPDATE c SET etag = ?, modified_at = ?, k = ?, doc = ? WHERE pk = ? AND id = ?");
  const feed = db.prepare(
    "INSERT INTO f (tenant, pk, id_key, id, kind, etag, at, expired) VALUES ('bench', ?, ?, ?, 'put', ?, ?, 0)",
  );
  const rows = randomRows();
  let n = 0;
  const run = (groups: number): void => {
    for (let g = 0; g < groups; g += 1) {
      db.exec("BEGIN IMMEDIATE");
      for (let i = 0; i < inFlight; i += 1) {
        n += 1;
        const document = documents[rows.next().value as number] as JsonObject;
        const id = document["id"] as string;
        const pk = pkOf(document);
        const etag = `raw-${n.toString(36)}`;
        update.run(etag, n, keyOf(document, n), JSON.stringify({ ...document, at: n }), pk, id);
        feed.run(pk, id, id, etag, n);
      }
      db.exec("COMMIT");
    }
  };
  return { run, close: () => db.close() };
}
