/** Uploads in parts: bytes that come in several requests and become one file when all of them are here. */
import { createHash } from "node:crypto";
import { requireCaller, type Caller } from "../../domain/caller.ts";
import { PinakesError, hasCode, invalid, show } from "../../domain/errors.ts";
import type { Scope } from "../../domain/scope.ts";
import { ifMissing, succeeds } from "../../runtime/expected-errors.ts";
import { notFound } from "../access/access.ts";
import type { KnowledgeDependencies } from "../dependencies.ts";
import { MeasuredBody } from "../documents/measured-body.ts";
import { checkFileName } from "../records/names.ts";
import { isoTime } from "../records/times.ts";
import type { KnowledgeWork } from "../records/work-registry.ts";
import {
  isFileId,
  newPartId,
  newUploadId,
  objectPrefix,
  ownerOf,
  partKey,
  partsOf,
  type FilePurpose,
  type FileRecord,
  type FileRecords,
  type PartRecord,
  type UploadRecord,
} from "./file-records.ts";
import { checkFileExpiry, checkPurpose, type Files } from "./files.ts";
import type { FileUsage } from "./file-usage.ts";
import { fileLimits } from "./limits.ts";

export interface NewFileUpload {
  readonly filename: string;
  readonly purpose: FilePurpose;
  readonly bytes: number;
  readonly mime_type: string;
  /** Of the file. */
  readonly expires_after_seconds?: number | undefined;
}

export interface CompletedUpload {
  /** In the order of the bytes. */
  readonly part_ids: readonly string[];
  /** Of the whole file, in hexadecimal. */
  readonly md5?: string | undefined;
}

export interface FileUploadView extends Omit<UploadRecord, "status" | "kind" | "owner"> {
  readonly status: "pending" | "completed" | "cancelled" | "expired";
}

interface FileUploadsDependencies {
  readonly deps: KnowledgeDependencies;
  readonly registry: KnowledgeWork;
  readonly records: FileRecords;
  readonly usage: FileUsage;
  readonly files: Files;
}

export class FileUploads {
  readonly #deps: KnowledgeDependencies;
  readonly #registry: KnowledgeWork;
  readonly #records: FileRecords;
  readonly #usage: FileUsage;
  readonly #files: Files;

  constructor({ deps, registry, records, usage, files }: FileUploadsDependencies) {
    this.#deps = deps;
    this.#registry = registry;
    this.#records = records;
    this.#usage = usage;
    this.#files = files;
  }

  async create(caller: Caller, input: NewFileUpload): Promise<FileUploadView> {
    const scope = requireCaller(caller);
    const { bytes, purpose, mime_type, expires_after_seconds } = input;
    const filename = checkFileName(input.filename, "filename");
    checkPurpose(purpose);
    checkFileExpiry(expires_after_seconds);
    if (!Number.isInteger(bytes) || bytes < 1 || bytes > fileLimits.bytesMax)
      throw invalid(`bytes: must be a whole number from 1 to ${fileLimits.bytesMax}, got ${show(bytes)}.`);
    const now = this.#deps.clock.now();
    const id = newUploadId(this.#deps.newId());
    const owner = ownerOf(caller.userId);
    const expires = now + fileLimits.uploadMsMax;
    // Parts may still be on their way when it expires.
    await this.#registry.mark(
      { kind: "file", tenant: scope.tenant, repository_id: owner, collection_id: "", incarnation: id },
      expires + fileLimits.unfinishedMsMax,
    );
    const document = {
      id,
      owner,
      kind: "upload" as const,
      filename,
      purpose,
      bytes,
      mime_type,
      status: "pending" as const,
      created_by: caller.userId,
      created_at: isoTime(now),
      expires_at: isoTime(expires),
      ...(expires_after_seconds === undefined ? {} : { file_expires_seconds: expires_after_seconds }),
    };
    await this.#usage.add(scope, owner, { op: "create", document }, { bytes });
    return this.#view(await this.#pending(caller, id));
  }

  async addPart(caller: Caller, uploadId: string, body: AsyncIterable<Uint8Array>): Promise<PartRecord> {
    const upload = await this.#pending(caller, uploadId);
    const { scope } = caller;
    const { owner } = upload;
    const known = await this.#parts(scope, upload);
    if (known.length >= fileLimits.partsMax)
      throw new PinakesError("LIMIT_EXCEEDED", `An upload has at most ${fileLimits.partsMax} parts; send larger ones.`);
    const id = newPartId(this.#deps.newId());
    const measured = new MeasuredBody(body, fileLimits.partBytesMax, "data");
    await this.#deps.objects.put(scope, partKey(owner, uploadId, id), measured);
    const here = known.reduce((sum, { bytes }) => sum + bytes, measured.bytes);
    try {
      if (here > upload.bytes)
        throw invalid(`data: with this part the upload has ${here} bytes, but it was created for ${upload.bytes}.`);
      // Completed or cancelled while the bytes came.
      await this.#pending(caller, uploadId);
    } catch (error) {
      await this.#deps.objects.delete(scope, [partKey(owner, uploadId, id)]);
      throw error;
    }
    const part = await this.#records.create(scope, {
      id: `${partsOf(uploadId)}${id}`,
      owner,
      kind: "part",
      upload_id: uploadId,
      bytes: measured.bytes,
      created_at: isoTime(this.#deps.clock.now()),
    });
    return part as PartRecord;
  }

  async complete(
    caller: Caller,
    uploadId: string,
    { part_ids, md5 }: CompletedUpload,
  ): Promise<{ readonly upload: FileUploadView; readonly file: FileRecord }> {
    const upload = await this.#pending(caller, uploadId);
    const parts = inOrder(uploadId, await this.#parts(caller.scope, upload), part_ids);
    const bytes = parts.reduce((sum, part) => sum + part.bytes, 0);
    if (bytes !== upload.bytes)
      throw invalid(
        `part_ids: the parts have ${bytes} bytes together, but the upload was created for ${upload.bytes}.`,
      );
    const hash = createHash("md5");
    const input = {
      filename: upload.filename,
      body: this.#joined(caller.scope, upload, parts, (chunk) => hash.update(chunk)),
      settings: async () => {
        const made = hash.digest("hex");
        if (md5 !== undefined && md5.toLowerCase() !== made)
          throw invalid(`md5: the bytes that arrived have the checksum ${made}, not ${show(md5)}.`);
        return { purpose: upload.purpose, expires_after_seconds: upload.file_expires_seconds };
      },
    };
    const file = await this.#files.create(caller, input, upload);
    try {
      const done = await this.#settle(caller.scope, upload, { status: "completed", file_id: file.id });
      await this.#drop(caller.scope, upload);
      return { upload: done, file };
    } catch (error) {
      // Cancelled or completed by another request meanwhile: no upload refers to this file.
      await this.#files.delete(caller, file.id);
      throw error;
    }
  }

  async cancel(caller: Caller, uploadId: string): Promise<FileUploadView> {
    const upload = await this.#pending(caller, uploadId);
    const cancelled = await this.#settle(caller.scope, upload, { status: "cancelled" });
    await this.#drop(caller.scope, upload);
    return cancelled;
  }

  /** An upload that the registry of work names, when its time is over. */
  async sweep(scope: Scope, owner: string, id: string): Promise<void> {
    await this.#drop(scope, { owner, id });
    const record = await this.#records.read(scope, { owner, id });
    if (record?.kind !== "upload") return;
    const { status, bytes, _etag } = record;
    const end = { op: "delete", id, ifMatch: _etag } as const;
    if (status !== "pending") await ifMissing(this.#records.delete(scope, { owner, id }));
    else if (!(await succeeds(this.#usage.subtract(scope, owner, end, bytes), "NOT_FOUND", "PRECONDITION_FAILED")))
      await this.sweep(scope, owner, id);
  }

  /** The bytes and the records of the parts. */
  async #drop(scope: Scope, { owner, id }: Pick<UploadRecord, "owner" | "id">): Promise<void> {
    await this.#files.removeObjects(scope, objectPrefix(owner, id));
    for (;;) {
      const page = await this.#records.list(scope, { owner }, { range: { prefix: partsOf(id) }, limit: 100 });
      for (const part of page.items) await ifMissing(this.#records.delete(scope, { owner, id: part.id }));
      if (page.items.length === 0) return;
    }
  }

  /** It counts no more: its file counts in its place. */
  async #settle(
    scope: Scope,
    { _etag, _ts: _, ...upload }: UploadRecord,
    change: Pick<UploadRecord, "status" | "file_id">,
  ): Promise<FileUploadView> {
    const { owner, id, bytes } = upload;
    const replace = { op: "replace", document: { ...upload, ...change }, ifMatch: _etag } as const;
    try {
      await this.#usage.subtract(scope, owner, replace, bytes);
    } catch (error) {
      if (hasCode(error, "PRECONDITION_FAILED", "NOT_FOUND")) throw over(id, "changed");
      throw error;
    }
    const settled = await this.#records.read(scope, { owner, id });
    if (settled?.kind !== "upload") throw over(id, "changed");
    return this.#view(settled);
  }

  async #pending(caller: Caller, uploadId: string): Promise<UploadRecord> {
    const scope = requireCaller(caller);
    const found = isFileId(uploadId)
      ? await this.#records.read(scope, { owner: ownerOf(caller.userId), id: uploadId })
      : undefined;
    if (found?.kind !== "upload") throw notFound(`upload ${show(uploadId)}`);
    const { status } = this.#view(found);
    if (status !== "pending") throw over(uploadId, status);
    return found;
  }

  async #parts(scope: Scope, { owner, id }: UploadRecord): Promise<readonly PartRecord[]> {
    const page = await this.#records.list(
      scope,
      { owner },
      { range: { prefix: partsOf(id) }, limit: fileLimits.partsMax },
    );
    return page.items.filter((record): record is PartRecord => record.kind === "part");
  }

  async *#joined(
    scope: Scope,
    { owner, id }: UploadRecord,
    parts: readonly PartRecord[],
    seen: (chunk: Uint8Array) => void,
  ): AsyncGenerator<Uint8Array> {
    for (const part of parts) {
      const stream = await this.#deps.objects.stream(scope, partKey(owner, id, part.id.slice(partsOf(id).length)));
      if (stream === undefined) throw over(id, "changed");
      for await (const chunk of stream) {
        seen(chunk);
        yield chunk;
      }
    }
  }

  #view({ owner: _, kind: __, ...record }: UploadRecord): FileUploadView {
    const expired = record.status === "pending" && Date.parse(record.expires_at) <= this.#deps.clock.now();
    return expired ? { ...record, status: "expired" } : record;
  }
}

/** The id of a part as its creator got it. */
export function partIdOf({ id, upload_id }: PartRecord): string {
  return id.slice(partsOf(upload_id).length);
}

function inOrder(uploadId: string, parts: readonly PartRecord[], ids: readonly string[]): readonly PartRecord[] {
  if (ids.length === 0) throw invalid("part_ids: name at least one part, in the order of the bytes.");
  if (new Set(ids).size < ids.length) throw invalid("part_ids: names a part twice.");
  const known = new Map(parts.map((part) => [partIdOf(part), part]));
  return ids.map((id) => {
    const part = known.get(id);
    if (part === undefined) throw invalid(`part_ids: upload "${uploadId}" has no part ${show(id)}.`);
    return part;
  });
}

function over(id: string, status: string): PinakesError {
  return invalid(`Upload "${id}" is ${status}; only a pending one accepts parts, is completed or is cancelled.`);
}
