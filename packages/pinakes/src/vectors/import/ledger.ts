/**
 * What was imported, one small object for each key of a producer: `vector-intake/<collection>/<hash of the key>.json`.
 *
 * The log of a collection knows delta ids for as long as its retention; repeating an import must be harmless for ever. So the ledger has
 * how many parts were appended, and they are not appended again. It is written after the append: a crash in between repeats one part, whose
 * delta id the log still knows. The content hash is written before the first part, so that a key stands for one content.
 */
import { createHash } from "node:crypto";
import { PinakesError } from "../../domain/errors.ts";
import { isJsonObject } from "../../domain/json.ts";
import type { Scope } from "../../domain/scope.ts";
import type { ObjectStore } from "../../ports/object-store.ts";
import type { Split } from "./parts.ts";

export interface LedgerEntry {
  readonly key: string;
  readonly fingerprint: string;
  /** The part size of the first run: later versions split the rest of a source in the same way. */
  readonly split: Split;
  readonly rows: number;
  readonly partsAppended: number;
  readonly done: boolean;
}

export class Ledger {
  readonly #objects: ObjectStore;
  readonly #scope: Scope;
  readonly #collection: string;

  constructor(objects: ObjectStore, scope: Scope, collection: string) {
    this.#objects = objects;
    this.#scope = scope;
    this.#collection = collection;
  }

  async read(key: string): Promise<LedgerEntry | undefined> {
    const place = this.#place(key);
    const bytes = await this.#objects.get(this.#scope, place);
    if (bytes === undefined) return undefined;
    const entry = decode(Buffer.from(bytes).toString("utf8"));
    if (entry?.key === key) return entry;
    throw new PinakesError(
      "CORRUPT",
      `The object ${place} is not an entry for ${key} of a known format. Restore it, or remove it to import ${key} again.`,
    );
  }

  async write(entry: LedgerEntry): Promise<void> {
    const text = JSON.stringify(entry);
    await this.#objects.put(
      this.#scope,
      this.#place(entry.key),
      Buffer.from(JSON.stringify({ format: 1, sha256: hashOf(text), entry: text }), "utf8"),
    );
  }

  /** The key in a form that is valid in a delta id. */
  static nameOf(key: string): string {
    return hashOf(key).slice(0, 32);
  }

  #place(key: string): string {
    return `vector-intake/${this.#collection}/${Ledger.nameOf(key)}.json`;
  }
}

function decode(text: string): LedgerEntry | undefined {
  try {
    const outer = JSON.parse(text) as unknown;
    if (
      !isJsonObject(outer) ||
      outer["format"] !== 1 ||
      typeof outer["entry"] !== "string" ||
      outer["sha256"] !== hashOf(outer["entry"])
    )
      return undefined;
    return JSON.parse(outer["entry"]) as LedgerEntry;
  } catch {
    return undefined;
  }
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
