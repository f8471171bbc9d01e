/** A user's files: created, listed, read, deleted, and removed when their time is over. */
import { requireCaller, type Caller } from "../../domain/caller.ts";
import { hasCode, invalid, show } from "../../domain/errors.ts";
import { invariant } from "../../domain/invariant.ts";
import type { Scope } from "../../domain/scope.ts";
import { ifMissing } from "../../runtime/expected-errors.ts";
import { notFound } from "../access/access.ts";
import type { KnowledgeDependencies } from "../dependencies.ts";
import type { Documents } from "../documents/documents.ts";
import { MeasuredBody } from "../documents/measured-body.ts";
import { removeLeftovers } from "../documents/removals.ts";
import { CollectionPartition } from "../records/collection-partition.ts";
import { sourceKey } from "../records/ids.ts";
import { checkFileName } from "../records/names.ts";
import { isoTime } from "../records/times.ts";
import type { KnowledgeWork } from "../records/work-registry.ts";
import {
  contentKey,
  filePrefix,
  filePurposes,
  fileUri,
  isFileId,
  linksOf,
  newFileId,
  objectPrefix,
  ownerOf,
  type FilePurpose,
  type FileRecord,
  type FileRecords,
  type LinkRecord,
  type UploadRecord,
} from "./file-records.ts";
import type { FileUsage } from "./file-usage.ts";
import { fileLimits } from "./limits.ts";

export interface NewFile {
  readonly filename: string;
  readonly body: AsyncIterable<Uint8Array>;
  /** Asked for after the bytes: in a form, fields may follow the file. */
  readonly settings: () => Promise<FileSettings>;
}

export interface FileSettings {
  readonly purpose: FilePurpose;
  /** After it was created. */
  readonly expires_after_seconds?: number | undefined;
}

export interface FileQuery {
  readonly purpose?: FilePurpose | undefined;
  readonly order?: "asc" | "desc" | undefined;
  readonly limit?: number | undefined;
  /** The id of a file: those behind it in the order. */
  readonly after?: string | undefined;
}

export interface FilePage {
  readonly items: readonly FileRecord[];
  readonly more: boolean;
}

export interface FilesDependencies {
  readonly deps: KnowledgeDependencies;
  readonly registry: KnowledgeWork;
  readonly records: FileRecords;
  readonly usage: FileUsage;
  readonly documents: Documents;
}

export class Files {
  readonly #deps: KnowledgeDependencies;
  readonly #registry: KnowledgeWork;
  readonly #records: FileRecords;
  readonly #usage: FileUsage;
  readonly #documents: Documents;

  constructor({ deps, registry, records, usage, documents }: FilesDependencies) {
    this.#deps = deps;
    this.#registry = registry;
    this.#records = records;
    this.#usage = usage;
    this.#documents = documents;
  }

  /** `upload`: one that became this file, whose place in the user's quota it takes. */
  async create(caller: Caller, input: NewFile, upload?: UploadRecord): Promise<FileRecord> {
    const scope = requireCaller(caller);
    const filename = checkFileName(input.filename, "filename");
    const id = newFileId(this.#deps.newId());
    const owner = ownerOf(caller.userId);
    if (upload === undefined) await this.#usage.requireRoom(scope, owner, 0);
    await this.#watch(scope, owner, id, this.#deps.clock.now() + fileLimits.unfinishedMsMax);
    const body = new MeasuredBody(input.body, fileLimits.bytesMax, filename);
    await this.#deps.objects.put(scope, contentKey({ owner, id }), body);
    const { purpose, expires_after_seconds } = await this.#settings(scope, owner, id, input.settings);
    const now = this.#deps.clock.now();
    const expires = expires_after_seconds === undefined ? undefined : now + expires_after_seconds * 1_000;
    if (expires !== undefined) await this.#watch(scope, owner, id, expires);
    const document = {
      id,
      owner,
      kind: "file" as const,
      filename,
      purpose,
      bytes: body.bytes,
      sha256: body.sha256,
      created_by: caller.userId,
      created_at: isoTime(now),
      ...(expires === undefined ? {} : { expires_at: isoTime(expires) }),
    };
    try {
      await this.#usage.add(
        scope,
        owner,
        { op: "create", document },
        { bytes: body.bytes, instead: upload !== undefined },
      );
    } catch (error) {
      if (hasCode(error, "LIMIT_EXCEEDED")) await this.removeObjects(scope, objectPrefix(owner, id));
      throw error;
    }
    const record = await this.#read(scope, owner, id);
    invariant(record !== undefined, "INTERNAL", "what was created is a file");
    return record;
  }

  /** Where they are wrong, the bytes go at once. */
  async #settings(scope: Scope, owner: string, id: string, read: NewFile["settings"]): Promise<FileSettings> {
    try {
      const settings = await read();
      checkPurpose(settings.purpose);
      checkFileExpiry(settings.expires_after_seconds);
      return settings;
    } catch (error) {
      await this.removeObjects(scope, objectPrefix(owner, id));
      throw error;
    }
  }

  async get(caller: Caller, fileId: string): Promise<FileRecord> {
    const scope = requireCaller(caller);
    const found = isFileId(fileId) ? await this.#read(scope, ownerOf(caller.userId), fileId) : undefined;
    if (found === undefined || !this.#isThere(found)) throw notFound(`file ${show(fileId)}`);
    return found;
  }

  /** Newest first, unless asked otherwise. */
  async list(caller: Caller, query: FileQuery = {}): Promise<FilePage> {
    const scope = requireCaller(caller);
    const { order = "desc", after, purpose, limit = fileLimits.pageItemsMax } = query;
    if (!Number.isInteger(limit) || limit < 1 || limit > fileLimits.pageItemsMax)
      throw invalid(`limit: must be a whole number from 1 to ${fileLimits.pageItemsMax}, got ${show(limit)}.`);
    if (after !== undefined && !isFileId(after)) throw invalid(`after: must be the id of a file, got ${show(after)}.`);
    const items: FileRecord[] = [];
    const forwards = order === "asc" && after !== undefined;
    const range = {
      ...(forwards ? { gt: after } : { gte: filePrefix }),
      lt: order === "desc" && after !== undefined ? after : behindFiles,
    };
    for (let cursor: string | undefined; ;) {
      const page = await this.#records.list(
        scope,
        { owner: ownerOf(caller.userId) },
        {
          range,
          order,
          limit: Math.min(fileLimits.itemsPerRead, limit + 1 - items.length),
          cursor,
        },
      );
      for (const record of page.items)
        if (record.kind === "file" && this.#isThere(record) && (purpose ?? record.purpose) === record.purpose)
          items.push(record);
      cursor = page.cursor;
      if (cursor === undefined || items.length > limit) break;
    }
    return { items: items.slice(0, limit), more: items.length > limit };
  }

  async content(caller: Caller, fileId: string): Promise<{ file: FileRecord; body: AsyncIterable<Uint8Array> }> {
    const file = await this.get(caller, fileId);
    const body = await this.#deps.objects.stream(caller.scope, contentKey(file));
    if (body === undefined) throw notFound(`content of file ${show(fileId)}`);
    return { file, body };
  }

  /** With the documents that were made of it in collections. */
  async delete(caller: Caller, fileId: string): Promise<void> {
    const file = await this.get(caller, fileId);
    await this.#end(caller.scope, file);
  }

  /** Notes, before the document is made, that a file is attached to a collection. */
  async link(
    scope: Scope,
    { owner, id }: FileRecord,
    key: Pick<LinkRecord, "repository_id" | "collection_id" | "incarnation">,
  ): Promise<void> {
    const { repository_id, collection_id, incarnation } = key;
    await this.#records.upsert(scope, {
      id: `${linksOf(id)}${incarnation}`,
      owner,
      kind: "link",
      repository_id,
      collection_id,
      incarnation,
    });
    // Deleted meanwhile: the delete may have read the links before this one was written.
    const now = await this.#read(scope, owner, id);
    if (now === undefined || !this.#isThere(now)) throw notFound(`file "${id}"`);
  }

  /** A file that the registry of work names: removed where its record was never written, where it is deleted, and when its time is over. */
  async sweep(scope: Scope, owner: string, id: string): Promise<{ readonly dueAt: number } | undefined> {
    const record = await this.#read(scope, owner, id);
    if (record === undefined) await this.removeObjects(scope, objectPrefix(owner, id));
    else if (record.deleted === true || !this.#isThere(record)) await this.#end(scope, record);
    else if (record.expires_at !== undefined) return { dueAt: Date.parse(record.expires_at) };
    return undefined;
  }

  async removeObjects(scope: Scope, prefix: string): Promise<void> {
    for (;;) {
      const { keys, next } = await this.#deps.objects.list(scope, prefix, { limit: fileLimits.keysPerDelete });
      if (keys.length > 0)
        await this.#deps.objects.delete(
          scope,
          keys.map(({ key }) => key),
        );
      if (next === undefined) return;
    }
  }

  async #end(scope: Scope, file: FileRecord): Promise<void> {
    const { owner, id } = file;
    // From here on it is gone for every reader; a sweep carries on if this process dies.
    await this.#watch(scope, owner, id, this.#deps.clock.now() + fileLimits.deleteRestMs);
    const marked = await ifMissing(
      this.#records.update(scope, { owner, id }, (record) =>
        record.kind === "file" ? { ...record, deleted: true as const } : record,
      ),
    );
    if (marked === undefined) return;
    for (;;) {
      const page = await this.#records.list(scope, { owner }, { range: { prefix: linksOf(id) }, limit: 100 });
      for (const link of page.items) if (link.kind === "link") await this.#detach(scope, file, link);
      if (page.items.length === 0) break;
    }
    await this.removeObjects(scope, objectPrefix(owner, id));
    await ifMissing(this.#usage.subtract(scope, owner, { op: "delete", id }, file.bytes));
  }

  /** The document, unless it is another user's now. A collection that is archived or in the trash keeps what it has. */
  async #detach(scope: Scope, file: FileRecord, link: LinkRecord): Promise<void> {
    const partition = new CollectionPartition(this.#deps.items, scope, link);
    const found = await partition.documentOf(sourceKey(fileUri(file.id)));
    if (found?.record.uploaded_by === file.created_by && (await partition.fence())?.record.status === "ACTIVE") {
      await this.#documents.removeOld(partition, found.record.document_id, found.record.uploaded_at);
      await removeLeftovers(this.#deps, partition);
    }
    await ifMissing(this.#records.delete(scope, { owner: file.owner, id: link.id }));
  }

  async #watch({ tenant }: Scope, owner: string, id: string, dueAt: number): Promise<void> {
    await this.#registry.mark(
      { kind: "file", tenant, repository_id: owner, collection_id: "", incarnation: id },
      dueAt,
    );
  }

  async #read(scope: Scope, owner: string, id: string): Promise<FileRecord | undefined> {
    const found = await this.#records.read(scope, { owner, id });
    return found?.kind === "file" ? found : undefined;
  }

  #isThere({ deleted, expires_at }: FileRecord): boolean {
    return deleted !== true && (expires_at === undefined || Date.parse(expires_at) > this.#deps.clock.now());
  }
}

/** "." comes right after "-". */
const behindFiles = "file.";

export function checkPurpose(purpose: unknown): asserts purpose is FilePurpose {
  if (!filePurposes.some((one) => one === purpose))
    throw invalid(`purpose: must be one of ${filePurposes.join(", ")}, got ${show(purpose)}.`);
}

export function checkFileExpiry(seconds: number | undefined): void {
  const { expirySecondsMin, expirySecondsMax } = fileLimits;
  if (seconds === undefined) return;
  if (!Number.isInteger(seconds) || seconds < expirySecondsMin || seconds > expirySecondsMax)
    throw invalid(
      `expires_after.seconds: must be a whole number from ${expirySecondsMin} to ${expirySecondsMax}, got ${show(seconds)}.`,
    );
}
