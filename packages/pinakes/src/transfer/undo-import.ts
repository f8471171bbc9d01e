/**
 * Undoes an import, item by item of the same files: its collections go to the trash, its documents in other collections are deleted.
 * Repositories stay: a collection in the trash needs one to be restored into. Records without the import's mark are not touched; if they
 * cannot be kept separate, the undo is refused before any change, unless forced.
 */
import { requireCaller, type Caller } from "../domain/caller.ts";
import { PinakesError, show } from "../domain/errors.ts";
import { CollectionPartition } from "../knowledge/records/collection-partition.ts";
import type { Documents } from "../knowledge/documents/documents.ts";
import { incarnationOf } from "../knowledge/records/incarnation-of.ts";
import type { CollectionDeletion } from "../knowledge/deletion/delete-collection.ts";
import { personalRepositoryId } from "../knowledge/records/ids.ts";
import { isLive } from "../knowledge/records/catalog-records.ts";
import type { CollectionRecord, DocumentRecord } from "../knowledge/records/records.ts";
import { optionalText, text, userId } from "./attributes.ts";
import { catalogDocumentKeys } from "./catalog-items.ts";
import type { PlainItem } from "./dynamo-json.ts";
import type { TransferReader } from "./files.ts";
import { importedOf } from "./give-back.ts";
import { RecordImport, type ImportTools } from "./import-records.ts";
import { itemKind, type ItemKind } from "./item-kind.ts";
import { readItems } from "./item-lines.ts";
import { collectionKeys } from "./lisa-items.ts";
import { documentKeys } from "./lisa-documents.ts";
import { ObjectIndex } from "./object-index.ts";
import { isItemsFault } from "./report.ts";
import { documentsOf } from "./walk.ts";

export interface UndoDependencies extends Pick<ImportTools, "deps" | "catalog" | "collections" | "registry"> {
  readonly documents: Documents;
  readonly deletion: CollectionDeletion;
}

export interface UndoOptions {
  /** The mark of the import's records. */
  readonly mark: string;
  /** Even if others added or changed something since. */
  readonly force: boolean;
  readonly signal: AbortSignal;
}

export interface Undone {
  readonly collections: number;
  readonly documents: number;
}

export class ImportUndo {
  readonly #services: UndoDependencies;

  constructor(services: UndoDependencies) {
    this.#services = services;
  }

  /** Admins only, like the import. Idempotent. */
  async undo(caller: Caller, reader: TransferReader, options: UndoOptions): Promise<Undone> {
    requireCaller(caller);
    if (caller.role !== "admin") throw new PinakesError("FORBIDDEN", "Undoing an import needs the role admin.");
    return new UndoRun(this.#services, caller, reader, options).run();
  }
}

class UndoRun {
  readonly #services: UndoDependencies;
  readonly #caller: Caller;
  readonly #reader: TransferReader;
  readonly #options: UndoOptions;
  /** Resolves the ids of items; creates nothing. */
  readonly #records: RecordImport;

  constructor(services: UndoDependencies, caller: Caller, reader: TransferReader, options: UndoOptions) {
    this.#services = services;
    this.#caller = caller;
    this.#reader = reader;
    this.#options = options;
    this.#records = new RecordImport({
      ...services,
      caller,
      models: {},
      dryRun: true,
      stamp: { by: caller.userId, at: "" },
    });
  }

  async run(): Promise<Undone> {
    const created = new Map<string, CollectionRecord>();
    for await (const record of this.#collections()) created.set(record.incarnation, record);
    if (!this.#options.force) {
      for (const record of created.values()) await this.#requireOurs(record);
      for await (const { collection, document } of this.#documents(created)) requireUnchanged(collection, document);
    }
    let documents = 0;
    const { scope } = this.#caller;
    for await (const { collection, document } of this.#documents(created)) {
      const opened = await this.#services.collections.open(
        this.#caller,
        collection.repository_id,
        collection.collection_id,
      );
      await this.#services.documents.delete(this.#caller, opened, document.document_id);
      documents += 1;
    }
    for (const record of created.values()) await this.#services.deletion.trash(scope, incarnationOf(record));
    return { collections: created.size, documents };
  }

  /** Existing collections that the import created. A default one belongs to its repository. */
  async *#collections(): AsyncGenerator<CollectionRecord> {
    for await (const { kind, item } of this.#items(["collection", "catalog"])) {
      const found = kind === "collection" ? await this.#collectionOf(item) : await this.#catalogOf(item);
      if (found !== undefined && isLive(found) && !found.is_default && this.#isOurs(found)) yield found;
    }
  }

  /** Documents that it put into collections which it did not create. */
  async *#documents(
    created: ReadonlyMap<string, CollectionRecord>,
  ): AsyncGenerator<{ readonly collection: CollectionRecord; readonly document: DocumentRecord }> {
    for await (const { kind, item } of this.#items(["document", "catalog_document"])) {
      const { repositoryId, collectionId, documentId } = kind === "document" ? documentKeys(item) : catalogPlace(item);
      const target = await this.#records.target(repositoryId, collectionId).catch((error: unknown) => {
        if (isItemsFault(error)) return undefined;
        throw error;
      });
      if (target === undefined || created.has(target.collection.incarnation)) continue;
      const document = (
        await new CollectionPartition(this.#services.deps.items, this.#caller.scope, target.collection).read(documentId)
      )?.record;
      if (document !== undefined && this.#isOurs(document)) yield { collection: target.collection, document };
    }
  }

  async #collectionOf(item: PlainItem["item"]): Promise<CollectionRecord | undefined> {
    const keys = collectionKeys(item);
    const repository = await this.#records.repository(keys.repositoryId);
    if (repository === undefined) return undefined;
    return (
      await this.#services.catalog.collection(
        this.#caller.scope,
        keys.repositoryId,
        this.#records.collectionId(repository, keys.collectionId),
      )
    )?.record;
  }

  async #catalogOf(item: PlainItem["item"]): Promise<CollectionRecord | undefined> {
    const repositoryId = personalRepositoryId(userId(item, "user_id"));
    return (await this.#services.catalog.collection(this.#caller.scope, repositoryId, text(item, "catalog_id")))
      ?.record;
  }

  /** Documents added by others would be deleted with the collection. */
  async #requireOurs(record: CollectionRecord): Promise<void> {
    for await (const document of documentsOf(this.#services.deps.items, this.#caller.scope, record)) {
      this.#options.signal.throwIfAborted();
      if (!this.#isOurs(document))
        throw new PinakesError(
          "CONFLICT",
          `Collection ${show(record.collection_id)} of repository ${show(record.repository_id)} has documents that were not imported, such as ${show(document.name)}. Move them first, or roll back with force: they go to the trash with it.`,
        );
      requireUnchanged(record, document);
    }
  }

  #isOurs(record: Parameters<typeof importedOf>[0]): boolean {
    return importedOf(record)?.mark === this.#options.mark;
  }

  /** Invalid items created nothing. */
  async *#items(
    kinds: readonly ItemKind[],
  ): AsyncGenerator<{ readonly kind: ItemKind; readonly item: PlainItem["item"] }> {
    const { tables } = await ObjectIndex.read(this.#reader);
    for (const file of tables) {
      for await (const { parsed } of readItems(this.#reader.open(file))) {
        this.#options.signal.throwIfAborted();
        const kind = parsed === undefined ? undefined : kindOf(parsed);
        if (parsed !== undefined && kind !== undefined && kinds.includes(kind)) yield { kind, item: parsed.item };
      }
    }
  }
}

function requireUnchanged({ collection_id }: CollectionRecord, { name, version }: DocumentRecord): void {
  if (version === 1) return;
  throw new PinakesError(
    "CONFLICT",
    `Document ${show(name)} of collection ${show(collection_id)} was replaced since the import. Keep a copy, and roll back with force: its current content is deleted.`,
  );
}

function catalogPlace(item: PlainItem["item"]): {
  readonly repositoryId: string;
  readonly collectionId: string;
  readonly documentId: string;
} {
  const { catalogId, documentId, owner } = catalogDocumentKeys(item);
  return { repositoryId: personalRepositoryId(owner), collectionId: catalogId, documentId };
}

function kindOf({ item }: PlainItem): ItemKind | undefined {
  try {
    const kind = itemKind(item);
    // Validated here, since the import refused invalid items.
    if (kind === "collection") collectionKeys(item);
    if (kind === "catalog") userId(item, "user_id");
    if (kind === "document") documentKeys(item);
    if (kind === "catalog_document") catalogDocumentKeys(item);
    return kind === "catalog" && optionalText(item, "catalog_id") === undefined ? undefined : kind;
  } catch (error) {
    if (isItemsFault(error)) return undefined;
    throw error;
  }
}
