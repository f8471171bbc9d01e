/** Documents: read, list, delete, re-index. Uploads are in upload.ts. */
import { documentStatuses, type Chunk as Passage } from "@pinakes/client";
import type { Caller } from "../../domain/caller.ts";
import { hasCode, PinakesError, invalid, show } from "../../domain/errors.ts";
import { succeeds } from "../../runtime/expected-errors.ts";
import { visiblePage } from "../../runtime/visible-page.ts";
import type { Operation, SessionTokens } from "../../ports/item-store.ts";
import type { IngestQueue } from "./ingest-queue.ts";
import { derivedKeys, readParsedText } from "./parsed-text.ts";
import { removal, removeLeftovers, shownRanges, unfinishedChunks } from "./removals.ts";
import { chunkId } from "./passages.ts";
import { SealedCursors } from "../records/sealed-cursors.ts";
import { knowledgeLimits } from "../limits.ts";
import { notFound } from "../access/access.ts";
import { changedAccess, readAccess, seesDocument, withAccess, type AccessInput } from "../access/document-access.ts";
import { hiddenDocuments } from "../access/hidden-documents.ts";
import { visibleStats } from "../access/visible-stats.ts";
import { archived, type OpenCollection } from "../access/open-collection.ts";
import type { Stored } from "../records/catalog-records.ts";
import { checkLimit } from "../collections/list-collections.ts";
import { checkAskedId } from "../records/names.ts";
import {
  documentsContainer,
  itemIds,
  shownIn,
  type DocumentRecord,
  type DocumentStatus,
  type KeptRecord,
  type VersionInfo,
} from "../records/records.ts";
import type { ListPage, Paging } from "../records/paging.ts";
import { ruledAccess } from "../records/access-rules.ts";
import { openRestricted, restrictedOperations } from "../records/restricted-rows.ts";
import type { KnowledgeDependencies } from "../dependencies.ts";
import { checkDocumentMetadata } from "./document-metadata.ts";
import { checkTextQuery, textWindow, type TextQuery, type TextWindow } from "./document-text.ts";
import { documentTriples, type DocumentTriple } from "./document-triples.ts";
import { toIndexAnew } from "./index-anew.ts";
import { emptyStats, CollectionPartition } from "../records/collection-partition.ts";
import { contentKey } from "./check-upload.ts";

export interface DocumentQuery {
  readonly status?: DocumentStatus | undefined;
  /** Part of the name, case-sensitive. */
  readonly q?: string | undefined;
  readonly order?: "asc" | "desc" | undefined;
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
  readonly session?: SessionTokens | undefined;
}

export type { Passage };

/** Rows of one read of a list, of which some are not visible. */
const rowsPerReadMax = 1_000;

export interface Content {
  readonly document: DocumentRecord;
  readonly version: VersionInfo;
  readonly body: AsyncIterable<Uint8Array>;
}

export class Documents {
  readonly #deps: KnowledgeDependencies;
  readonly #queue: IngestQueue;
  readonly #cursors: SealedCursors;

  constructor(deps: KnowledgeDependencies, queue: IngestQueue) {
    this.#deps = deps;
    this.#queue = queue;
    this.#cursors = new SealedCursors(deps);
  }

  async get(caller: Caller, opened: OpenCollection, documentId: string): Promise<Stored<DocumentRecord>> {
    checkAskedId(documentId, "document_id");
    const found = await this.#partition(caller, opened).read(documentId);
    if (found === undefined || !seesDocument(caller, opened.decision, found.record))
      throw notFound(`document "${documentId}" in collection "${opened.collection.collection_id}"`);
    return found;
  }

  /** Newest first by default. */
  async list(
    caller: Caller,
    opened: OpenCollection,
    query: DocumentQuery,
  ): Promise<{ items: readonly Stored<DocumentRecord>[]; cursor?: string }> {
    const { status, q, order = "desc", session } = query;
    if (status !== undefined && !documentStatuses.includes(status))
      throw invalid(`status: must be one of ${documentStatuses.join(", ")}, got ${show(status)}.`);
    const { incarnation } = opened.collection;
    const limit = checkLimit(query.limit);
    const read = async (rows: number, cursor: string | undefined) => {
      const page = await this.#deps.items.query(caller.scope, documentsContainer.name, {
        ...(status === undefined
          ? { index: "byUploaded", equals: { incarnation, kind: "document" } }
          : { index: "byStatus", equals: { incarnation, kind: "document", status } }),
        order,
        limit: rows,
        cursor,
        ...(q === undefined ? {} : { filter: { name: { contains: q } } }),
        ...(session === undefined ? {} : { session }),
      });
      const found = page.items.map(({ document, etag }) => ({ record: document as unknown as DocumentRecord, etag }));
      return { rows: found, cursor: page.cursor };
    };
    const hidden = await hiddenDocuments(this.#deps, caller, opened);
    const { rows, cursor } =
      opened.collection.restricted !== true || opened.decision.level === "ADMIN"
        ? await read(limit, query.cursor)
        : await visiblePage(
            {
              read,
              // By the records themselves: an index may be behind, and names documents as they were.
              visible: async (found) =>
                found.filter(
                  ({ record }) =>
                    hidden?.values.has(record.document_id) !== true && seesDocument(caller, opened.decision, record),
                ),
              rowsMax: rowsPerReadMax,
            },
            limit,
            query.cursor,
          );
    return { items: rows, ...(cursor === undefined ? {} : { cursor }) };
  }

  /** Number of documents that `list` would return: from the counters, unless filtered by name. */
  async count(caller: Caller, opened: OpenCollection, { status, q, session }: DocumentQuery): Promise<number> {
    if (q === undefined) {
      const stats = (await visibleStats(this.#deps, caller, opened))?.record ?? emptyStats;
      return status === undefined ? stats.document_count : stats.by_status[status];
    }
    let count = 0;
    let cursor: string | undefined;
    do {
      const page = await this.list(caller, opened, { status, q, session, limit: knowledgeLimits.pageItemsMax, cursor });
      count += page.items.length;
      ({ cursor } = page);
    } while (cursor !== undefined);
    return count;
  }

  /** Without an access check, for admitted work. False if the document no longer exists or is newer than `until`. */
  async removeOld(partition: CollectionPartition, documentId: string, until: string): Promise<boolean> {
    for (;;) {
      const found = await partition.read(documentId);
      if (found === undefined || found.record.uploaded_at > until) return false;
      if (await succeeds(this.#remove(partition, found.record, found.etag), "PRECONDITION_FAILED")) return true;
    }
  }

  /**
   * One's own document with WRITE access, any with ADMIN. Invisible to every reader when this returns; its leftovers are removed right
   * after.
   */
  async delete(caller: Caller, opened: OpenCollection, documentId: string, ifMatch?: string): Promise<DocumentRecord> {
    if (opened.collection.status === "ARCHIVED") throw archived(opened.collection);
    const partition = this.#partition(caller, opened);
    await this.#queue.watch(partition);
    for (;;) {
      const { record, etag } = await this.get(caller, opened, documentId);
      requireOwn(caller, opened, record, "deleting it");
      try {
        await this.#remove(partition, record, ifMatch ?? etag);
        await removeLeftovers(this.#deps, partition);
        return record;
      } catch (error) {
        if (ifMatch !== undefined || !hasCode(error, "PRECONDITION_FAILED")) throw error;
      }
    }
  }

  async #remove(partition: CollectionPartition, record: DocumentRecord, ifMatch: string): Promise<void> {
    const { generation } = (await partition.fence())?.record ?? { generation: 1 };
    await partition.write(removingDocument(partition, record, { generation, ifMatch, now: this.#deps.clock.now() }));
  }

  /** Ingests a failed or indexed document again, with the collection's current chunking. */
  async reindex(caller: Caller, opened: OpenCollection, documentId: string): Promise<Stored<DocumentRecord>> {
    return this.#again(caller, opened, documentId, (record) => record);
  }

  /** Its own fields, all of them. Its chunks carry them, so they are made again; searches see the old ones until the new are ready. */
  async setMetadata(
    caller: Caller,
    opened: OpenCollection,
    documentId: string,
    metadata: unknown,
  ): Promise<Stored<DocumentRecord>> {
    const checked = checkDocumentMetadata(metadata);
    return this.#again(caller, opened, documentId, (record) => {
      requireOwn(caller, opened, record, "changing it");
      return withAccess({ ...record, metadata: checked }, ruledAccess(record.access, opened.collection, checked));
    });
  }

  /** Who may see it. Takes effect with the next call of every process; nothing is indexed again. */
  async setAccess(
    caller: Caller,
    opened: OpenCollection,
    documentId: string,
    input: AccessInput,
    ifMatch?: string,
  ): Promise<Stored<DocumentRecord>> {
    const change = readAccess(input, opened);
    if (change === undefined) throw invalid("Send allowed_groups, allowed_users or sensitivity.");
    if (opened.collection.status === "ARCHIVED") throw archived(opened.collection);
    const partition = this.#partition(caller, opened);
    for (;;) {
      const { record, etag } = await this.get(caller, opened, documentId);
      requireOwn(caller, opened, record, "changing its access");
      if (record.status === "uploading")
        throw new PinakesError("CONFLICT", `Document "${documentId}" is being uploaded; change its access afterwards.`);
      const changed = changedAccess(record.access, change);
      // Only who administers the collection may leave what its rules demand.
      const { decision, collection } = opened;
      const next = withAccess(
        record,
        decision.level === "ADMIN" ? changed : ruledAccess(changed, collection, record.metadata),
      );
      if (next.access !== undefined) await openRestricted(this.#deps.items, partition, opened.collection);
      try {
        const { results } = await partition.write([
          { op: "replace", document: partition.document(itemIds.document(documentId), next), ifMatch: ifMatch ?? etag },
          ...restrictedOperations(partition, record, next),
        ]);
        return { record: next, etag: results[1]?.etag as string };
      } catch (error) {
        if (ifMatch !== undefined || !hasCode(error, "PRECONDITION_FAILED")) throw error;
      }
    }
  }

  async #again(
    caller: Caller,
    opened: OpenCollection,
    documentId: string,
    change: (record: DocumentRecord) => DocumentRecord,
  ): Promise<Stored<DocumentRecord>> {
    if (opened.collection.status === "ARCHIVED") throw archived(opened.collection);
    const partition = this.#partition(caller, opened);
    await this.#queue.watch(partition);
    for (;;) {
      const { record, etag } = await this.get(caller, opened, documentId);
      if (record.sha256 === undefined || record.status === "uploading")
        throw new PinakesError(
          "CONFLICT",
          `The bytes of document "${documentId}" never arrived. Upload it again, with replace=true.`,
        );
      const chunks = unfinishedChunks(record, (await partition.fence())?.record.generation ?? 1);
      const now = this.#deps.clock.now();
      const next = toIndexAnew(change(record), now);
      if (next.access !== undefined) await openRestricted(this.#deps.items, partition, opened.collection);
      try {
        const { results } = await partition.write([
          { op: "replace", document: partition.document(itemIds.document(documentId), next), ifMatch: etag },
          ...(chunks.length === 0 ? [] : [removal(partition, record, "overtaken", { chunks, now })]),
          ...(record.status === "pending" ? [] : [partition.move({ from: record.status, to: "pending" })]),
          ...restrictedOperations(partition, record, next),
        ]);
        await this.#queue.send(partition, next);
        return { record: next, etag: results[1]?.etag as string };
      } catch (error) {
        if (!hasCode(error, "PRECONDITION_FAILED")) throw error;
      }
    }
  }

  /** The bytes as uploaded. */
  async content(caller: Caller, opened: OpenCollection, documentId: string, wanted?: number): Promise<Content> {
    const { record } = await this.get(caller, opened, documentId);
    const version =
      wanted === undefined ? record.versions[0] : record.versions.find((entry) => entry.version === wanted);
    const what =
      wanted === undefined
        ? `content of document "${documentId}" yet`
        : `version ${wanted} of document "${documentId}" any more`;
    if (version === undefined) throw notFound(what);
    const body = await this.#deps.objects.stream(
      caller.scope,
      contentKey(this.#partition(caller, opened), documentId, version.version),
    );
    if (body === undefined) throw notFound(what);
    return { document: record, version, body };
  }

  /** The chunks that searches show, in the order of the text. */
  async passages(
    caller: Caller,
    opened: OpenCollection,
    documentId: string,
    { after = -1, limit = knowledgeLimits.pageItemsDefault }: { after?: number; limit?: number },
  ): Promise<{ items: readonly Passage[]; total: number; next?: number }> {
    const { record } = await this.get(caller, opened, documentId);
    const partition = this.#partition(caller, opened);
    const shown = shownIn(record, await this.#generation(partition));
    if (shown === null) return { items: [], total: 0 };
    const { run, chunk_count, generation } = shown;
    const indexes = Array.from(
      { length: Math.max(0, Math.min(checkLimit(limit), chunk_count - after - 1)) },
      (_, i) => after + 1 + i,
    );
    const ids = indexes.map((index) => chunkId(documentId, run, index));
    const rows = ids.length === 0 ? [] : await this.#deps.vectors.get(caller.scope, partition.vectors(generation), ids);
    const items = rows.flatMap((row, i): Passage[] => {
      if (row === undefined) return [];
      const { start, end, page, section } = row.metadata as {
        start: number;
        end: number;
        page?: number;
        section?: string;
      };
      return [
        {
          chunk_id: row.id,
          index: indexes[i] as number,
          text: row.text ?? "",
          start,
          end,
          ...(page === undefined ? {} : { page }),
          ...(section === undefined ? {} : { section }),
        },
      ];
    });
    const last = indexes.at(-1);
    return { items, total: chunk_count, ...(last === undefined || last + 1 >= chunk_count ? {} : { next: last }) };
  }

  /** The text that citations refer to. */
  async text(caller: Caller, opened: OpenCollection, documentId: string, version: number): Promise<string | undefined> {
    return (await readParsedText(this.#deps.objects, this.#partition(caller, opened), documentId, version))?.text;
  }

  /** A window of that text for people, with pages and headings. */
  async textWindow(caller: Caller, opened: OpenCollection, documentId: string, query: TextQuery): Promise<TextWindow> {
    checkTextQuery(query);
    const { record } = await this.get(caller, opened, documentId);
    const partition = this.#partition(caller, opened);
    const version = query.version ?? shownIn(record, await this.#generation(partition))?.version;
    if (version === undefined) throw notFound(`text of document "${documentId}" yet: it is ${record.status}`);
    const parsed = await readParsedText(this.#deps.objects, partition, documentId, version);
    if (parsed === undefined) throw notFound(`text of version ${version} of document "${documentId}"`);
    return textWindow(documentId, version, parsed, query);
  }

  /** The triples that its chunks state. */
  async triples(
    caller: Caller,
    opened: OpenCollection,
    documentId: string,
    { limit, cursor }: Paging,
  ): Promise<ListPage<DocumentTriple>> {
    const { record } = await this.get(caller, opened, documentId);
    const shown = shownIn(record, await this.#generation(this.#partition(caller, opened)));
    const { incarnation: space } = opened.collection;
    return documentTriples(this.#deps, this.#cursors, {
      scope: caller.scope,
      space,
      record,
      shown,
      limit: checkLimit(limit),
      cursor,
    });
  }

  async #generation(partition: CollectionPartition): Promise<number> {
    return (await partition.fence())?.record.generation ?? 1;
  }

  #partition(caller: Caller, { collection }: OpenCollection): CollectionPartition {
    return new CollectionPartition(this.#deps.items, caller.scope, collection);
  }
}

/** One's own document with WRITE access, any with ADMIN. */
function requireOwn(
  { userId }: Caller,
  { decision }: OpenCollection,
  { document_id, uploaded_by }: DocumentRecord,
  action: string,
): void {
  if (decision.level === "ADMIN" || (decision.level === "WRITE" && uploaded_by === userId)) return;
  throw new PinakesError(
    "FORBIDDEN",
    `Document "${document_id}" is another user's; ${action} needs ADMIN access to the collection.`,
  );
}

/** The batch that deletes a document: its record, its source and its counts, with a removal for the rest. */
export function removingDocument(
  partition: CollectionPartition,
  record: DocumentRecord,
  { generation, ifMatch, now }: { readonly generation: number; readonly ifMatch: string; readonly now: number },
): readonly Operation[] {
  const { document_id, live, source_key, versions, version } = record;
  const numbers = [...new Set([version, ...versions.map((entry) => entry.version)])];
  const leftovers = {
    chunks: [...shownRanges(record), ...unfinishedChunks(record, generation)],
    object_keys:
      record.source.type === "existing"
        ? []
        : numbers.flatMap((number) => [
            contentKey(partition, document_id, number),
            ...derivedKeys(partition, document_id, number),
          ]),
    now,
  };
  return [
    { op: "delete", id: itemIds.document(document_id), ifMatch },
    { op: "delete", id: itemIds.source(source_key) },
    partition.move({ from: record.status, bytes: -record.size_bytes, chunks: -(live?.chunk_count ?? 0) }),
    removal(partition, record, "deleted", leftovers),
    ...(record.source.type === "existing"
      ? [{ op: "upsert", document: partition.document(itemIds.kept(document_id), kept(document_id)) } as const]
      : []),
  ];
}

function kept(document_id: string): KeptRecord {
  return { kind: "kept", document_id };
}
