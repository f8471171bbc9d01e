/** One collection's location in the stores: its items by name, its objects under its prefix. Stateless. */
import { PinakesError, invalid, show } from "../../domain/errors.ts";
import type { JsonObject } from "../../domain/json.ts";
import { requireScope, type Scope } from "../../domain/scope.ts";
import type { BatchResult, Operation } from "../../ports/item-store.ts";
import { vectorLimits } from "../limits.ts";
import { everyItem } from "../../containers/every-item.ts";
import { decodeManifest } from "./manifest.ts";
import type { VectorDependencies } from "./dependencies.ts";
import {
  itemIds,
  vectorsContainer,
  type Delta,
  type Fence,
  type Head,
  type HistoryEntry,
  type Lease,
  type Log,
} from "./records.ts";

const container = vectorsContainer.name;
const idPattern = new RegExp(`^[A-Za-z0-9._-]{1,${vectorLimits.collectionIdCharsMax}}$`);

export class CollectionSite {
  readonly deps: VectorDependencies;
  readonly scope: Scope;
  readonly tenant: string;
  readonly collection: string;

  constructor(deps: VectorDependencies, scope: Scope, collection: string) {
    this.tenant = requireScope(scope);
    if (typeof collection !== "string" || !idPattern.test(collection) || /^\.+$/.test(collection))
      throw invalid(
        `A collection's id is 1–${vectorLimits.collectionIdCharsMax} letters, digits, ".", "_" or "-"; got ${show(collection)}.`,
      );
    this.deps = deps;
    this.scope = scope;
    this.collection = collection;
  }

  /** The key of per-collection state in a process. */
  get name(): string {
    return `${this.tenant}/${this.collection}`;
  }

  get prefix(): string {
    return `vectors/${this.collection}/`;
  }

  /** What was imported from producers without our API (import/ledger.ts). */
  get intakePrefix(): string {
    return `vector-intake/${this.collection}/`;
  }

  newKey(folder: "deltas" | "segments" | "deletions", extension: "seg" | "del"): string {
    return `${this.prefix}${folder}/${this.deps.uniqueName()}.${extension}`;
  }

  manifestKey(version: number, commitId: string): string {
    return `${this.prefix}manifests/${String(version).padStart(16, "0")}-${commitId}.json`;
  }

  get mirrorKey(): string {
    return `${this.prefix}HEAD.json`;
  }

  async read<Document>(id: string): Promise<Document | undefined> {
    const item = await this.deps.items.read(this.scope, container, { partition: [this.collection], id });
    return item === undefined ? undefined : this.#known<Document>(id, item.document);
  }

  /** The three small items that every read and write begins with. */
  async state(): Promise<{ fence: Fence; head: Head; log: Log }> {
    const keys = [itemIds.fence, itemIds.head, itemIds.log].map((id) => ({ partition: [this.collection], id }));
    const [fence, head, log] = await this.deps.items.readMany(this.scope, container, keys);
    if (fence === undefined) throw this.notFound();
    const { status } = this.#known<Fence>("fence", fence.document);
    if (status !== "active" && status !== "diverged") throw this.notFound();
    if (head === undefined || log === undefined) {
      // The three are not one snapshot: a purge may have removed the rest after the fence was read.
      const again = await this.fence();
      if (again?.status !== "active" && again?.status !== "diverged") throw this.notFound();
      throw new PinakesError(
        "CORRUPT",
        `The vectors of ${show(this.collection)} have lost their head or log; repair them from the bucket.`,
      );
    }
    return {
      fence: this.#known<Fence>("fence", fence.document),
      head: this.#known<Head>("head", head.document),
      log: this.#known<Log>("log", log.document),
    };
  }

  async fence(): Promise<Fence | undefined> {
    return this.read<Fence>(itemIds.fence);
  }

  async lease(): Promise<Lease> {
    const lease = await this.read<Lease>(itemIds.lease);
    if (lease === undefined) throw this.notFound();
    return lease;
  }

  async history(version: number): Promise<HistoryEntry | undefined> {
    const entry = await this.read<{ text: string; key: string; sha256: string; committedAt: number }>(
      itemIds.history(version),
    );
    return entry === undefined ? undefined : historyEntry(entry);
  }

  /** Everything under a prefix of ids, in order. */
  async *all<Document>(prefix: string, from?: string): AsyncGenerator<Document & { readonly id: string }> {
    const range = from === undefined ? { prefix } : { gte: from, lt: `${prefix}~` };
    for await (const { id, document } of everyItem(this.deps.items, this.scope, container, {
      equals: { collection: this.collection },
      range,
      limit: 200,
    }))
      yield this.#known<Document & { readonly id: string }>(id, document);
  }

  /** Log entries with a seq ≥ `from`. */
  async deltas(from: number, max: number): Promise<Delta[]> {
    const deltas: Delta[] = [];
    for await (const delta of this.all<Delta>("delta.", itemIds.delta(from))) {
      deltas.push(delta);
      if (deltas.length >= max) break;
    }
    return deltas;
  }

  async *histories(): AsyncGenerator<HistoryEntry> {
    for await (const entry of this.all<{ text: string; key: string; sha256: string; committedAt: number }>("history."))
      yield historyEntry(entry);
  }

  async batch(operations: readonly Operation[]): Promise<BatchResult> {
    return this.deps.items.batch(this.scope, container, [this.collection], operations);
  }

  document(id: string, fields: object): JsonObject {
    // Fields that were read from another item include its id.
    return { ...fields, id, collection: this.collection, v: 1 };
  }

  async getObject(key: string): Promise<Uint8Array> {
    const bytes = await this.deps.objects.get(this.scope, key);
    if (bytes === undefined) throw new MissingObject(key);
    return bytes;
  }

  notFound(): PinakesError {
    return new PinakesError("NOT_FOUND", `There are no vectors for collection ${show(this.collection)}.`);
  }

  #known<Document>(id: string, document: JsonObject): Document {
    if (document["v"] !== 1)
      throw new PinakesError(
        "CORRUPT",
        `The record "${id}" of collection ${show(this.collection)} has version ${show(document["v"])}; this program reads 1.`,
      );
    return document as unknown as Document;
  }
}

/** The manifest is stored as text, so that its hash can be checked. */
export function historyDocument(entry: HistoryEntry, text: string): object {
  return { key: entry.key, sha256: entry.sha256, committedAt: entry.committedAt, text };
}

function historyEntry({
  text,
  key,
  sha256,
  committedAt,
}: {
  text: string;
  key: string;
  sha256: string;
  committedAt: number;
}): HistoryEntry {
  return { manifest: decodeManifest(Buffer.from(text, "utf8"), key, sha256), key, sha256, committedAt };
}

/** A referenced object is missing: either the reader's view is stale, or it was lost. */
export class MissingObject extends PinakesError {
  readonly key: string;

  constructor(key: string) {
    super("CORRUPT", `The object ${key} is missing. Run fsck on its collection.`);
    this.key = key;
  }
}
