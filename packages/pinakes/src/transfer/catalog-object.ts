/**
 * The object of a catalog's document, and whether it is this document's. The knowledge-base agent wrote one id into the record of a
 * document and another into the key of its object and into its sidecar; a document that is imported keeps the id of its record.
 */
import { invalid, show } from "../domain/errors.ts";
import { catalogObjectKey, catalogPrefix, type CatalogDocumentKeys } from "./catalog-items.ts";
import type { TransferReader } from "./files.ts";
import type { ObjectIndex } from "./object-index.ts";
import { readSidecarBody, sidecarAttributes, sidecarProblem, type Sidecar } from "./sidecar.ts";

export interface CatalogObject {
  readonly path: string | undefined;
  readonly warnings: readonly string[];
}

export class CatalogObjects {
  readonly #objects: ObjectIndex;
  readonly #reader: TransferReader;

  constructor(objects: ObjectIndex, reader: TransferReader) {
    this.#objects = objects;
    this.#reader = reader;
  }

  /** By the key that the record names, or that it would have here. Undefined: it must be searched for, once all others are found. */
  async named(keys: CatalogDocumentKeys, filename: string): Promise<CatalogObject | undefined> {
    const { owner, catalogId, documentId, s3Key } = keys;
    const own = catalogObjectKey(owner, { collection_id: catalogId, document_id: documentId, name: filename });
    const path = this.#objects.byKey(s3Key, own);
    if (path !== undefined) return { path, warnings: await this.#check(path, keys, filename) };
    return this.#candidates(keys, filename).length === 0 ? { path: undefined, warnings: [] } : undefined;
  }

  /** By the file name: of the objects that no record names, the one whose key and sidecar agree that they are this file. */
  async searched(keys: CatalogDocumentKeys, filename: string): Promise<CatalogObject> {
    const folder = catalogPrefix(keys.owner, keys.catalogId);
    const found: string[] = [];
    for (const path of this.#candidates(keys, filename)) {
      const said = await this.#sidecar(path);
      const isComplete = said !== undefined && sidecarAttributes.every((name) => said[name] !== undefined);
      if (!isComplete || sidecarProblem(said, ownerOf(keys, filename)) !== undefined) continue;
      if (`/${path}`.endsWith(`/${folder}${said.document_id}-${filename}`)) found.push(path);
    }
    const [path] = found;
    if (found.length > 1)
      return {
        path: undefined,
        warnings: [`${found.length} objects are called ${show(filename)}, and none has the id of the document.`],
      };
    if (path === undefined) return { path, warnings: [] };
    this.#objects.use(path);
    return { path, warnings: await this.#check(path, keys, filename) };
  }

  /** Bytes that say they are another user's, or another file, are refused; another id of the document is reported. */
  async #check(path: string, keys: CatalogDocumentKeys, filename: string): Promise<readonly string[]> {
    const said = await this.#sidecar(path);
    const problem = said === undefined ? undefined : sidecarProblem(said, ownerOf(keys, filename));
    if (problem !== undefined) throw invalid(`"${path}": its sidecar does not belong to the item: ${problem}.`);
    const inKey = path.slice(path.lastIndexOf("/") + 1, -filename.length - 1);
    const others = [...new Set([inKey, said?.document_id ?? inKey])].filter((id) => id !== keys.documentId);
    if (others.length === 0) return [];
    return [
      `The object has another id than the record: ${others.map(show).join(", ")}. The document keeps ${show(keys.documentId)}.`,
    ];
  }

  #candidates({ owner, catalogId }: CatalogDocumentKeys, filename: string): readonly string[] {
    const folder = catalogPrefix(owner, catalogId);
    return this.#objects.unusedIn(folder).filter((path) => path.endsWith(`-${filename}`));
  }

  async #sidecar(path: string): Promise<Partial<Sidecar> | undefined> {
    const sidecar = this.#objects.sidecarOf(path);
    return sidecar === undefined ? undefined : readSidecarBody(this.#reader.open(sidecar));
  }
}

function ownerOf({ owner, catalogId }: CatalogDocumentKeys, filename: string): Omit<Sidecar, "document_id"> {
  return { user_id: owner, catalog_id: catalogId, filename };
}
