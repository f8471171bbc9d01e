/**
 * Imports an export (or a dump of the original tables and buckets) into a workspace. Three rounds over the tables: stores, then collections
 * and catalogs, then documents, so that the order of files and lines does not matter. An invalid item is reported with its file and line
 * and leaves nothing behind; the others are imported. Idempotent: existing records with the same content are skipped, others are reported
 * and never overwritten.
 */
import { requireCaller, type Caller } from "../domain/caller.ts";
import { PinakesError, invalid, show } from "../domain/errors.ts";
import { fileTypeOf, fileTypes, type FileType } from "../domain/file-type.ts";
import type { IngestQueue } from "../knowledge/documents/ingest-queue.ts";
import { effectiveChunking } from "../knowledge/records/collection-fields.ts";
import { personalRepositoryId } from "../knowledge/records/ids.ts";
import { checkId } from "../knowledge/records/names.ts";
import { isoTime } from "../knowledge/records/times.ts";
import { optionalText } from "./attributes.ts";
import {
  catalogDocumentKeys,
  exportedCatalogDocument,
  itemToCatalogDocument,
  type CatalogDocumentKeys,
} from "./catalog-items.ts";
import { CatalogObjects, type CatalogObject } from "./catalog-object.ts";
import type { PlainItem } from "./dynamo-json.ts";
import type { TransferReader } from "./files.ts";
import { DocumentImport } from "./import-documents.ts";
import { kept, RecordImport, type ImportTools, type Made } from "./import-records.ts";
import { itemKind, type ItemKind } from "./item-kind.ts";
import { readItems } from "./item-lines.ts";
import { documentKeys, exportedDocument, itemToDocument, lisaObjectKey } from "./lisa-documents.ts";
import { defaultNames } from "./names.ts";
import { ObjectIndex } from "./object-index.ts";
import { isItemsFault, ReportBuilder, type ImportReport } from "./report.ts";

export interface ImportOptions {
  /** Validates everything and writes nothing. Name conflicts and exceeded limits appear only in a real run. */
  readonly dry_run?: boolean | undefined;
  /** Maps models of the items to models of this server: `{ "amazon.titan-embed-text-v1": "all-minilm-l6-v2" }`. */
  readonly models?: Readonly<Record<string, string>> | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Stored in every created record, to find them when the import is undone. */
  readonly mark?: string | undefined;
}

interface Line {
  readonly file: string;
  readonly line: number;
}

const rounds: readonly (readonly ItemKind[])[] = [
  ["store"],
  ["collection", "catalog"],
  ["document", "catalog_document"],
];

/** Admins only: an import creates records of other users. */
export type ImportDependencies = Pick<ImportTools, "deps" | "catalog" | "collections" | "registry"> & {
  readonly queue: IngestQueue;
};

export async function importKnowledge(
  services: ImportDependencies,
  caller: Caller,
  reader: TransferReader,
  options: ImportOptions = {},
): Promise<ImportReport> {
  requireCaller(caller);
  if (caller.role !== "admin") throw new PinakesError("FORBIDDEN", "Importing needs the role admin.");
  const stamp = {
    by: caller.userId,
    at: isoTime(services.deps.clock.now()),
    ...(options.mark === undefined ? {} : { mark: options.mark }),
  };
  const run = new ImportRun(
    { ...services, caller, models: options.models ?? {}, dryRun: options.dry_run ?? false, stamp },
    services.queue,
    reader,
  );
  return run.run(options.signal);
}

class ImportRun {
  readonly #tools: ImportTools;
  readonly #reader: TransferReader;
  readonly #records: RecordImport;
  readonly #documents: DocumentImport;
  readonly #report = new ReportBuilder();
  /** Documents whose record names no object that exists: it is searched for among those that no record names. */
  readonly #toSearch: { readonly plain: PlainItem; readonly at: Line }[] = [];
  #objects!: ObjectIndex;
  #catalogObjects!: CatalogObjects;

  constructor(tools: ImportTools, queue: IngestQueue, reader: TransferReader) {
    this.#tools = tools;
    this.#reader = reader;
    this.#records = new RecordImport(tools);
    this.#documents = new DocumentImport(tools.deps, queue, tools.caller.scope, tools.dryRun);
  }

  async run(signal: AbortSignal | undefined): Promise<ImportReport> {
    this.#objects = await ObjectIndex.read(this.#reader);
    this.#catalogObjects = new CatalogObjects(this.#objects, this.#reader);
    if (this.#objects.tables.length === 0)
      throw invalid(
        "There is no table to import: items must be in tables/<name>.jsonl, or in .jsonl files at the top.",
      );
    for (const [round, kinds] of rounds.entries()) {
      for (const file of this.#objects.tables) await this.#table(file, kinds, round === 0, signal);
    }
    const searched = this.#toSearch.splice(0);
    for (const { plain, at } of searched)
      await this.#count("catalog_document", at, () =>
        this.#catalogDocument(plain, (keys, name) => this.#catalogObjects.searched(keys, name)),
      );
    for (const file of this.#objects.unused())
      this.#report.warning({ file, line: 0, reason: "No item refers to this object; it was not imported." });
    return this.#report.report(this.#tools.dryRun);
  }

  async #table(
    file: string,
    kinds: readonly ItemKind[],
    first: boolean,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    for await (const { line, parsed, problem } of readItems(this.#reader.open(file))) {
      signal?.throwIfAborted();
      const at = { file, line };
      const found = parsed === undefined ? { reason: problem ?? "The line is not an item." } : kindOf(parsed);
      if (parsed !== undefined && "kind" in found) {
        if (kinds.includes(found.kind)) await this.#item(found.kind, parsed, at);
      } else if (first && "reason" in found) {
        // Reported once, in the first round.
        this.#report.problem({ ...at, reason: found.reason });
      }
    }
  }

  async #item(kind: ItemKind, plain: PlainItem, at: Line): Promise<void> {
    await this.#count(kind, at, async () => {
      if (kind === "store") return this.#records.store(plain);
      if (kind === "collection") return this.#records.collection(plain);
      if (kind === "catalog") return this.#records.catalog(plain);
      if (kind === "document") return this.#document(plain);
      const made = await this.#catalogDocument(plain, (keys, name) => this.#catalogObjects.named(keys, name));
      if (made === undefined) this.#toSearch.push({ plain, at });
      return made;
    });
  }

  /** Undefined: it is not decided yet. */
  async #count(kind: ItemKind, at: Line, make: () => Promise<Made | undefined>): Promise<void> {
    try {
      const made = await make();
      if (made === undefined) return;
      this.#report.count(kind, made.outcome);
      for (const reason of made.warnings) this.#report.warning({ ...at, reason });
    } catch (error) {
      if (!isItemsFault(error)) throw error;
      this.#report.count(kind, "refused");
      this.#report.problem({ ...at, reason: error.detail });
    }
  }

  async #document(plain: PlainItem): Promise<Made> {
    const { item } = plain;
    const keys = documentKeys(item);
    const document_id = checkId(keys.documentId, "document_id");
    const target = await this.#records.target(checkId(keys.repositoryId, "repository_id"), keys.collectionId);
    if (target.repository.owner !== null)
      throw invalid(`repository_id: ${show(keys.repositoryId)} is a personal repository, which has catalogs.`);
    const chunking = effectiveChunking(target.repository, target.collection);
    const fields = itemToDocument(item, { keys, ...this.#tools.stamp, chunking });
    const record = {
      ...fields,
      document_id,
      repository_id: keys.repositoryId,
      collection_id: target.collection.collection_id,
    };
    const [, inBucket, bucket = defaultNames.bucket] =
      /^s3:\/\/(([^/]+)\/.*)$/s.exec(optionalText(item, "source") ?? "") ?? [];
    const path =
      this.#objects.byKey(lisaObjectKey(record)) ??
      (inBucket === undefined ? undefined : this.#objects.byPath(inBucket));
    const draft = {
      ...fields,
      document_id,
      file_type: typeOf(fields.name, path !== undefined),
      imported: kept(plain, this.#tools.stamp),
    };
    const exported = (known: Parameters<typeof exportedDocument>[0]) => exportedDocument(known, { bucket, chunking });
    return this.#counted(await this.#documents.import({ target, draft, exported, body: this.#body(path) }));
  }

  /** Undefined where `find` is: its object must be searched for first. */
  async #catalogDocument(
    plain: PlainItem,
    find: (keys: CatalogDocumentKeys, filename: string) => Promise<CatalogObject | undefined>,
  ): Promise<Made | undefined> {
    const { item } = plain;
    const keys = catalogDocumentKeys(item);
    const { catalogId, owner } = keys;
    const document_id = checkId(keys.documentId, "document_id");
    const { size_bytes, ...fields } = itemToCatalogDocument(item);
    const target = await this.#records.target(personalRepositoryId(owner), checkId(catalogId, "catalog_id"));
    const object = await find(keys, fields.name);
    if (object === undefined) return undefined;
    const draft = { ...fields, document_id, imported: kept(plain, this.#tools.stamp) };
    const done = await this.#documents.import({
      target,
      draft,
      exported: (known) => exportedCatalogDocument(known, owner),
      body: this.#body(object.path),
    });
    const wrong = done.sizeBytes !== undefined && done.sizeBytes !== size_bytes;
    return this.#counted(done, [
      ...object.warnings,
      ...(wrong ? [`file_size_bytes: the item says ${size_bytes}, the object has ${done.sizeBytes} bytes.`] : []),
    ]);
  }

  #body(path: string | undefined): (() => AsyncIterable<Uint8Array>) | undefined {
    return path === undefined ? undefined : () => this.#reader.open(path);
  }

  #counted(
    { outcome, withoutBytes }: { outcome: Made["outcome"]; withoutBytes: boolean },
    warnings: readonly string[] = [],
  ): Made {
    if (withoutBytes) this.#report.withoutBytes();
    return { outcome, warnings };
  }
}

function kindOf({ item }: PlainItem): { readonly kind: ItemKind } | { readonly reason: string } {
  try {
    return { kind: itemKind(item) };
  } catch (error) {
    if (!PinakesError.isInstance(error)) throw error;
    return { reason: error.detail };
  }
}

/** Without bytes the type does not matter yet; a later upload sets it. */
function typeOf(name: string, hasBytes: boolean): FileType {
  const type = fileTypeOf(name) ?? (hasBytes ? undefined : "txt");
  if (type === undefined)
    throw invalid(
      `document_name: ${show(name)}: this file type is not accepted; accepted are ${fileTypes.join(", ")}.`,
    );
  return type;
}
