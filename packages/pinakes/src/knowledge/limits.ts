/** Every limit of the knowledge side, with its unit last. Those in `quotas` can be changed by configuration. */
import { invalid, show } from "../domain/errors.ts";
import { isJsonObject } from "../domain/json.ts";

export const knowledgeLimits = Object.freeze({
  idCharsMax: 128,
  nameCharsMax: 100,
  tagsMax: 50,
  tagCharsMax: 50,
  customFieldsBytesMax: 10_240,
  groupsMax: 100,
  groupCharsMax: 256,
  pipelinesMax: 10,
  /** Of a whole record as JSON. */
  recordBytesMax: 65_536,
  fileNameCharsMax: 255,
  documentMetadataBytesMax: 10_240,
  sourceCharsMax: 1_024,
  uploadFilesMax: 100,
  searchHitsDefault: 10,
  searchHitsMax: 1_000,
  searchCollectionsMax: 50,
  queryCharsMax: 10_000,
  citationsMax: 100,
  pageItemsDefault: 20,
  pageItemsMax: 100,
  /** Versions of a document whose bytes are kept. */
  versionsKeptMax: 10,
});

export interface Quotas {
  readonly descriptionCharsMax: number;
  readonly fileBytesMax: number;
  readonly collectionsPerRepositoryMax: number;
  readonly catalogsPerUserMax: number;
  readonly documentsPerCatalogMax: number;
  readonly documentsPerCollectionMax: number;
  readonly catalogHitsMax: number;
}

export const quotaDefaults: Quotas = Object.freeze({
  descriptionCharsMax: 500,
  fileBytesMax: 52_428_800,
  collectionsPerRepositoryMax: 10_000,
  catalogsPerUserMax: 100,
  documentsPerCatalogMax: 500,
  documentsPerCollectionMax: 1_000_000,
  catalogHitsMax: 20,
});

/** Those of the configuration that differ from the defaults. */
export function readQuotas(input: unknown): Partial<Quotas> {
  if (input === undefined) return {};
  if (!isJsonObject(input)) throw invalid('quotas: must be an object such as { "fileBytesMax": 104857600 }.');
  for (const [name, value] of Object.entries(input)) {
    if (!Object.hasOwn(quotaDefaults, name)) throw invalid(`quotas.${name}: is not known; there are ${Object.keys(quotaDefaults).join(", ")}.`);
    if (typeof value !== "number" || !Number.isInteger(value) || value < 1) throw invalid(`quotas.${name}: must be a whole number from 1, got ${show(value)}.`);
  }
  return input;
}

export const dayMs = 86_400_000;
/** How long a deleted collection can be had back. */
export const trashMs = 90 * dayMs;
