/**
 * Uploads (RFC 0005, "Upload"): a record first, then the bytes, then the record again. Whatever breaks in between leaves a document
 * that says so, or nothing at all when the upload itself was refused.
 */
import type { Caller } from "../../domain/caller.ts";
import type { ChunkingStrategy } from "../../domain/chunking.ts";
import { hasCode, PinakesError, invalid, show } from "../../domain/errors.ts";
import { fileTypeOf, fileTypes, type FileType } from "../../domain/file-type.ts";
import { invariant } from "../../domain/invariant.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { Operation } from "../../ports/item-store.ts";
import { readChunkingStrategy } from "../chunking/index.ts";
import type { IngestQueue } from "./ingest-queue.ts";
import { derivedKeys } from "./parsed-text.ts";
import { removal, unfinishedChunks } from "./removals.ts";
import { knowledgeLimits } from "../limits.ts";
import { archived, type OpenCollection } from "../access/open-collection.ts";
import { sourceKey, uploadUri } from "../records/ids.ts";
import type { Stored } from "../records/catalog-records.ts";
import { checkFileName } from "../records/names.ts";
import { itemIds, type DocumentRecord, type DocumentSource, type RepositoryRecord } from "../records/records.ts";
import { requireStillTaking, requireTaking } from "../records/taking.ts";
import { isoTime } from "../records/times.ts";
import type { KnowledgeParts } from "../dependencies.ts";
import { checkDocumentMetadata } from "./document-metadata.ts";
import { MeasuredBody } from "./measured-body.ts";
import { noteUse } from "../collections/uses.ts";
import { Shelf } from "../records/collection-partition.ts";

export interface UploadInput {
  readonly name: string;
  /** Bytes as they come; bytes or a text that are here already will do. */
  readonly body: AsyncIterable<Uint8Array> | Uint8Array | string;
  readonly metadata?: unknown;
  /** Used and recorded, where the collection allows it. */
  readonly chunking_strategy?: unknown;
  /** Take the place of the document with this name (or source). Otherwise that is a CONFLICT. */
  readonly replace?: boolean | undefined;
  readonly source?: DocumentSource;
  readonly job_id?: string | undefined;
}

/** The source of a file that came from a folder: `a/x.md` and `b/x.md` are two documents. */
export function uploadedFrom(path: string | undefined): Pick<UploadInput, "source"> {
  if (path === undefined) return {};
  // A name has no "/", so this is never another's upload by name.
  if (!path.includes("/"))
    throw invalid(
      `path: must have a folder, such as a/x.md; got ${JSON.stringify(path)}. Leave it out for a file without one.`,
    );
  return { source: { type: "manual", uri: uploadUri(path) } };
}

export interface UploadResult extends Stored<DocumentRecord> {
  /** The same bytes as before, cut in the same way: nothing was done. */
  readonly unchanged: boolean;
  /** Another document of the collection with the same bytes. */
  readonly duplicate_of?: string;
}

/** What the types of files in a user's own repository are. */
const catalogTypes: readonly FileType[] = ["pdf", "docx", "txt", "md", "csv"];

export class Uploads {
  readonly #parts: KnowledgeParts;
  readonly #queue: IngestQueue;

  constructor(parts: KnowledgeParts, queue: IngestQueue) {
    this.#parts = parts;
    this.#queue = queue;
  }

  async upload(caller: Caller, opened: OpenCollection, input: UploadInput): Promise<UploadResult> {
    const checked = this.check(opened, input);
    const shelf = new Shelf(this.#parts.items, caller.scope, opened.collection);
    await shelf.ensure();
    await noteUse(this.#parts, caller.scope, opened.collection);
    await this.#queue.watch(shelf);
    const begun = await this.#begin(caller, opened, shelf, checked, input);
    const result = await this.#receive(shelf, begun, checked, input);
    await requireStillTaking(this.#parts.items, caller.scope, shelf.place);
    return result;
  }

  /** All that can be known before the first byte. */
  check({ repository, collection }: OpenCollection, input: Omit<UploadInput, "body">): CheckedUpload {
    requireTaking(repository);
    if (collection.status === "ARCHIVED") throw archived(collection);
    const name = checkFileName(input.name);
    const source = input.source ?? { type: "manual", uri: uploadUri(name) };
    if (source.uri.length > knowledgeLimits.sourceCharsMax)
      throw invalid(`source: has more than ${knowledgeLimits.sourceCharsMax} characters.`);
    let override: ChunkingStrategy | null = null;
    if (input.chunking_strategy !== undefined && input.chunking_strategy !== null) {
      // What a pipeline brings is cut as its settings say, which are the collection's own.
      if (!collection.allow_chunking_override && source.type !== "auto")
        throw invalid(
          `chunking_strategy: collection "${collection.collection_id}" does not allow another one than its own (allow_chunking_override is false).`,
        );
      override = readChunkingStrategy(input.chunking_strategy, "chunking_strategy");
    }
    return {
      name,
      source,
      override,
      fileType: typeOf(name, repository),
      metadata: checkDocumentMetadata(input.metadata ?? {}),
    };
  }

  /** The record, before the first byte. */
  async #begin(
    caller: Caller,
    opened: OpenCollection,
    shelf: Shelf,
    checked: CheckedUpload,
    input: UploadInput,
  ): Promise<Begun> {
    for (;;) {
      const known = await shelf.documentOf(sourceKey(checked.source.uri));
      if (known !== undefined && input.replace !== true && !neverArrived(known.record)) {
        const leftMs = leaseLeftMs(known.record, this.#parts.clock.now());
        if (leftMs === undefined) throw duplicate(known.record);
        // Its process died, and nobody but a retry comes: the upload is taken over.
        if (leftMs > 0) throw new UploadUnderWay(known.record, leftMs);
      }
      if (known !== undefined && opened.decision.level === "WRITE" && known.record.uploaded_by !== caller.userId)
        throw new PinakesError(
          "FORBIDDEN",
          `Document "${known.record.name}" is another user's; replacing it needs ADMIN access to the collection.`,
        );
      try {
        return known === undefined
          ? await this.#create(caller, opened, shelf, checked, input)
          : await this.#replace(caller, shelf, checked, known, input);
      } catch (error) {
        // Somebody uploaded the same name at the same time: look again.
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
    shelf: Shelf,
    checked: CheckedUpload,
    input: UploadInput,
  ): Promise<Begun> {
    const { documentsPerCatalogMax, documentsPerCollectionMax } = this.#parts.quotas;
    const countMax = repository.owner === null ? documentsPerCollectionMax : documentsPerCatalogMax;
    const now = this.#parts.clock.now();
    const record: DocumentRecord = {
      kind: "document",
      document_id: this.#parts.newId(),
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
    const next = { ...record, version: 1, run: 1 };
    const operations: Operation[] = [
      {
        op: "create",
        document: shelf.document(itemIds.source(record.source_key), {
          kind: "source",
          document_id: record.document_id,
        }),
      },
      { op: "create", document: shelf.document(itemIds.document(record.document_id), next) },
      shelf.move({ to: "uploading", countMax }),
    ];
    try {
      const { results } = await shelf.write(operations);
      return { record: next, etag: results[2]?.etag as string, before: undefined };
    } catch (error) {
      if (!PinakesError.isInstance(error) || error.context.batch?.index !== 3) throw error;
      throw new PinakesError(
        "LIMIT_EXCEEDED",
        `The collection holds ${countMax} documents, which is the most. Delete some first.`,
        { cause: error },
      );
    }
  }

  async #replace(
    caller: Caller,
    shelf: Shelf,
    checked: CheckedUpload,
    known: Stored<DocumentRecord>,
    input: UploadInput,
  ): Promise<Begun> {
    const { record } = known;
    const now = this.#parts.clock.now();
    const next: DocumentRecord = {
      ...record,
      ...this.#fresh(caller, checked, input, now),
      version: record.version + 1,
      run: record.run + 1,
    };
    const chunks = unfinishedChunks(record, (await shelf.fence())?.record.generation ?? 1);
    // Bytes of an upload that was overtaken before it committed them.
    const object_keys = record.status === "uploading" ? [contentKey(shelf, record.document_id, record.version)] : [];
    const { results } = await shelf.write([
      { op: "replace", document: shelf.document(itemIds.document(record.document_id), next), ifMatch: known.etag },
      shelf.move({ from: record.status, to: "uploading" }),
      ...(chunks.length + object_keys.length === 0
        ? []
        : [removal(shelf, record, "overtaken", { chunks, object_keys, now })]),
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

  /** The bytes, then the record that says that they are here. */
  async #receive(shelf: Shelf, begun: Begun, checked: CheckedUpload, input: UploadInput): Promise<UploadResult> {
    const { record } = begun;
    const key = contentKey(shelf, record.document_id, record.version);
    const body = new MeasuredBody(bytesOf(input.body), this.#parts.quotas.fileBytesMax, checked.name);
    let stored: Stored<DocumentRecord>;
    try {
      await this.#parts.objects.put(shelf.scope, key, this.#alive(shelf, begun, body));
      if (body.bytes === 0) throw invalid(`"${checked.name}" is empty.`);
      if (isUnchanged(begun, body.sha256)) return await this.#keep(shelf, begun, key);
      stored = await this.#commit(shelf, begun, body);
    } catch (error) {
      await this.#undo(shelf, begun, key, error);
      throw error;
    }
    await this.#queue.send(shelf, stored.record);
    const duplicate_of = await this.#duplicateOf(shelf, stored.record);
    return { ...stored, unchanged: false, ...(duplicate_of === undefined ? {} : { duplicate_of }) };
  }

  /**
   * A sign of life now and then, so that a slow upload is told from a dead one; by a timer, since a client may pause. The last one is over before
   * the body is, so that nothing else changes the record behind it.
   */
  async *#alive(shelf: Shelf, begun: Begun, body: MeasuredBody): AsyncGenerator<Uint8Array> {
    let last = this.#parts.clock.now();
    let beating: Promise<void> = Promise.resolve();
    const beat = () => {
      last = this.#parts.clock.now();
      beating = beating.then(async () => {
        begun.etag = await this.#touch(shelf, begun, last);
      });
      // It is thrown where the next bytes are waited for.
      beating.catch(() => {});
    };
    const timer = setInterval(beat, uploadBeatMs);
    timer.unref();
    try {
      for await (const chunk of body) {
        if (this.#parts.clock.now() - last > uploadBeatMs) beat();
        await beating;
        yield chunk;
      }
    } finally {
      clearInterval(timer);
      await beating.catch(() => {});
    }
    await beating;
  }

  async #touch(shelf: Shelf, { record, etag }: Begun, now: number): Promise<string> {
    const { results } = await shelf.write([
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
    shelf: Shelf,
    { record, etag, before }: Begun,
    { sha256, bytes }: { sha256: string; bytes: number },
  ): Promise<Stored<DocumentRecord>> {
    const now = this.#parts.clock.now();
    const { version, uploaded_at, uploaded_by } = record;
    const versions = [{ version, size_bytes: bytes, sha256, uploaded_at, uploaded_by }, ...record.versions];
    const next: DocumentRecord = {
      ...record,
      status: "pending",
      size_bytes: bytes,
      sha256,
      versions: versions.slice(0, knowledgeLimits.versionsKeptMax),
      touched_at: now,
    };
    const object_keys = versions
      .slice(knowledgeLimits.versionsKeptMax)
      .flatMap((old) => [
        contentKey(shelf, record.document_id, old.version),
        ...derivedKeys(shelf, record.document_id, old.version),
      ]);
    const { results } = await shelf.write([
      { op: "replace", document: shelf.document(itemIds.document(record.document_id), next), ifMatch: etag },
      shelf.move({ from: "uploading", to: "pending", bytes: bytes - (before?.size_bytes ?? 0) }),
      // The worker that ingests this version carries it out.
      ...(object_keys.length === 0 ? [] : [removal(shelf, record, "old-versions", { object_keys, now })]),
    ]);
    return { record: next, etag: results[1]?.etag as string };
  }

  /** The document as it was before this upload. */
  async #keep(shelf: Shelf, { record, etag, before }: Begun, key: string): Promise<UploadResult> {
    invariant(before !== undefined, "INTERNAL", "only a document that was there can be unchanged");
    // The source may say anew how these bytes are recognised: a file that was only touched is not read again.
    const next: DocumentRecord = {
      ...before,
      source: record.source,
      version: record.version,
      run: record.run,
      touched_at: this.#parts.clock.now(),
    };
    const { results } = await shelf.write([
      { op: "replace", document: shelf.document(itemIds.document(record.document_id), next), ifMatch: etag },
      shelf.move({ from: "uploading", to: before.status }),
    ]);
    await this.#parts.objects.delete(shelf.scope, [key]);
    return { record: next, etag: results[1]?.etag as string, unchanged: true };
  }

  /** Refused: as if it had never been sent. Broken off: the document says so, and can be sent again. */
  async #undo(shelf: Shelf, { record, etag, before }: Begun, key: string, error: unknown): Promise<void> {
    const refused = hasCode(error, "INVALID", "LIMIT_EXCEEDED");
    const id = itemIds.document(record.document_id);
    const reason = `The upload broke off: ${error instanceof Error ? error.message : String(error)}`;
    const touched_at = this.#parts.clock.now();
    const next: DocumentRecord =
      refused && before !== undefined
        ? asBefore(before, record, touched_at)
        : { ...record, status: "failed", error: reason, touched_at };
    const operations: Operation[] =
      refused && before === undefined
        ? [
            { op: "delete", id, ifMatch: etag },
            { op: "delete", id: itemIds.source(record.source_key) },
            shelf.move({ from: "uploading" }),
          ]
        : [
            { op: "replace", document: shelf.document(id, next), ifMatch: etag },
            shelf.move({ from: "uploading", to: next.status }),
          ];
    try {
      await shelf.clean(operations).catch(overtaken);
      await this.#dropBytes(shelf, record, key);
      if (next.status === "pending") await this.#queue.send(shelf, next);
    } catch (cause) {
      // The caller is told the first error; the watchdog sees to what is left.
      this.#parts.log(
        `upload of document ${record.document_id} could not be undone: ${cause instanceof Error ? cause.message : String(cause)}`,
      );
    }
  }

  /** Unless the commit went through, and only its answer was lost. */
  async #dropBytes(shelf: Shelf, { document_id, version }: DocumentRecord, key: string): Promise<void> {
    const found = await shelf.read(document_id);
    if (found?.record.versions.some((entry) => entry.version === version) === true) return;
    await this.#parts.objects.delete(shelf.scope, [key]);
  }

  /** For information, so an index that is late does no harm. */
  async #duplicateOf(shelf: Shelf, record: DocumentRecord): Promise<string | undefined> {
    const { items } = await this.#parts.items.query(shelf.scope, "documents", {
      index: "bySha256",
      equals: { incarnation: record.incarnation, kind: "document", sha256: record.sha256 as string },
      limit: 2,
    });
    return items.map(({ document }) => document["document_id"] as string).find((id) => id !== record.document_id);
  }
}

/** Between two signs of life of an upload, whether bytes come or not. */
const uploadBeatMs = 5_000;
/** Without a sign of life for so long, a retry of the upload takes it over; the watchdog fails it later (`uploadDeadMs`). */
export const uploadLeaseMs = 15_000;

export interface CheckedUpload {
  readonly name: string;
  readonly source: DocumentSource;
  readonly fileType: FileType;
  readonly override: ChunkingStrategy | null;
  readonly metadata: JsonObject;
}

interface Begun {
  readonly record: DocumentRecord;
  etag: string;
  readonly before: DocumentRecord | undefined;
}

export function contentKey(shelf: Shelf, documentId: string, version: number): string {
  return `${shelf.prefix}${documentId}/${version}/content`;
}

export function typeOf(name: string, { owner }: RepositoryRecord): FileType {
  const allowed = owner === null ? fileTypes : catalogTypes;
  const found = fileTypeOf(name);
  if (found !== undefined && allowed.includes(found)) return found;
  throw invalid(`${show(name)}: files of this type are not taken; there are ${allowed.join(", ")}.`);
}

function isUnchanged({ record, before }: Begun, sha256: string): boolean {
  if (before === undefined || before.status !== "indexed" || before.sha256 !== sha256) return false;
  const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);
  return (
    same(before.metadata, record.metadata) &&
    same(before.chunking_override, record.chunking_override) &&
    before.name === record.name
  );
}

/** As it was before an upload that was refused. What was being ingested begins again: the upload has taken over its run. */
function asBefore(before: DocumentRecord, { version, run }: DocumentRecord, touched_at: number): DocumentRecord {
  const onItsWay = before.status === "pending" || before.status === "indexing";
  return {
    ...before,
    version,
    run,
    ...(onItsWay ? { status: "pending" as const, attempts: 0, progress: null, touched_at } : {}),
  };
}

/** Somebody else changed or deleted the document: it is theirs. */
function overtaken(error: unknown): void {
  if (!hasCode(error, "PRECONDITION_FAILED", "NOT_FOUND")) throw error;
}

/** What is left of the lease of a first upload that is under way; undefined where there is none. One that replaces a document needs replace=true. */
function leaseLeftMs({ status, versions, touched_at }: DocumentRecord, now: number): number | undefined {
  return status === "uploading" && versions.length === 0 ? touched_at + uploadLeaseMs - now : undefined;
}

class UploadUnderWay extends PinakesError {
  readonly retryAfterMs: number;

  constructor({ name, document_id }: DocumentRecord, retryAfterMs: number) {
    const seconds = Math.ceil(retryAfterMs / 1_000);
    const detail = `A document "${name}" is being uploaded: ${document_id}. If that upload broke off, send it again in ${seconds} s; or with replace=true.`;
    super("CONFLICT", detail, { retryable: true });
    this.retryAfterMs = retryAfterMs;
  }
}

/** An upload that broke off left nothing but its name: sending the file again is what its error asks for. */
function neverArrived({ status, versions }: DocumentRecord): boolean {
  return status === "failed" && versions.length === 0;
}

async function* bytesOf(body: UploadInput["body"]): AsyncGenerator<Uint8Array> {
  if (typeof body === "string") yield Buffer.from(body, "utf8");
  else if (body instanceof Uint8Array) yield body;
  else yield* body;
}

function duplicate({ name, document_id }: DocumentRecord): PinakesError {
  return new PinakesError(
    "CONFLICT",
    `A document "${name}" is here already (names ignore case): ${document_id}. Send it with replace=true to take its place.`,
  );
}
