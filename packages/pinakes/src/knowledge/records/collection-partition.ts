/**
 * One incarnation of a collection: its fence, its counters and its documents in one partition, so that a document and its counters change
 * in one batch, and never past the fence.
 */
import { documentStatuses } from "@pinakes/client";
import { hasCode, PinakesError } from "../../domain/errors.ts";
import { invariant } from "../../domain/invariant.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { Scope } from "../../domain/scope.ts";
import type { BatchResult, Item, ItemStore, Operation } from "../../ports/item-store.ts";
import type { Stored } from "./catalog-records.ts";
import { noteLateWrite } from "./late-writes.ts";
import {
  documentsContainer,
  itemIds,
  type AccessChangesRecord,
  type AttachmentRecord,
  type CollectionRecord,
  type DocumentRecord,
  type DocumentStatus,
  type FenceRecord,
  type RemovalRecord,
  type RestrictedRecord,
  type SourceRecord,
  type StatsRecord,
} from "./records.ts";

export type IncarnationKey = Pick<CollectionRecord, "repository_id" | "collection_id" | "incarnation">;

/** How the counters change with a document. */
export interface StatsMove {
  readonly from?: DocumentStatus;
  readonly to?: DocumentStatus;
  readonly bytes?: number;
  readonly chunks?: number;
  readonly syncedAt?: string;
  /** Only while there are fewer documents than this. */
  readonly countMax?: number;
}

export const emptyStats: StatsRecord = {
  kind: "stats",
  document_count: 0,
  total_size_bytes: 0,
  by_status: { uploading: 0, pending: 0, indexing: 0, indexed: 0, failed: 0 },
  chunk_count: 0,
  last_sync_at: null,
};

const keysPerRead = 100;
const rowsPerRead = 1_000;

export class CollectionPartition {
  readonly scope: Scope;
  readonly key: IncarnationKey;
  readonly #items: ItemStore;

  constructor(items: ItemStore, scope: Scope, { repository_id, collection_id, incarnation }: IncarnationKey) {
    this.#items = items;
    this.scope = scope;
    // Only these fields: others must not leak into documents built from it.
    this.key = { repository_id, collection_id, incarnation };
  }

  /** Prefix of its object keys. */
  get prefix(): string {
    return `knowledge/${this.key.incarnation}/`;
  }

  vectors(generation: number): string {
    return `${this.key.incarnation}.${generation}`;
  }

  /** Creates the fence and the counters before the first document. */
  async ensure(status: FenceRecord["status"] = "ACTIVE"): Promise<Stored<FenceRecord>> {
    const known = await this.fence();
    if (known !== undefined) return known;
    const fence: FenceRecord = {
      kind: "fence",
      status,
      collection_id: this.key.collection_id,
      generation: 1,
      held: true,
    };
    try {
      const { results } = await this.#batch([
        { op: "create", document: this.document(itemIds.fence, fence) },
        // An incarnation that is purged before its first document has nothing to count.
        ...(status === "PURGED" ? [] : [{ op: "create", document: this.document(itemIds.stats, emptyStats) } as const]),
      ]);
      return { record: fence, etag: results[0]?.etag as string };
    } catch (error) {
      if (!hasCode(error, "CONFLICT")) throw error;
      const created = await this.fence();
      invariant(created !== undefined, "INTERNAL", "a fence that conflicts with the create must exist");
      return created;
    }
  }

  /** Whether documents are accepted from here on. CONFLICT once the incarnation is being purged. */
  async setStatus(status: FenceRecord["status"]): Promise<void> {
    await this.ensure(status);
    // Written even if unchanged: the new etag invalidates what others have read.
    const patch = [{ op: "set" as const, path: "/status", value: status }];
    try {
      await this.clean([
        {
          op: "patch",
          id: itemIds.fence,
          patch,
          ...(status === "PURGED" ? {} : { where: { status: { ne: "PURGED" } } }),
        },
      ]);
    } catch (error) {
      if (!hasCode(error, "PRECONDITION_FAILED")) throw error;
      throw new PinakesError("CONFLICT", `Collection "${this.key.collection_id}" is being purged.`, {
        cause: error,
      });
    }
  }

  async fence(): Promise<Stored<FenceRecord> | undefined> {
    return this.#read(itemIds.fence);
  }

  async stats(): Promise<Stored<StatsRecord> | undefined> {
    return this.#read(itemIds.stats);
  }

  async accessChanges(): Promise<Stored<AccessChangesRecord> | undefined> {
    return this.#read(itemIds.access);
  }

  /** The rows of one bucket, or of all, read from the partition itself. */
  async restricted(bucket?: string): Promise<readonly RestrictedRecord[]> {
    const { repository_id, incarnation } = this.key;
    const prefix = bucket === undefined ? itemIds.restrictedPrefix : itemIds.restricted(bucket, "");
    const found: RestrictedRecord[] = [];
    for (let cursor: string | undefined; ;) {
      const page = await this.#items.query(this.scope, documentsContainer.name, {
        equals: { repository_id, incarnation },
        range: { prefix },
        limit: rowsPerRead,
        cursor,
      });
      found.push(...page.items.map(({ document }) => document as unknown as RestrictedRecord));
      cursor = page.cursor;
      if (cursor === undefined) return found;
    }
  }

  async read(documentId: string): Promise<Stored<DocumentRecord> | undefined> {
    return this.#read(itemIds.document(documentId));
  }

  /** In the order of the ids; undefined for missing ones. */
  async readMany(documentIds: readonly string[]): Promise<readonly (DocumentRecord | undefined)[]> {
    return this.#readMany(documentIds.map((id) => itemIds.document(id)));
  }

  /** In the order of the sources; undefined for those that are no document. */
  async documentsOf(sourceKeys: readonly string[]): Promise<readonly (DocumentRecord | undefined)[]> {
    const sources = await this.#readMany<SourceRecord>(sourceKeys.map((key) => itemIds.source(key)));
    const ids = sources.flatMap((source) => (source === undefined ? [] : [source.document_id]));
    const documents = (await this.readMany(ids))[Symbol.iterator]();
    return sources.map((source) => (source === undefined ? undefined : documents.next().value));
  }

  async attachments(fileIds: readonly string[]): Promise<readonly (AttachmentRecord | undefined)[]> {
    return this.#readMany(fileIds.map((id) => itemIds.attachment(id)));
  }

  async documentOf(sourceKey: string): Promise<Stored<DocumentRecord> | undefined> {
    const source = await this.#read<SourceRecord>(itemIds.source(sourceKey));
    return source === undefined ? undefined : this.read(source.record.document_id);
  }

  async removals(limit: number): Promise<readonly (Stored<RemovalRecord> & { readonly id: string })[]> {
    const { items } = await this.#items.query(this.scope, documentsContainer.name, {
      equals: { repository_id: this.key.repository_id, incarnation: this.key.incarnation },
      range: { prefix: itemIds.removalPrefix },
      limit,
    });
    return items.map(({ id, etag, document }) => ({ id, etag, record: document as unknown as RemovalRecord }));
  }

  /** Atomic, and only while the collection accepts documents (and, if given, has this generation). */
  async write(operations: readonly Operation[], generation?: number): Promise<BatchResult> {
    const where = { status: "ACTIVE", ...(generation === undefined ? {} : { generation }) };
    try {
      return await this.#batch([{ op: "check", id: itemIds.fence, where }, ...operations]);
    } catch (error) {
      if (!PinakesError.isInstance(error) || error.context.batch?.index !== 0) throw error;
      const status = (await this.fence())?.record.status;
      if (status === "DELETED" || status === "PURGED") noteLateWrite(this.#items);
      if (generation !== undefined && status === "ACTIVE")
        throw new PinakesError("UNAVAILABLE", "The collection was re-indexed concurrently; try again.", {
          cause: error,
        });
      throw new PinakesError(
        "CONFLICT",
        `Collection "${this.key.collection_id}" does not accept documents: it is archived or deleted.`,
        { cause: error },
      );
    }
  }

  /** Also on an archived or deleted collection: for changes that only remove. */
  async clean(operations: readonly Operation[]): Promise<BatchResult> {
    return this.#batch(operations);
  }

  move({ from, to, bytes = 0, chunks = 0, syncedAt, countMax }: StatsMove): Operation {
    const count = (from === undefined ? 1 : 0) - (to === undefined ? 1 : 0);
    const steps = [
      { path: "/document_count", by: count },
      { path: "/total_size_bytes", by: bytes },
      { path: "/chunk_count", by: chunks },
      ...(from === to
        ? []
        : documentStatuses.map((status) => ({
            path: `/by_status/${status}`,
            by: Number(status === to) - Number(status === from),
          }))),
    ].filter(({ by }) => by !== 0);
    return {
      op: "patch",
      id: itemIds.stats,
      patch: [
        ...steps.map(({ path, by }) => ({ op: "incr" as const, path, value: by })),
        ...(syncedAt === undefined ? [] : [{ op: "set" as const, path: "/last_sync_at", value: syncedAt }]),
        // An empty patch would be refused.
        ...(syncedAt === undefined && steps.length === 0
          ? [{ op: "incr" as const, path: "/document_count", value: 0 }]
          : []),
      ],
      ...(countMax === undefined ? {} : { where: { document_count: { lt: countMax } } }),
    };
  }

  document(id: string, record: object): JsonObject & { readonly id: string } {
    const { repository_id, incarnation } = this.key;
    return { id, repository_id, incarnation, ...(record as JsonObject) };
  }

  get #partition(): readonly [string, string] {
    return [this.key.repository_id, this.key.incarnation];
  }

  async #batch(operations: readonly Operation[]): Promise<BatchResult> {
    return this.#items.batch(this.scope, documentsContainer.name, this.#partition, operations);
  }

  async #readMany<Record>(ids: readonly string[]): Promise<readonly (Record | undefined)[]> {
    const found: (Record | undefined)[] = [];
    for (let at = 0; at < ids.length; at += keysPerRead) {
      const keys = ids.slice(at, at + keysPerRead).map((id) => ({ partition: this.#partition, id }));
      for (const item of await this.#items.readMany(this.scope, documentsContainer.name, keys))
        found.push(stored<Record>(item)?.record);
    }
    return found;
  }

  async #read<Record>(id: string): Promise<Stored<Record> | undefined> {
    return stored(await this.#items.read(this.scope, documentsContainer.name, { partition: this.#partition, id }));
  }
}

function stored<Record>(item: Item | undefined): Stored<Record> | undefined {
  if (item === undefined) return undefined;
  const { id: _, ...record } = item.document;
  return { record: record as unknown as Record, etag: item.etag };
}
