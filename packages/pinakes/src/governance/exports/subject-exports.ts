/**
 * Exports of everything stored about a subject (R-AGT-71), as zip archives: requested by admins, written by a job, kept for a week.
 *
 * Invariants
 * - a record is `ready` only after all its archives are stored, and has their hashes;
 * - an archive without a record is removed by `sweep`: a crash, an expiry and an erasure of the subject leave nothing else;
 * - an attempt writes the same keys as the previous one, so a repeated job leaves no archive of an earlier attempt beyond the last part.
 */
import { createHash } from "node:crypto";
import type { NewSubjectExport, SubjectExport } from "@pinakes/client";
import type { Caller } from "../../domain/caller.ts";
import { invalid, PinakesError, show } from "../../domain/errors.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { Scope, SystemScope } from "../../domain/scope.ts";
import type { Jobs, JobRecord, JobTools, KnowledgeErasure, SubjectObjects } from "../../knowledge/index.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Item, ItemStore } from "../../ports/item-store.ts";
import type { ByteRange, ObjectStore } from "../../ports/object-store.ts";
import { isConflict, tolerate } from "../../runtime/expected-errors.ts";
import type { StateErasure } from "../../state/index.ts";
import { Links } from "../erasure/links.ts";
import { OwnRows } from "../erasure/own-rows.ts";
import { Naming } from "../subjects/naming.ts";
import { governanceTenant } from "../tenant.ts";
import { namesAnything, type ScanContext } from "../erasure/scan.ts";
import { checkSubject } from "../subjects/subject.ts";
import { requireAdmin } from "../holds/holds.ts";
import { governanceLimits } from "../limits.ts";
import { notIncluded, subjectFiles, type Collected } from "./collect.ts";
import {
  archiveKey,
  archiveOf,
  archivesRoot,
  exportsContainer,
  exportView,
  ExportRecord,
  newExportFormat,
} from "./export-records.ts";
import { zipStream, type ArchiveFile, type WrittenFile } from "./zip-stream.ts";

export interface SubjectExportsDependencies {
  readonly items: ItemStore;
  readonly objects: ObjectStore;
  readonly clock: Clock;
  readonly system: SystemScope;
  readonly newId: () => string;
  readonly jobs: Jobs;
  readonly subjectObjects: SubjectObjects;
  readonly state: StateErasure;
  readonly knowledge: KnowledgeErasure;
  /** Smaller in tests. */
  readonly partBytesMax?: number | undefined;
}

interface ExportPage {
  readonly items: readonly SubjectExport[];
  readonly next_cursor: string | null;
}

interface Archive {
  readonly bytes: number;
  readonly body: AsyncIterable<Uint8Array>;
}

const container = exportsContainer.name;

export class SubjectExports {
  readonly #deps: SubjectExportsDependencies;
  readonly #scope: Scope;

  constructor(deps: SubjectExportsDependencies) {
    this.#deps = deps;
    this.#scope = deps.system.forTenant(governanceTenant);
  }

  async open(): Promise<this> {
    await this.#deps.items.openContainer(exportsContainer);
    this.#deps.jobs.register("subject-export", (_scope, job, tools) => this.#job(job, tools));
    return this;
  }

  /** NOT_FOUND if nothing names the subject. */
  async request(caller: Caller, input: NewSubjectExport): Promise<SubjectExport> {
    const { tenant } = requireAdmin(caller);
    const { paths = [] } = input;
    if (paths.length > governanceLimits.pathsMax)
      throw invalid(`paths: at most ${governanceLimits.pathsMax}, got ${paths.length}.`);
    const subject = checkSubject(input.subject, paths);
    if (subject.type === "workspace" && subject.id !== tenant)
      throw new PinakesError("NOT_FOUND", "Nothing names this subject here.");
    const others = await this.list(caller, { limit: governanceLimits.pageItemsMax });
    const max = governanceLimits.exportsPerWorkspaceMax;
    if (others.items.length >= max)
      throw new PinakesError(
        "LIMIT_EXCEEDED",
        `The workspace has ${max} exports already; delete one, or wait until one expires.`,
      );
    const naming = new Naming(subject);
    const context = this.#context(naming, tenant, new AbortController().signal);
    const named =
      (await namesAnything(context)) || (await new OwnRows(context, this.#deps.knowledge).found().next()).done !== true;
    if (!named) throw new PinakesError("NOT_FOUND", "Nothing names this subject here.");
    const { newId, clock, items, jobs } = this.#deps;
    const record: ExportRecord = {
      id: newId(),
      format: newExportFormat,
      workspace_id: tenant,
      state: "queued",
      subject: {
        ...subject,
        paths: [...subject.paths],
        documents: subject.documents && { ...subject.documents, document_ids: [...subject.documents.document_ids] },
      },
      error: null,
      parts: [],
      rows: [],
      created_by: caller.userId,
      created_at: new Date(clock.now()).toISOString(),
      finished_at: null,
    };
    await items.write(this.#scope, container, [tenant], { op: "create", document: plain(record) });
    const job = { kind: "subject-export", repository_id: "", collection_id: "", created_by: caller.userId } as const;
    await jobs.start(
      this.#scope,
      { ...job, input: { workspace: tenant, export_id: record.id } },
      { job_id: record.id },
    );
    return exportView(record);
  }

  async get(caller: Caller, exportId: string): Promise<SubjectExport> {
    const { tenant } = requireAdmin(caller);
    return exportView((await this.#read(tenant, exportId)).record);
  }

  /** Newest first. */
  async list(
    caller: Caller,
    query: { readonly limit?: number | undefined; readonly cursor?: string | undefined } = {},
  ): Promise<ExportPage> {
    const { tenant } = requireAdmin(caller);
    const { limit = governanceLimits.pageItemsMax, cursor } = query;
    if (!Number.isInteger(limit) || limit < 1 || limit > governanceLimits.pageItemsMax)
      throw invalid(`limit: must be a whole number from 1 to ${governanceLimits.pageItemsMax}, got ${show(limit)}.`);
    const page = await this.#deps.items.query(this.#scope, container, {
      index: "byCreated",
      equals: { workspace_id: tenant },
      order: "desc",
      limit,
      cursor,
    });
    const items = page.items.map(({ document }) => exportView(ExportRecord.parse(document)));
    return { items, next_cursor: page.cursor ?? null };
  }

  /** The bytes of a part, or a range of them, so that a download can be continued. */
  async part(caller: Caller, exportId: string, part: number, range?: ByteRange): Promise<Archive> {
    const { tenant } = requireAdmin(caller);
    const { record } = await this.#read(tenant, exportId);
    const found = record.parts.find((one) => one.part === part);
    const body =
      found === undefined
        ? undefined
        : await this.#deps.objects.stream(this.#scope, archiveKey(tenant, exportId, part), { range });
    if (found === undefined || body === undefined)
      throw new PinakesError("NOT_FOUND", `Export ${show(exportId)} has no part ${part}: it is ${record.state}.`);
    return { bytes: found.bytes, body };
  }

  async delete(caller: Caller, exportId: string): Promise<void> {
    const { tenant } = requireAdmin(caller);
    await this.#read(tenant, exportId);
    const { items } = this.#deps;
    await tolerate(items.write(this.#scope, container, [tenant], { op: "delete", id: exportId }), "NOT_FOUND");
    await this.#removeArchives(`${archivesRoot}${tenant}/${exportId}/`);
  }

  /** Removes archives whose record no longer exists. */
  async sweep(signal: AbortSignal): Promise<number> {
    const { objects, items } = this.#deps;
    let removed = 0;
    for (let after: string | undefined, first = true; first || after !== undefined; first = false) {
      signal.throwIfAborted();
      const page = await objects.list(this.#scope, archivesRoot, { after });
      for (const { key } of page.keys) {
        const archive = archiveOf(key);
        if (archive === undefined) continue;
        const { workspace, exportId } = archive;
        const record = await items.read(this.#scope, container, { partition: [workspace], id: exportId });
        if (record !== undefined) continue;
        await objects.delete(this.#scope, [key]);
        removed += 1;
      }
      after = page.next;
    }
    return removed;
  }

  async #job({ input }: JobRecord, { signal, tell }: JobTools): Promise<JsonObject> {
    const { workspace, export_id } = input as { readonly workspace: string; readonly export_id: string };
    const known = await this.#deps.items.read(this.#scope, container, { partition: [workspace], id: export_id });
    if (known === undefined) return { removed: true };
    const record = ExportRecord.parse(known.document);
    if (record.state === "ready") return { parts: record.parts.length };
    await this.#update(record, { state: "running", error: null });
    try {
      const written = await this.#write(record, signal, tell);
      const finished_at = new Date(this.#deps.clock.now()).toISOString();
      await this.#update(record, { ...written, state: "ready", finished_at });
      // Deleted, or its subject erased, while it was written.
      await this.sweep(signal);
      return { parts: written.parts.length };
    } catch (error) {
      if (!signal.aborted)
        await this.#update(record, { state: "failed", error: error instanceof Error ? error.message : String(error) });
      throw error;
    }
  }

  async #write(
    record: ExportRecord,
    signal: AbortSignal,
    tell: JobTools["tell"],
  ): Promise<Pick<ExportRecord, "parts" | "rows">> {
    const { objects, clock, partBytesMax = governanceLimits.exportPartBytesMax } = this.#deps;
    const { workspace_id, id, subject } = record;
    const collected: Collected = { rows: new Map() };
    const files: (WrittenFile & { readonly part: number })[] = [];
    const context = this.#context(new Naming(subject), workspace_id, signal);
    const all = withManifest(
      subjectFiles(context, { ...this.#deps, objects: this.#deps.subjectObjects }, collected),
      () => this.#manifest(record, collected, files),
    );
    const parts: ExportRecord["parts"] = [];
    for (let ended = false; !ended;) {
      const part = parts.length + 1;
      const before = files.length;
      const digest = createHash("sha256");
      const zip = zipStream(all, {
        modifiedAt: clock.now(),
        bytesMax: partBytesMax,
        onFile: (file) => void files.push({ ...file, part }),
      });
      const body = hashed(zip, digest, (result) => void ({ ended } = result));
      const { bytes } = await objects.put(this.#scope, archiveKey(workspace_id, id, part), body, { signal });
      parts.push({ part, bytes, sha256: digest.digest("hex"), files: files.length - before });
      await tell({ done: files.length, total: files.length });
    }
    return { parts, rows: rowsOf(collected) };
  }

  #manifest(record: ExportRecord, collected: Collected, files: readonly object[]): Uint8Array {
    const { id, workspace_id, subject, created_at, created_by } = record;
    const content = {
      format: newExportFormat,
      export_id: id,
      workspace_id,
      subject: { type: subject.type, id: subject.id },
      requested_at: created_at,
      requested_by: created_by,
      written_at: new Date(this.#deps.clock.now()).toISOString(),
      rows: rowsOf(collected),
      not_included: notIncluded,
      files,
    };
    return Buffer.from(`${JSON.stringify(content, undefined, 2)}\n`, "utf8");
  }

  /** Holds keep data from being removed, not from being read. */
  #context(naming: Naming, workspace: string, signal: AbortSignal): ScanContext {
    const { items, system, clock } = this.#deps;
    return { items, system, naming, workspace, holds: [], links: new Links(), since: clock.now(), signal };
  }

  async #update(record: ExportRecord, change: Partial<ExportRecord>): Promise<void> {
    const { items } = this.#deps;
    const { workspace_id, id } = record;
    for (;;) {
      const found = await items.read(this.#scope, container, { partition: [workspace_id], id });
      if (found === undefined) return;
      const document = plain({ ...ExportRecord.parse(found.document), ...change });
      try {
        await items.write(this.#scope, container, [workspace_id], { op: "replace", document, ifMatch: found.etag });
        return;
      } catch (error) {
        if (!isConflict(error)) throw error;
      }
    }
  }

  async #read(workspace: string, exportId: string): Promise<{ readonly record: ExportRecord; readonly item: Item }> {
    const item =
      typeof exportId === "string" && /^[\w-]{1,64}$/.test(exportId)
        ? await this.#deps.items.read(this.#scope, container, { partition: [workspace], id: exportId })
        : undefined;
    if (item === undefined)
      throw new PinakesError("NOT_FOUND", `There is no subject export ${show(exportId)}, or it has expired.`);
    return { record: ExportRecord.parse(item.document), item };
  }

  async #removeArchives(prefix: string): Promise<void> {
    const { objects } = this.#deps;
    for (;;) {
      const { keys } = await objects.list(this.#scope, prefix);
      if (keys.length === 0) return;
      await objects.delete(
        this.#scope,
        keys.map(({ key }) => key),
      );
    }
  }
}

function rowsOf({ rows }: Collected): ExportRecord["rows"] {
  return [...rows].map(([store, counts]) => ({ store, ...counts }));
}

function plain(record: ExportRecord): JsonObject {
  return JSON.parse(JSON.stringify(record)) as JsonObject;
}

/** The manifest last, when the hashes of all other files are known. */
async function* withManifest(
  files: AsyncIterable<ArchiveFile>,
  manifest: () => Uint8Array,
): AsyncGenerator<ArchiveFile, void> {
  yield* files;
  yield {
    name: "manifest.json",
    body: (async function* () {
      yield manifest();
    })(),
  };
}

async function* hashed(
  chunks: AsyncGenerator<Uint8Array, { readonly ended: boolean }>,
  digest: ReturnType<typeof createHash>,
  onEnd: (result: { readonly ended: boolean }) => void,
): AsyncGenerator<Uint8Array, void> {
  for (;;) {
    const next = await chunks.next();
    if (next.done === true) return onEnd(next.value);
    digest.update(next.value);
    yield next.value;
  }
}
