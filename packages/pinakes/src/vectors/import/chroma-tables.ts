/**
 * The tables of Chroma's chroma.sqlite3 (0.4 and later), read into two tables of ours: rows (documents and metadata) and vectors.
 *
 * Chroma writes every change to `embeddings_queue` first. The metadata segment (`embeddings`, `embedding_metadata`) and the vector segment
 * (the files of its HNSW index) each read it at their own pace, and `max_seq_id` has the position of each. So each of the two is the
 * content of its segment plus the later changes of the queue, in order. Changes that both have are purged from the queue.
 */
import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import { PinakesError, invalid, show } from "../../domain/errors.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../domain/json.ts";

export interface ChromaCollection {
  readonly id: string;
  readonly name: string;
  /** As Chroma calls it: l2, cosine or ip. */
  readonly space: string;
  readonly metadataSegment: string;
  readonly vectorSegment: string;
}

export interface ChromaRow {
  readonly id: string;
  readonly document: string | null;
  readonly metadata: string;
  readonly vector: Uint8Array | null;
}

type TableRow = Readonly<Record<string, unknown>>;
const documentKey = "chroma:document";
const needed = ["collections", "segments", "embeddings", "embedding_metadata", "embeddings_queue", "max_seq_id"];
const operations = { add: 0, update: 1, upsert: 2, delete: 3 } as const;

export class ChromaTables {
  readonly #db: DatabaseSync;
  readonly #name: string;
  readonly #tables: ReadonlySet<string>;

  constructor(db: DatabaseSync, name: string) {
    this.#db = db;
    this.#name = name;
    // A foreign schema: nothing in it may call functions with side effects.
    db.exec("PRAGMA trusted_schema = OFF; PRAGMA temp_store = FILE; PRAGMA cell_size_check = ON");
    this.#tables = new Set(
      this.#all("SELECT name FROM sqlite_master WHERE type = 'table'").map(({ name: table }) => String(table)),
    );
    const missing = needed.filter((table) => !this.#tables.has(table));
    if (missing.length > 0)
      throw new PinakesError(
        "NOT_SUPPORTED",
        `${name}: is not a database of Chroma 0.4 or later (no table ${missing.join(", ")}); convert it to NDJSON.`,
      );
    db.exec(`
      CREATE TEMP TABLE pinakes_rows (place INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, document TEXT, metadata TEXT NOT NULL);
      CREATE TEMP TABLE pinakes_vectors (id TEXT PRIMARY KEY, vector BLOB NOT NULL) WITHOUT ROWID`);
  }

  collections(): ChromaCollection[] {
    return this.#all("SELECT * FROM collections").map((row) => {
      const id = String(row["id"]);
      const segments = this.#all("SELECT id, scope FROM segments WHERE collection = ?", id);
      const segment = (scope: string) => text(segments.find((found) => found["scope"] === scope)?.["id"]) ?? "";
      return {
        id,
        name: String(row["name"]),
        space: this.#space(id, row),
        metadataSegment: segment("METADATA"),
        vectorSegment: segment("VECTOR"),
      };
    });
  }

  /** The position of a segment; undefined if it has not begun. */
  maxSeqId(segment: string): number | undefined {
    const [row] = this.#all("SELECT seq_id FROM max_seq_id WHERE segment_id = ?", segment);
    const seq = row?.["seq_id"];
    // Older versions store it as bytes.
    if (seq instanceof Uint8Array) return Number(BigInt(`0x${Buffer.from(seq).toString("hex") || "0"}`));
    return typeof seq === "number" ? seq : undefined;
  }

  putVectors(elements: readonly { readonly id: string; readonly vector: Uint8Array }[]): void {
    const insert = this.#db.prepare("INSERT OR REPLACE INTO pinakes_vectors VALUES (?, ?)");
    for (const { id, vector } of elements) insert.run(id, vector);
  }

  /** A generator, so that the caller may yield to the event loop in between. */
  *loadRows(segment: string): Generator<void> {
    const insert = this.#db.prepare("INSERT INTO pinakes_rows VALUES (?, ?, ?, ?)");
    const read = this.#db.prepare("SELECT * FROM embedding_metadata WHERE id = ?");
    read.setReadBigInts(true);
    const lists = this.#tables.has("embedding_metadata_array")
      ? this.#db.prepare("SELECT * FROM embedding_metadata_array WHERE id = ? ORDER BY rowid")
      : undefined;
    lists?.setReadBigInts(true);
    for (const row of this.#iterate(
      "SELECT id, embedding_id FROM embeddings WHERE segment_id = ? ORDER BY id",
      segment,
    )) {
      const [place, id] = [row["id"] as number, String(row["embedding_id"])];
      const metadata: Record<string, JsonValue> = {};
      for (const entry of read.all(place)) metadata[String(entry["key"])] = this.#value(entry, id);
      for (const entry of lists?.all(place) ?? []) {
        const list = (metadata[String(entry["key"])] ??= []) as JsonValue[];
        if (Array.isArray(list)) list.push(this.#value(entry, id));
      }
      insert.run(place, id, ...splitDocument(metadata));
      yield;
    }
  }

  /** The changes of the queue beyond the segments. */
  *replay(collection: ChromaCollection, after: { readonly rows: number; readonly vectors: number }): Generator<void> {
    const sql = "SELECT * FROM embeddings_queue WHERE seq_id > ? AND substr(topic, -length(?)) = ? ORDER BY seq_id";
    for (const record of this.#iterate(sql, Math.min(after.rows, after.vectors), collection.id, collection.id)) {
      const seq = record["seq_id"] as number;
      if (!Object.values<unknown>(operations).includes(record["operation"]))
        throw new PinakesError(
          "NOT_SUPPORTED",
          `${this.#name}: the operation ${show(record["operation"])} of seq ${seq} is unknown; convert it to NDJSON.`,
        );
      if (seq > after.rows) this.#replayRow(record);
      if (seq > after.vectors) this.#replayVector(record);
      yield;
    }
  }

  *rows(): Generator<ChromaRow> {
    const sql =
      "SELECT r.id, r.document, r.metadata, v.vector FROM pinakes_rows r LEFT JOIN pinakes_vectors v ON v.id = r.id ORDER BY r.place";
    yield* this.#iterate(sql) as Iterable<unknown> as Iterable<ChromaRow>;
  }

  /** An add of an existing row, and an update of an absent one, are ignored; an upsert of an existing row merges its metadata. */
  #replayRow(record: TableRow): void {
    const id = String(record["id"]);
    const [there] = this.#all("SELECT document, metadata FROM pinakes_rows WHERE id = ?", id);
    const { operation } = record;
    if (operation === operations.delete) this.#run("DELETE FROM pinakes_rows WHERE id = ?", id);
    else if (there === undefined ? operation === operations.update : operation === operations.add) return;
    else {
      const changes = JSON.parse(text(record["metadata"]) ?? "{}") as JsonObject;
      const before: JsonObject =
        there === undefined
          ? {}
          : {
              ...(JSON.parse(String(there["metadata"])) as JsonObject),
              [documentKey]: there["document"] as string | null,
            };
      const all: JsonObject = { ...before, ...changes };
      const merged = Object.fromEntries(
        Object.entries(all).filter(([, value]) => value !== null && value !== undefined),
      );
      const [document, metadata] = splitDocument(merged);
      this.#run(
        "INSERT INTO pinakes_rows (id, document, metadata) VALUES (?, ?, ?) ON CONFLICT (id) DO UPDATE SET document = excluded.document, metadata = excluded.metadata",
        id,
        document,
        metadata,
      );
    }
  }

  #replayVector(record: TableRow): void {
    const { operation } = record;
    const id = String(record["id"]);
    if (operation === operations.delete) this.#run("DELETE FROM pinakes_vectors WHERE id = ?", id);
    const { vector } = record;
    if (operation === operations.delete || !(vector instanceof Uint8Array)) return;
    const floats = this.#floats(vector, String(record["encoding"]), id);
    if (operation === operations.update) this.#run("UPDATE pinakes_vectors SET vector = ? WHERE id = ?", floats, id);
    else
      this.#run(
        `INSERT OR ${operation === operations.add ? "IGNORE" : "REPLACE"} INTO pinakes_vectors VALUES (?, ?)`,
        id,
        floats,
      );
  }

  #floats(vector: Uint8Array, encoding: string, id: string): Uint8Array {
    if (encoding === "FLOAT32") return vector;
    if (encoding !== "INT32" || vector.byteLength % 4 !== 0)
      throw new PinakesError(
        "NOT_SUPPORTED",
        `${this.#name} row ${show(id)}: the vector encoding ${encoding} is unknown; convert it to NDJSON.`,
      );
    return new Uint8Array(Float32Array.from(new Int32Array(vector.slice().buffer)).buffer);
  }

  #value(entry: TableRow, id: string): JsonValue {
    const { string_value: string, int_value: whole, float_value: float, bool_value: flag } = entry;
    if (typeof string === "string") return string;
    if (flag !== null && flag !== undefined) return Number(flag) !== 0;
    if (typeof float === "number") return float;
    if (typeof whole !== "bigint") return null;
    if (BigInt.asIntN(54, whole) === whole) return Number(whole);
    throw invalid(
      `${this.#name} row ${show(id)}: metadata ${show(entry["key"])} is ${whole}, beyond the safe integers; make it a string.`,
    );
  }

  /** Each version stores it elsewhere. Without any it is Chroma's default. */
  #space(id: string, row: TableRow): string {
    const [older] = this.#all(
      "SELECT str_value FROM collection_metadata WHERE collection_id = ? AND key = 'hnsw:space'",
      id,
    );
    const config = parsed(row["config_json_str"]);
    const schema = parsed(row["schema_str"]);
    const found =
      text(older?.["str_value"]) ??
      text(at(schema, "keys", "#embedding", "float_list", "vector_index", "config", "space")) ??
      text(at(config, "vector_index", "hnsw", "space")) ??
      text(at(config, "hnsw_configuration", "space"));
    const silent = schema === undefined && (config === undefined || Object.keys(config).length === 0);
    return found ?? (silent ? "l2" : "not where known versions have it");
  }

  #all(sql: string, ...values: SQLInputValue[]): TableRow[] {
    return this.#db.prepare(sql).all(...values);
  }

  #iterate(sql: string, ...values: SQLInputValue[]): Iterable<TableRow> {
    return this.#db.prepare(sql).iterate(...values);
  }

  #run(sql: string, ...values: SQLInputValue[]): void {
    this.#db.prepare(sql).run(...values);
  }
}

function parsed(json: unknown): JsonObject | undefined {
  const value: unknown = typeof json === "string" ? JSON.parse(json) : undefined;
  return isJsonObject(value) ? value : undefined;
}

function at(value: JsonValue | undefined, ...path: string[]): JsonValue | undefined {
  return path.reduce<JsonValue | undefined>((inner, key) => (isJsonObject(inner) ? inner[key] : undefined), value);
}

function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function splitDocument({ [documentKey]: document, ...metadata }: JsonObject): [string | null, string] {
  return [typeof document === "string" ? document : null, JSON.stringify(metadata)];
}
