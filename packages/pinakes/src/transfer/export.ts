/**
 * Exports a workspace, or some repositories, as files in the layouts of the reference documents:
 *
 *   tables/LisaRagVectorStoreTable.jsonl            shared repositories
 *   tables/LisaRagCollectionsTable.jsonl            their collections, also deleted ones that can still be restored
 *   tables/LisaRagDocumentTable.jsonl               the documents of those that are not deleted
 *   tables/{project}-kb-catalog.jsonl               personal repositories: catalogs and their documents
 *   definitions/tables.json, definitions/cloudformation.json    keys, indexes, time to live, billing and recovery of the LISA tables
 *   {bucket}/{repository}/{collection}/{document}-{name}                       the newest bytes of shared documents
 *   {project}-kb-docs-{account}-{region}/{user}/{catalog}/{document}-{name}    the same of personal ones, each with its .metadata.json
 *
 * An unchanged default collection has no row: its repository implies it. Nothing is locked, so each record is exported as of its read.
 * Earlier versions of documents, and vectors, are not in these layouts.
 */
import { requireCaller, type Caller } from "../domain/caller.ts";
import { PinakesError, invalid, show } from "../domain/errors.ts";
import type { JsonObject } from "../domain/json.ts";
import { emptyStats, CollectionPartition } from "../knowledge/records/collection-partition.ts";
import { contentKey } from "../knowledge/documents/check-upload.ts";
import { notFound } from "../knowledge/access/access.ts";
import { effectiveChunking } from "../knowledge/records/collection-fields.ts";
import type { CatalogRecords } from "../knowledge/records/catalog-records.ts";
import type { CollectionRecord, DocumentRecord, RepositoryRecord } from "../knowledge/records/records.ts";
import type { KnowledgeDependencies } from "../knowledge/dependencies.ts";
import { catalogObjectKey, exportedCatalog, exportedCatalogDocument } from "./catalog-items.ts";
import type { TransferFile } from "./files.ts";
import { importedOf } from "./give-back.ts";
import { itemLine, tableBody, type ItemFormat } from "./item-lines.ts";
import { exportedDocument, lisaObjectKey } from "./lisa-documents.ts";
import { exportedCollection, exportedRepository } from "./lisa-items.ts";
import { catalogBucket, catalogTable, checkNames, tablePath, type TransferNames } from "./names.ts";
import { definitionFiles } from "./table-definitions.ts";
import { sidecarSuffix, writeSidecar } from "./sidecar.ts";
import { collectionsOf, documentsOf, repositoryIds } from "./walk.ts";

export interface ExportOptions {
  /** Absent: all, including personal ones. */
  readonly repositories?: readonly string[] | undefined;
  /** `dynamodb`: the format of DynamoDB's own exports to S3. */
  readonly format?: ItemFormat | undefined;
  readonly gzip?: boolean | undefined;
  /** False: only the tables. */
  readonly objects?: boolean | undefined;
  readonly names?: Partial<TransferNames> | undefined;
}

interface Settings {
  readonly deps: KnowledgeDependencies;
  readonly catalog: CatalogRecords;
  readonly caller: Caller;
  readonly names: TransferNames;
  readonly format: ItemFormat;
  readonly wanted: readonly string[] | undefined;
}

/** Admins only: an export contains everyone's data. Bodies are read lazily, so consume one file after the other. */
export async function* exportKnowledge(
  deps: KnowledgeDependencies,
  catalog: CatalogRecords,
  caller: Caller,
  options: ExportOptions = {},
): AsyncGenerator<TransferFile> {
  requireCaller(caller);
  if (caller.role !== "admin") throw new PinakesError("FORBIDDEN", "Exporting needs the role admin.");
  const { format = "json", gzip = false, objects = true } = options;
  if (format !== "json" && format !== "dynamodb")
    throw invalid(`format: must be json or dynamodb, got ${show(format)}.`);
  const settings = {
    deps,
    catalog,
    caller,
    names: checkNames(options.names ?? {}),
    format,
    wanted: options.repositories,
  };
  const { names } = settings;
  const tables = [
    [names.storesTable, storeLines(settings)],
    [names.collectionsTable, collectionLines(settings)],
    [names.documentsTable, documentLines(settings)],
    [catalogTable(names), catalogLines(settings)],
  ] as const;
  for (const [table, lines] of tables) yield { path: tablePath(table, gzip), body: tableBody(lines, gzip) };
  yield* definitionFiles(names);
  if (objects) yield* objectFiles(settings);
}

async function* storeLines(settings: Settings): AsyncGenerator<string> {
  for await (const repository of repositories(settings))
    if (repository.owner === null) yield line(settings, repository, exportedRepository(repository));
}

async function* collectionLines(settings: Settings): AsyncGenerator<string> {
  for await (const { repository, collection } of collections(settings, isRow)) {
    if (repository.owner === null && !isImplied(collection))
      yield line(settings, collection, exportedCollection(collection));
  }
}

async function* documentLines(settings: Settings): AsyncGenerator<string> {
  const { bucket } = settings.names;
  for await (const { repository, collection } of collections(settings, isLive)) {
    if (repository.owner !== null) continue;
    const chunking = effectiveChunking(repository, collection);
    for await (const document of documents(settings, collection))
      yield line(settings, document, exportedDocument(document, { bucket, chunking }));
  }
}

async function* catalogLines(settings: Settings): AsyncGenerator<string> {
  for await (const { repository, collection } of collections(settings, isLive)) {
    const { owner } = repository;
    if (owner === null) continue;
    const stats = (await shelfOf(settings, collection).stats())?.record ?? emptyStats;
    yield line(settings, collection, exportedCatalog(collection, { owner, repository }, stats));
    for await (const document of documents(settings, collection))
      yield line(settings, document, exportedCatalogDocument(document, owner));
  }
}

async function* objectFiles(settings: Settings): AsyncGenerator<TransferFile> {
  const { names } = settings;
  for await (const { repository, collection } of collections(settings, isLive)) {
    for await (const document of documents(settings, collection)) {
      const body = await contentOf(settings, collection, document);
      if (body === undefined) continue;
      if (repository.owner === null) {
        yield { path: `${names.bucket}/${lisaObjectKey(document)}`, body };
        continue;
      }
      const path = `${catalogBucket(names)}/${catalogObjectKey(repository.owner, document)}`;
      yield { path, body };
      const { collection_id: catalog_id, document_id, name: filename } = document;
      yield {
        path: path + sidecarSuffix,
        body: textBody(writeSidecar({ user_id: repository.owner, catalog_id, document_id, filename })),
      };
    }
  }
}

/** The newest stored bytes, which the tables describe. */
async function contentOf(
  settings: Settings,
  collection: CollectionRecord,
  document: DocumentRecord,
): Promise<AsyncIterable<Uint8Array> | undefined> {
  const [version] = document.versions;
  if (version === undefined) return undefined;
  return settings.deps.objects.stream(
    settings.caller.scope,
    contentKey(shelfOf(settings, collection), document.document_id, version.version),
  );
}

async function* repositories({ deps, catalog, caller, wanted }: Settings): AsyncGenerator<RepositoryRecord> {
  for (const id of wanted ?? (await repositoryIds(deps.items, caller.scope))) {
    const found = await catalog.repository(caller.scope, id);
    if (found?.record.status === "ACTIVE") yield found.record;
    else if (wanted !== undefined) throw notFound(`repository "${id}"`);
  }
}

async function* collections(
  settings: Settings,
  which: (collection: CollectionRecord) => boolean,
): AsyncGenerator<{ readonly repository: RepositoryRecord; readonly collection: CollectionRecord }> {
  const { deps, caller } = settings;
  for await (const repository of repositories(settings)) {
    for await (const collection of collectionsOf(deps.items, caller.scope, repository.repository_id)) {
      if (which(collection)) yield { repository, collection };
    }
  }
}

function documents({ deps, caller }: Settings, collection: CollectionRecord): AsyncGenerator<DocumentRecord> {
  return documentsOf(deps.items, caller.scope, collection);
}

function shelfOf({ deps, caller }: Settings, collection: CollectionRecord): CollectionPartition {
  return new CollectionPartition(deps.items, caller.scope, collection);
}

function line({ format }: Settings, record: { readonly imported?: JsonObject }, item: JsonObject): string {
  return itemLine(item, format, importedOf(record)?.types);
}

function isLive({ status }: CollectionRecord): boolean {
  return status === "ACTIVE" || status === "ARCHIVED";
}

/** A collection that is being purged is not exported. */
function isRow(collection: CollectionRecord): boolean {
  return isLive(collection) || collection.status === "DELETED";
}

/** As the import of its repository would create it. */
export function isImplied({ is_default, imported, created_at, updated_at }: CollectionRecord): boolean {
  return is_default && imported === undefined && created_at === updated_at;
}

async function* textBody(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text, "utf8");
}
