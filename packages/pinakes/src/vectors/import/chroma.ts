/** A Chroma directory that was copied to this machine, read as rows to put. See chroma-tables.ts for the tables. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setImmediate as nextTurn } from "node:timers/promises";
import { PinakesError, invalid, show } from "../../domain/errors.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { Metric } from "../row.ts";
import { ChromaTables, type ChromaCollection } from "./chroma-tables.ts";
import type { ForeignRow } from "./foreign-row.ts";
import { openHnswIndex } from "./hnsw-files.ts";

export const chromaFile = "chroma.sqlite3";

export interface ChromaChoice {
  /** The name of the collection inside Chroma. */
  readonly collection?: string | undefined;
  /** Used if there are several and none was named. */
  readonly preferred: string;
}

const metrics: Readonly<Record<string, Metric>> = { l2: "l2", cosine: "cosine", ip: "dot" };
const rowsPerTurn = 500;

export class ChromaDirectory implements Disposable {
  readonly #folder: string;
  readonly #name: string;
  readonly #db: DatabaseSync;
  readonly #tables: ChromaTables;
  readonly #collection: ChromaCollection;
  #loaded: Promise<void> | undefined;

  /** `name` is the name of the folder in messages. */
  constructor(folder: string, name: string, choice: ChromaChoice) {
    this.#folder = folder;
    this.#name = name;
    const file = `${name}${chromaFile}`;
    this.#db = new DatabaseSync(join(folder, chromaFile));
    try {
      [this.#tables, this.#collection] = told(file, () => {
        const tables = new ChromaTables(this.#db, file);
        return [tables, choose(tables.collections(), choice, file)] as const;
      });
    } catch (error) {
      this.#db.close();
      throw error;
    }
  }

  /** For a new collection. */
  metric(): Metric {
    const metric = metrics[this.#collection.space];
    if (metric !== undefined) return metric;
    throw new PinakesError(
      "NOT_SUPPORTED",
      `${this.#name}${chromaFile}: its metric (${this.#collection.space}) is not supported; specify the metric of the new collection.`,
    );
  }

  /** The same rows in the same order every time. */
  async *rows(): AsyncGenerator<ForeignRow> {
    this.#loaded ??= this.#load();
    await this.#loaded;
    const file = `${this.#name}${chromaFile}`;
    const rows = this.#tables.rows();
    let count = 0;
    for (let next = told(file, () => rows.next()); next.done !== true; next = told(file, () => rows.next())) {
      // The reader must not block the event loop, least of all the heartbeat of its own lease.
      if ((count += 1) % rowsPerTurn === 0) await nextTurn();
      const { id, document, metadata, vector } = next.value;
      const where = `${file} row ${show(id)}`;
      if (vector === null) throw this.#noVector(where);
      if (vector.byteLength % 4 !== 0)
        throw new PinakesError(
          "CORRUPT",
          `${where}: its vector has ${vector.byteLength} bytes, which is not a list of numbers.`,
        );
      const floats = new Float32Array(vector.slice().buffer);
      const text = document === null ? {} : { text: document };
      yield { op: "put", row: { id, vector: floats, ...text, metadata: JSON.parse(metadata) as JsonObject }, where };
    }
  }

  [Symbol.dispose](): void {
    this.#db.close();
  }

  async #load(): Promise<void> {
    const { vectorSegment, metadataSegment } = this.#collection;
    const file = `${this.#name}${chromaFile}`;
    this.#db.exec("BEGIN");
    const vectors = await this.#loadIndex(vectorSegment);
    await inTurns(file, this.#tables.loadRows(metadataSegment));
    const rows = this.#tables.maxSeqId(metadataSegment) ?? 0;
    await inTurns(file, this.#tables.replay(this.#collection, { rows, vectors }));
    this.#db.exec("COMMIT");
  }

  /** Up to which seq its files have the vectors: 0 if Chroma has not written any. */
  async #loadIndex(segment: string): Promise<number> {
    const place = [segment, `index/${segment}`].find(
      (path) => segment !== "" && existsSync(join(this.#folder, path, "index_metadata.pickle")),
    );
    if (place === undefined) return 0;
    const { maxSeqId, elements } = await openHnswIndex(join(this.#folder, place), `${this.#name}${place}`);
    let some: { id: string; vector: Uint8Array }[] = [];
    for await (const element of elements) {
      some.push(element);
      if (some.length < rowsPerTurn) continue;
      this.#tables.putVectors(some);
      some = [];
    }
    this.#tables.putVectors(some);
    return this.#tables.maxSeqId(segment) ?? maxSeqId ?? 0;
  }

  #noVector(where: string): PinakesError {
    const folder = `${this.#name}${this.#collection.vectorSegment}/`;
    return new PinakesError(
      "CORRUPT",
      `${where}: its vector is neither in the queue of the database nor in ${folder}. Upload the whole directory, with that folder, or convert it to NDJSON.`,
    );
  }
}

function choose(
  collections: readonly ChromaCollection[],
  { collection, preferred }: ChromaChoice,
  file: string,
): ChromaCollection {
  const names = collections.map(({ name }) => show(name)).join(", ") || "none";
  const wanted = collection ?? (collections.length === 1 ? (collections[0] as ChromaCollection).name : preferred);
  const found = collections.filter(({ name }) => name === wanted);
  if (found.length === 1) return found[0] as ChromaCollection;
  if (collection === undefined)
    throw invalid(`${file}: has several collections, or none (${names}); specify which one to read.`);
  if (found.length > 1)
    throw invalid(
      `${file}: has the collection ${show(collection)} in several databases; export the intended one to NDJSON.`,
    );
  throw new PinakesError("NOT_FOUND", `${file}: has no collection ${show(collection)}; it has ${names}.`);
}

async function inTurns(file: string, steps: Generator<void>): Promise<void> {
  for (let step = 1; told(file, () => steps.next()).done !== true; step += 1)
    if (step % rowsPerTurn === 0) await nextTurn();
}

/** SQLite's own errors: the file is corrupt, truncated or no database at all. */
function told<T>(file: string, call: () => T): T {
  try {
    return call();
  } catch (error) {
    if (PinakesError.isInstance(error)) throw error;
    throw new PinakesError(
      "CORRUPT",
      `${file}: cannot be read as a database of Chroma: ${(error as Error).message}. Upload it again.`,
      { cause: error },
    );
  }
}
