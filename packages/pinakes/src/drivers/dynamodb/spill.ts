/**
 * Documents too large for an item of DynamoDB are stored in the object store; the item refers to them.
 *
 * Invariants
 * - the blob is written before the item that names it, under a key of its own that is never written again;
 * - a blob is deleted only after the commit that removed its reference: an item that can be read has its document;
 * - an unreferenced blob (of a commit that failed, a process that died) is found by `sweep`, which checks the item itself;
 * - only the database that wrote a blob deletes it: each has a folder of its own, named by its id, in an object store that several
 *   may share. What a restored copy of the tables refers to in the folder of the original is read, and left alone.
 *
 * A blob begins with a line of JSON that names its item. Its key begins with the time, so a sweep reads the oldest first.
 */
import { createHash, randomUUID } from "node:crypto";
import { PinakesError } from "../../domain/errors.ts";
import { invariant } from "../../domain/invariant.ts";
import type { SystemScope } from "../../domain/scope.ts";
import type { StoredItem, StoredKey } from "../../items/item-engine.ts";
import type { Clock } from "../../ports/clock.ts";
import type { ObjectStore } from "../../ports/object-store.ts";
import type { Attributes, Dynamo } from "./client.ts";
import { decodeRow, rowKey, toStoredItem, type BlobRef } from "./rows.ts";
import { readDatabaseId } from "./meta-values.ts";
import { containerTable, metaTable } from "./schema.ts";

/** Created at the composition root, as every system scope. */
export interface SpillOptions {
  readonly store: ObjectStore;
  readonly scope: SystemScope;
}

export interface SweepResult {
  readonly examined: number;
  readonly deleted: number;
  /** Pass it as `after` to continue; absent when every blob older than the grace period was examined. */
  readonly next?: string;
}

interface BlobHeader extends StoredKey {
  readonly format: 1;
  readonly container: string;
}

const headerBytesMax = 65_536;
const sweepKeysMax = 1_000;
const resolveAttemptsMax = 10;

export class Documents {
  readonly #dynamo: Dynamo;
  readonly #prefix: string;
  readonly #clock: Clock;
  readonly #objects: SpillOptions | undefined;
  #folder: Promise<string> | undefined;

  constructor(dynamo: Dynamo, prefix: string, clock: Clock, objects: SpillOptions | undefined) {
    this.#dynamo = dynamo;
    this.#prefix = prefix;
    this.#clock = clock;
    this.#objects = objects;
  }

  get canSpill(): boolean {
    return this.#objects !== undefined;
  }

  async spill(container: string, { pk, idKey }: StoredKey, json: string): Promise<BlobRef> {
    const { store, scope } = this.#required();
    const header: BlobHeader = { format: 1, container, pk, idKey };
    const bytes = Buffer.from(`${JSON.stringify(header)}\n${json}`, "utf8");
    const key = `${await this.#ownFolder()}${String(this.#clock.now()).padStart(15, "0")}-${randomUUID()}`;
    await store.put(scope, key, bytes);
    return { key, sha256: sha256(bytes), bytes: bytes.length };
  }

  /** The item with its document, as of one moment: a missing blob means the item has changed since, so it is read again. */
  async load(table: string, item: Attributes): Promise<{ item: Attributes; stored: StoredItem } | undefined> {
    let current: Attributes | undefined = item;
    for (let attempt = 0; attempt < resolveAttemptsMax; attempt += 1) {
      const row = decodeRow(current);
      if (row.json !== undefined) return { item: current, stored: toStoredItem(row, row.json) };
      const json = await this.#text(row.blob as BlobRef);
      if (json !== undefined) return { item: current, stored: toStoredItem(row, json) };
      current = await this.#dynamo.get(table, rowKey(row));
      if (current === undefined) return undefined;
      invariant(
        current["e"]?.S !== row.etag,
        "CORRUPT",
        `The document of item "${row.idKey}" is not in the object store (key "${row.blob?.key}"). Is PINAKES_OBJECTS the same location as that of the process that wrote it?`,
      );
    }
    throw new PinakesError("UNAVAILABLE", "The item changes faster than its document can be read. Try again.");
  }

  async #text(blob: BlobRef): Promise<string | undefined> {
    const { store, scope } = this.#required();
    const bytes = await store.get(scope, blob.key);
    if (bytes === undefined) return undefined;
    invariant(
      bytes.byteLength === blob.bytes && sha256(bytes) === blob.sha256,
      "CORRUPT",
      `The object "${blob.key}" was modified: its checksum does not match.`,
    );
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    return buffer.toString("utf8", buffer.indexOf(10) + 1);
  }

  /** Best effort: what cannot be deleted now is an orphan that `sweep` finds. */
  async discard(blobs: readonly BlobRef[]): Promise<void> {
    if (blobs.length === 0 || this.#objects === undefined) return;
    const { store, scope } = this.#objects;
    try {
      const folder = await this.#ownFolder();
      const own = blobs.flatMap(({ key }) => (key.startsWith(folder) ? [key] : []));
      if (own.length > 0) await store.delete(scope, own);
    } catch {
      // The write itself succeeded.
    }
  }

  /**
   * Deletes unreferenced blobs. `graceMs` must be longer than a commit takes, or the blob of a running commit would be deleted: an hour is
   * plenty.
   */
  async sweep(graceMs: number, after?: string): Promise<SweepResult> {
    const { store, scope } = this.#required();
    const oldest = this.#clock.now() - graceMs;
    const folder = await this.#ownFolder();
    const page = await store.list(scope, folder, { limit: sweepKeysMax, after });
    let deleted = 0;
    for (const [examined, { key }] of page.keys.entries()) {
      if (Number(key.slice(folder.length).slice(0, 15)) > oldest) return { examined, deleted };
      if (await this.#referred(key)) continue;
      await store.delete(scope, [key]);
      deleted += 1;
    }
    return { examined: page.keys.length, deleted, ...(page.next === undefined ? {} : { next: page.next }) };
  }

  async #referred(key: string): Promise<boolean> {
    const { store, scope } = this.#required();
    const start = await store.get(scope, key, { range: { start: 0, end: headerBytesMax } });
    if (start === undefined) return false;
    const text = Buffer.from(start).toString("utf8");
    const header = JSON.parse(text.slice(0, text.indexOf("\n"))) as BlobHeader;
    invariant(header.format === 1, "CORRUPT", `The object "${key}" is not a document of this store.`);
    const item = await this.#dynamo.get(containerTable(this.#prefix, header.container), rowKey(header));
    return item !== undefined && decodeRow(item).blob?.key === key;
  }

  /** Loaded by the first document that needs it. */
  #ownFolder(): Promise<string> {
    if (this.#folder === undefined) {
      const folder = readDatabaseId(this.#dynamo, metaTable(this.#prefix)).then((id) => `spill/${this.#prefix}.${id}/`);
      this.#folder = folder;
      folder.catch(() => (this.#folder = undefined));
    }
    return this.#folder;
  }

  #required(): SpillOptions {
    if (this.#objects !== undefined) return this.#objects;
    throw new PinakesError(
      "INTERNAL",
      "A document is in the object store, but this item store was opened without one. Open it with `objects`.",
    );
  }
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
