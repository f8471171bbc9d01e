/**
 * Uploads (RFC 0005, "Upload"): first a record, then the bytes, then the record again. A failure in between leaves a document that says so,
 * or nothing if the upload itself was refused.
 */
import type { Caller } from "../../domain/caller.ts";
import { hasCode, PinakesError, invalid } from "../../domain/errors.ts";
import { invariant } from "../../domain/invariant.ts";
import type { Operation } from "../../ports/item-store.ts";
import type { IngestQueue } from "./ingest-queue.ts";
import { derivedKeys } from "./parsed-text.ts";
import { removal, unfinishedChunks } from "./removals.ts";
import { knowledgeLimits } from "../limits.ts";
import { seesDocument, withAccess } from "../access/document-access.ts";
import type { OpenCollection } from "../access/open-collection.ts";
import { sourceKey } from "../records/ids.ts";
import type { Stored } from "../records/catalog-records.ts";
import { itemIds, type DocumentRecord } from "../records/records.ts";
import { openRestricted, restrictedOperations } from "../records/restricted-rows.ts";
import { requireStillTaking } from "../records/taking.ts";
import { isoTime } from "../records/times.ts";
import type { KnowledgeDependencies } from "../dependencies.ts";
import { duplicateOf } from "./duplicate-of.ts";
import { MeasuredBody } from "./measured-body.ts";
import { noteUse } from "../collections/uses.ts";
import { CollectionPartition } from "../records/collection-partition.ts";
import {
  asBefore,
  type Started,
  duplicate,
  isUnchanged,
  leaseLeftMs,
  nameTaken,
  neverArrived,
  UploadUnderWay,
} from "./upload-state.ts";
import { type UploadInput, type UploadResult, type CheckedUpload, checkUpload, contentKey } from "./check-upload.ts";

export class Uploads {
  readonly #deps: KnowledgeDependencies;
  readonly #queue: IngestQueue;

  constructor(deps: KnowledgeDependencies, queue: IngestQueue) {
    this.#deps = deps;
    this.#queue = queue;
  }

  async upload(caller: Caller, opened: OpenCollection, input: UploadInput): Promise<UploadResult> {
    const checked = checkUpload(opened, input);
    const partition = new CollectionPartition(this.#deps.items, caller.scope, opened.collection);
    await partition.ensure();
    if (checked.accessAfter(undefined) !== undefined)
      await openRestricted(this.#deps.items, partition, opened.collection);
    await noteUse(this.#deps, caller.scope, opened.collection);
    await this.#queue.watch(partition);
    const started = await this.#begin(caller, opened, partition, checked, input);
    const result = await this.#receive(caller, opened, partition, started, checked, input);
    await requireStillTaking(this.#deps.items, caller.scope, partition.key);
    return result;
  }

  /** The record, before the first byte. */
  async #begin(
    caller: Caller,
    opened: OpenCollection,
    partition: CollectionPartition,
    checked: CheckedUpload,
    input: UploadInput,
  ): Promise<Started> {
    for (;;) {
      const known = await partition.documentOf(sourceKey(checked.source.uri));
      if (known !== undefined && !seesDocument(caller, opened.decision, known.record)) throw nameTaken(checked.name);
      if (known !== undefined && input.replace !== true && !neverArrived(known.record)) {
        const leftMs = leaseLeftMs(known.record, this.#deps.clock.now());
        if (leftMs === undefined) throw duplicate(known.record);
        // The uploading process died, and only a retry comes: take over the upload.
        if (leftMs > 0) throw new UploadUnderWay(known.record, leftMs);
      }
      if (known !== undefined && opened.decision.level === "WRITE" && known.record.uploaded_by !== caller.userId)
        throw new PinakesError(
          "FORBIDDEN",
          `Document "${known.record.name}" is another user's; replacing it needs ADMIN access to the collection.`,
        );
      try {
        return known === undefined
          ? await this.#create(caller, opened, partition, checked, input)
          : await this.#replace(caller, partition, checked, known, input);
      } catch (error) {
        // A concurrent upload of the same name: read again.
        const raced =
          PinakesError.isInstance(error) &&
          (error.code === "PRECONDITION_FAILED" || (error.code === "CONFLICT" && error.context.batch?.index === 1));
        if (!raced) throw error;
      }
    }
  }

  async #create(
    caller: Caller,
    { repository, collection }: OpenCollection,
    partition: CollectionPartition,
    checked: CheckedUpload,
    input: UploadInput,
  ): Promise<Started> {
    const { documentsPerCatalogMax, documentsPerCollectionMax } = this.#deps.quotas;
    const countMax = repository.owner === null ? documentsPerCollectionMax : documentsPerCatalogMax;
    const now = this.#deps.clock.now();
    const record: DocumentRecord = {
      kind: "document",
      document_id: this.#deps.newId(),
      collection_id: collection.collection_id,
      repository_id: repository.repository_id,
      incarnation: collection.incarnation,
      source_key: sourceKey(checked.source.uri),
      live: null,
      versions: [],
      indexed_at: null,
      size_bytes: 0,
      run: 0,
      version: 0,
      ...this.#fresh(caller, checked, input, now),
    };
    const next = withAccess({ ...record, version: 1, run: 1 }, checked.accessAfter(undefined));
    const operations: Operation[] = [
      {
        op: "create",
        document: partition.document(itemIds.source(record.source_key), {
          kind: "source",
          document_id: record.document_id,
        }),
      },
      { op: "create", document: partition.document(itemIds.document(record.document_id), next) },
      partition.move({ to: "uploading", countMax }),
      ...restrictedOperations(partition, undefined, next),
    ];
    try {
      const { results } = await partition.write(operations);
      return { record: next, etag: results[2]?.etag as string, before: undefined };
    } catch (error) {
      if (!PinakesError.isInstance(error) || error.context.batch?.index !== 3) throw error;
      throw new PinakesError(
        "LIMIT_EXCEEDED",
        `The collection already holds ${countMax} documents, the maximum. Delete some first.`,
        { cause: error },
      );
    }
  }

  async #replace(
    caller: Caller,
    partition: CollectionPartition,
    checked: CheckedUpload,
    known: Stored<DocumentRecord>,
    input: UploadInput,
  ): Promise<Started> {
    const { record } = known;
    const now = this.#deps.clock.now();
    const next: DocumentRecord = {
      ...record,
      ...this.#fresh(caller, checked, input, now),
      version: record.version + 1,
      run: record.run + 1,
    };
    const chunks = unfinishedChunks(record, (await partition.fence())?.record.generation ?? 1);
    // Bytes of an upload that was overtaken before it committed.
    const object_keys =
      record.status === "uploading" ? [contentKey(partition, record.document_id, record.version)] : [];
    const { results } = await partition.write([
      { op: "replace", document: partition.document(itemIds.document(record.document_id), next), ifMatch: known.etag },
      partition.move({ from: record.status, to: "uploading" }),
      ...restrictedOperations(partition, record, next),
      ...(chunks.length + object_keys.length === 0
        ? []
        : [removal(partition, record, "overtaken", { chunks, object_keys, now })]),
    ]);
    return { record: next, etag: results[1]?.etag as string, before: record };
  }

  #fresh(caller: Caller, checked: CheckedUpload, input: UploadInput, now: number) {
    return {
      name: checked.name,
      file_type: checked.fileType,
      metadata: checked.metadata,
      source: checked.source,
      chunking_override: checked.override,
      status: "uploading" as const,
      error: null,
      attempts: 0,
      progress: null,
      uploaded_at: isoTime(now),
      uploaded_by: caller.userId,
      job_id: input.job_id ?? null,
      touched_at: now,
    };
  }

  /** The bytes, then the record that makes them part of the document. */
  async #receive(
    caller: Caller,
    opened: OpenCollection,
    partition: CollectionPartition,
    started: Started,
    checked: CheckedUpload,
    input: UploadInput,
  ): Promise<UploadResult> {
    const { record } = started;
    const key = contentKey(partition, record.document_id, record.version);
    const body = new MeasuredBody(bytesOf(input.body), this.#deps.quotas.fileBytesMax, checked.name);
    let stored: Stored<DocumentRecord>;
    try {
      await this.#deps.objects.put(partition.scope, key, this.#alive(partition, started, body));
      if (body.bytes === 0) throw invalid(`"${checked.name}" is empty.`);
      if (isUnchanged(started, body.sha256)) return await this.#keep(partition, started, checked, key);
      stored = await this.#commit(partition, started, checked, body);
    } catch (error) {
      await this.#undo(partition, started, key, error);
      throw error;
    }
    await this.#queue.send(partition, stored.record);
    const duplicate_of = await duplicateOf(this.#deps.items, caller, opened, stored.record);
    return { ...stored, unchanged: false, ...(duplicate_of === undefined ? {} : { duplicate_of }) };
  }

  /**
   * A heartbeat, so that a slow upload can be told from a dead one; by a timer, since a client may pause. The last heartbeat ends before
   * the body does, so nothing else changes the record concurrently.
   */
  async *#alive(partition: CollectionPartition, started: Started, body: MeasuredBody): AsyncGenerator<Uint8Array> {
    let last = this.#deps.clock.now();
    let beating: Promise<void> = Promise.resolve();
    const beat = () => {
      last = this.#deps.clock.now();
      beating = beating.then(async () => {
        started.etag = await this.#touch(partition, started, last);
      });
      // It is rethrown at the next chunk.
      beating.catch(() => {});
    };
    const timer = setInterval(beat, uploadBeatMs);
    timer.unref();
    try {
      for await (const chunk of body) {
        if (this.#deps.clock.now() - last > uploadBeatMs) beat();
        await beating;
        yield chunk;
      }
    } finally {
      clearInterval(timer);
      await beating.catch(() => {});
    }
    await beating;
  }

  async #touch(partition: CollectionPartition, { record, etag }: Started, now: number): Promise<string> {
    const { results } = await partition.write([
      {
        op: "patch",
        id: itemIds.document(record.document_id),
        patch: [{ op: "set", path: "/touched_at", value: now }],
        ifMatch: etag,
      },
    ]);
    return results[1]?.etag as string;
  }

  async #commit(
    partition: CollectionPartition,
    { record, etag, before }: Started,
    checked: CheckedUpload,
    { sha256, bytes }: { sha256: string; bytes: number },
  ): Promise<Stored<DocumentRecord>> {
    const now = this.#deps.clock.now();
    const { version, uploaded_at, uploaded_by } = record;
    const versions = [{ version, size_bytes: bytes, sha256, uploaded_at, uploaded_by }, ...record.versions];
    const pending: DocumentRecord = {
      ...record,
      status: "pending",
      size_bytes: bytes,
      sha256,
      versions: versions.slice(0, knowledgeLimits.versionsKeptMax),
      touched_at: now,
    };
    const next = withAccess(pending, checked.accessAfter(record.access));
    const object_keys = versions
      .slice(knowledgeLimits.versionsKeptMax)
      .flatMap((old) => [
        contentKey(partition, record.document_id, old.version),
        ...derivedKeys(partition, record.document_id, old.version),
      ]);
    const { results } = await partition.write([
      { op: "replace", document: partition.document(itemIds.document(record.document_id), next), ifMatch: etag },
      partition.move({ from: "uploading", to: "pending", bytes: bytes - (before?.size_bytes ?? 0) }),
      ...restrictedOperations(partition, record, next),
      // The worker that ingests this version executes it.
      ...(object_keys.length === 0 ? [] : [removal(partition, record, "old-versions", { object_keys, now })]),
    ]);
    return { record: next, etag: results[1]?.etag as string };
  }

  /** Restores the document as it was before this upload, with the access that the upload gives it. */
  async #keep(
    partition: CollectionPartition,
    { record, etag, before }: Started,
    checked: CheckedUpload,
    key: string,
  ): Promise<UploadResult> {
    invariant(before !== undefined, "INTERNAL", "only an existing document can be unchanged");
    // The source may carry new change markers, so that a merely touched file is not read again.
    const kept: DocumentRecord = {
      ...before,
      source: record.source,
      version: record.version,
      run: record.run,
      touched_at: this.#deps.clock.now(),
    };
    const next = withAccess(kept, checked.accessAfter(before.access));
    const { results } = await partition.write([
      { op: "replace", document: partition.document(itemIds.document(record.document_id), next), ifMatch: etag },
      partition.move({ from: "uploading", to: before.status }),
      ...restrictedOperations(partition, record, next),
    ]);
    await this.#deps.objects.delete(partition.scope, [key]);
    return { record: next, etag: results[1]?.etag as string, unchanged: true };
  }

  /** Refused: as if it had never been sent. Interrupted: the document says so, and can be sent again. */
  async #undo(
    partition: CollectionPartition,
    { record, etag, before }: Started,
    key: string,
    error: unknown,
  ): Promise<void> {
    const refused = hasCode(error, "INVALID", "LIMIT_EXCEEDED");
    const id = itemIds.document(record.document_id);
    const reason = `The upload was interrupted: ${error instanceof Error ? error.message : String(error)}`;
    const touched_at = this.#deps.clock.now();
    const next: DocumentRecord =
      refused && before !== undefined
        ? asBefore(before, record, touched_at)
        : { ...record, status: "failed", error: reason, error_code: undefined, touched_at };
    const operations: Operation[] =
      refused && before === undefined
        ? [
            { op: "delete", id, ifMatch: etag },
            { op: "delete", id: itemIds.source(record.source_key) },
            partition.move({ from: "uploading" }),
            ...restrictedOperations(partition, record, undefined),
          ]
        : [
            { op: "replace", document: partition.document(id, next), ifMatch: etag },
            partition.move({ from: "uploading", to: next.status }),
            ...restrictedOperations(partition, record, next),
          ];
    try {
      await partition.clean(operations).catch(overtaken);
      await this.#dropBytes(partition, record, key);
      if (next.status === "pending") await this.#queue.send(partition, next);
    } catch (cause) {
      // The caller gets the first error; the watchdog cleans up.
      this.#deps.log(
        `upload of document ${record.document_id} could not be undone: ${cause instanceof Error ? cause.message : String(cause)}`,
      );
    }
  }

  /** Unless the commit succeeded and only its response was lost. */
  async #dropBytes(
    partition: CollectionPartition,
    { document_id, version }: DocumentRecord,
    key: string,
  ): Promise<void> {
    const found = await partition.read(document_id);
    if (found?.record.versions.some((entry) => entry.version === version) === true) return;
    await this.#deps.objects.delete(partition.scope, [key]);
  }
}

/** Interval of an upload's heartbeat, whether bytes arrive or not. */
const uploadBeatMs = 5_000;
/** Another process changed or deleted the document. */
function overtaken(error: unknown): void {
  if (!hasCode(error, "PRECONDITION_FAILED", "NOT_FOUND")) throw error;
}

async function* bytesOf(body: UploadInput["body"]): AsyncGenerator<Uint8Array> {
  if (typeof body === "string") yield Buffer.from(body, "utf8");
  else if (body instanceof Uint8Array) yield body;
  else yield* body;
}
