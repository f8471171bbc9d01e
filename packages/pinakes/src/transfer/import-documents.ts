/**
 * Documents of an import. Those with bytes go through the regular upload: the record, the bytes, the record again, the queue. Those without
 * become failed documents that say why; importing the same items with the bytes completes them.
 */
import { isDeepStrictEqual } from "node:util";
import type { Scope } from "../domain/scope.ts";
import { PinakesError, invalid } from "../domain/errors.ts";
import type { FileType } from "../domain/file-type.ts";
import type { JsonObject } from "../domain/json.ts";
import type { Operation } from "../ports/item-store.ts";
import { MeasuredBody } from "../knowledge/documents/measured-body.ts";
import { CollectionPartition } from "../knowledge/records/collection-partition.ts";
import { contentKey } from "../knowledge/documents/check-upload.ts";
import { noteUse } from "../knowledge/collections/uses.ts";
import type { IngestQueue } from "../knowledge/documents/ingest-queue.ts";
import { knowledgeLimits } from "../knowledge/limits.ts";
import { sourceKey } from "../knowledge/records/ids.ts";
import type { Stored } from "../knowledge/records/catalog-records.ts";
import { itemIds, type DocumentRecord } from "../knowledge/records/records.ts";
import { openRestricted, restrictedOperations } from "../knowledge/records/restricted-rows.ts";
import { requireStillTaking, requireTaking } from "../knowledge/records/taking.ts";
import type { KnowledgeDependencies } from "../knowledge/dependencies.ts";
import { importedOf } from "./give-back.ts";
import type { OpenTarget } from "./import-records.ts";
import { importPrefix } from "./lisa-documents.ts";

export interface DocumentDraft extends Pick<
  DocumentRecord,
  "document_id" | "name" | "metadata" | "source" | "chunking_override" | "uploaded_at" | "uploaded_by" | "access"
> {
  readonly file_type: FileType;
  readonly imported: JsonObject;
}

export interface DocumentToImport {
  readonly target: OpenTarget;
  readonly draft: DocumentDraft;
  /** The exported item of a record. */
  readonly exported: (record: DocumentRecord) => JsonObject;
  /** Absent: the bytes are not in the import. */
  readonly body: (() => AsyncIterable<Uint8Array>) | undefined;
}

export interface ImportedDocument {
  readonly outcome: "created" | "skipped";
  readonly withoutBytes: boolean;
  readonly sizeBytes?: number;
}

const noBytes =
  "The bytes of the document were not in the import. Import it again with them, or upload the file with replace=true.";

export class DocumentImport {
  readonly #deps: KnowledgeDependencies;
  readonly #queue: IngestQueue;
  readonly #scope: Scope;
  readonly #dryRun: boolean;

  constructor(deps: KnowledgeDependencies, queue: IngestQueue, scope: Scope, dryRun: boolean) {
    this.#deps = deps;
    this.#queue = queue;
    this.#scope = scope;
    this.#dryRun = dryRun;
  }

  async import(input: DocumentToImport): Promise<ImportedDocument> {
    const { target, draft, body } = input;
    requireTaking(target.repository);
    const partition = new CollectionPartition(this.#deps.items, this.#scope, target.collection);
    const known = await partition.read(draft.document_id);
    if (known !== undefined) this.#checkSame(known.record, input);
    const missing = known === undefined || known.record.sha256 === undefined;
    if (!missing || (known !== undefined && body === undefined)) return { outcome: "skipped", withoutBytes: false };
    if (this.#dryRun) return { outcome: "created", withoutBytes: body === undefined };
    await partition.ensure();
    if (draft.access !== undefined) await openRestricted(this.#deps.items, partition, target.collection);
    await noteUse(this.#deps, this.#scope, target.collection);
    await this.#queue.watch(partition);
    const started = known === undefined ? await this.#create(partition, input) : await this.#again(partition, known);
    const sizeBytes =
      body === undefined ? undefined : await this.#receive(partition, started, body(), known === undefined);
    await requireStillTaking(this.#deps.items, this.#scope, partition.key);
    return {
      outcome: "created",
      withoutBytes: sizeBytes === undefined,
      ...(sizeBytes === undefined ? {} : { sizeBytes }),
    };
  }

  #checkSame(record: DocumentRecord, { draft, exported, target }: DocumentToImport): void {
    const item = draft.imported["item"];
    if (isDeepStrictEqual(importedOf(record)?.item, item) || isDeepStrictEqual(exported(record), item)) return;
    const where = `collection "${target.collection.collection_id}"`;
    throw new PinakesError(
      "CONFLICT",
      `A document "${draft.document_id}" exists in ${where} with other content. Delete it first, or leave the item out.`,
    );
  }

  async #create(
    partition: CollectionPartition,
    { target, draft, body }: DocumentToImport,
  ): Promise<Stored<DocumentRecord>> {
    const { repository, collection } = target;
    const { documentsPerCatalogMax, documentsPerCollectionMax } = this.#deps.quotas;
    const countMax = repository.owner === null ? documentsPerCollectionMax : documentsPerCatalogMax;
    const source = await this.#freeSource(partition, draft);
    const status = body === undefined ? "failed" : "uploading";
    const record: DocumentRecord = {
      kind: "document",
      ...draft,
      collection_id: collection.collection_id,
      repository_id: repository.repository_id,
      incarnation: collection.incarnation,
      source,
      source_key: sourceKey(source.uri),
      status,
      error: body === undefined ? noBytes : null,
      attempts: 0,
      progress: null,
      size_bytes: 0,
      version: 1,
      run: 1,
      live: null,
      versions: [],
      indexed_at: null,
      job_id: null,
      touched_at: this.#deps.clock.now(),
    };
    const operations: Operation[] = [
      {
        op: "create",
        document: partition.document(itemIds.source(record.source_key), {
          kind: "source",
          document_id: record.document_id,
        }),
      },
      { op: "create", document: partition.document(itemIds.document(record.document_id), record) },
      partition.move({ to: status, countMax }),
      ...restrictedOperations(partition, undefined, record),
    ];
    try {
      const { results } = await partition.write(operations);
      return { record, etag: results[2]?.etag as string };
    } catch (error) {
      if (!PinakesError.isInstance(error) || error.context.batch?.index !== 3) throw error;
      throw new PinakesError(
        "LIMIT_EXCEEDED",
        `Collection "${collection.collection_id}" already holds ${countMax} documents, the maximum.`,
        { cause: error },
      );
    }
  }

  /** The layouts allow several documents of one name; the second is identified by its id alone. */
  async #freeSource(
    partition: CollectionPartition,
    { source, document_id }: DocumentDraft,
  ): Promise<DocumentRecord["source"]> {
    const fits = source.uri.length <= knowledgeLimits.sourceCharsMax;
    const existing = fits ? await partition.documentOf(sourceKey(source.uri)) : undefined;
    return fits && existing === undefined ? source : { ...source, uri: importPrefix + document_id };
  }

  /** Resumes an interrupted import, or one without bytes. */
  async #again(
    partition: CollectionPartition,
    { record, etag }: Stored<DocumentRecord>,
  ): Promise<Stored<DocumentRecord>> {
    const next: DocumentRecord = {
      ...record,
      status: "uploading",
      error: null,
      attempts: 0,
      run: record.run + 1,
      touched_at: this.#deps.clock.now(),
    };
    const { results } = await partition.write([
      { op: "replace", document: partition.document(itemIds.document(record.document_id), next), ifMatch: etag },
      partition.move({ from: record.status, to: "uploading" }),
    ]);
    return { record: next, etag: results[1]?.etag as string };
  }

  async #receive(
    partition: CollectionPartition,
    started: Stored<DocumentRecord>,
    bytes: AsyncIterable<Uint8Array>,
    isNew: boolean,
  ): Promise<number> {
    const { record, etag } = started;
    const { document_id, version, uploaded_at, uploaded_by } = record;
    const key = contentKey(partition, document_id, version);
    const body = new MeasuredBody(bytes, this.#deps.quotas.fileBytesMax, record.name);
    try {
      await this.#deps.objects.put(partition.scope, key, body);
      if (body.bytes === 0) throw invalid(`"${record.name}" is empty.`);
    } catch (error) {
      await this.#undo(partition, started, isNew, error);
      await this.#deps.objects.delete(partition.scope, [key]);
      throw error;
    }
    const { sha256, bytes: size_bytes } = body;
    const next: DocumentRecord = {
      ...record,
      status: "pending",
      size_bytes,
      sha256,
      versions: [{ version, size_bytes, sha256, uploaded_at, uploaded_by }],
      touched_at: this.#deps.clock.now(),
    };
    await partition.write([
      { op: "replace", document: partition.document(itemIds.document(document_id), next), ifMatch: etag },
      partition.move({ from: "uploading", to: "pending", bytes: size_bytes }),
    ]);
    await this.#queue.send(partition, next);
    return size_bytes;
  }

  /** Refused bytes leave no new document; an existing one has the error. */
  async #undo(
    partition: CollectionPartition,
    { record, etag }: Stored<DocumentRecord>,
    isNew: boolean,
    error: unknown,
  ): Promise<void> {
    const id = itemIds.document(record.document_id);
    const reason = error instanceof Error ? error.message : String(error);
    const failed: DocumentRecord = {
      ...record,
      status: "failed",
      error: `The import of its bytes failed: ${reason}`,
      touched_at: this.#deps.clock.now(),
    };
    await partition.clean(
      isNew
        ? [
            { op: "delete", id, ifMatch: etag },
            { op: "delete", id: itemIds.source(record.source_key) },
            partition.move({ from: "uploading" }),
            ...restrictedOperations(partition, record, undefined),
          ]
        : [
            { op: "replace", document: partition.document(id, failed), ifMatch: etag },
            partition.move({ from: "uploading", to: "failed" }),
          ],
    );
  }
}
