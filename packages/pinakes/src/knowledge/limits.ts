/** Every limit of the knowledge side, with its unit last. Those in `quotas` can be changed by configuration. */
import { invalid, show } from "../domain/errors.ts";
import { isJsonObject } from "../domain/json.ts";
import { QuerySlots, type Slots } from "../domain/query-slots.ts";

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
  catalogHitsDefault: 5,
  /** That one search names; without names it is over all there are. */
  searchCollectionsMax: 1_000,
  /** That one question of triples names. */
  graphCollectionsMax: 50,
  queryCharsMax: 10_000,
  citationsMax: 100,
  pageItemsDefault: 20,
  pageItemsMax: 100,
  /** Of a collection that nobody uses. */
  expiryDaysMax: 365,
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
  /** Queries that compute at the same time in one process: SPARQL, SQL, and aggregates of metrics … */
  readonly queriesMax: number;
  /** … of these, those of one workspace … */
  readonly queriesPerWorkspaceMax: number;
  /** … and those that wait for a place. */
  readonly queriesWaitingPerWorkspaceMax: number;
  /** What they keep in memory together, as estimated. */
  readonly queryMemoryBytesMax: number;
  readonly queryMemoryPerWorkspaceBytesMax: number;
  /** The same of searches: of passages, of rows (`vectors:query`) and of memories … */
  readonly searchesMax: number;
  readonly searchesPerWorkspaceMax: number;
  readonly searchesWaitingPerWorkspaceMax: number;
  /** … of exports: triples as RDF, tool invocations, whole workspaces … */
  readonly exportsMax: number;
  readonly exportsPerWorkspaceMax: number;
  readonly exportsWaitingPerWorkspaceMax: number;
  /** … and of runs of evaluations. */
  readonly evaluationsMax: number;
  readonly evaluationsPerWorkspaceMax: number;
  readonly evaluationsWaitingPerWorkspaceMax: number;
  /** How long any of them waits for a place before it is refused. */
  readonly placeWaitMsMax: number;
}

export const quotaDefaults: Quotas = Object.freeze({
  descriptionCharsMax: 500,
  fileBytesMax: 52_428_800,
  collectionsPerRepositoryMax: 10_000,
  catalogsPerUserMax: 100,
  documentsPerCatalogMax: 500,
  documentsPerCollectionMax: 1_000_000,
  catalogHitsMax: 20,
  queriesMax: 16,
  queriesPerWorkspaceMax: 4,
  queriesWaitingPerWorkspaceMax: 100,
  queryMemoryBytesMax: 536_870_912,
  queryMemoryPerWorkspaceBytesMax: 268_435_456,
  searchesMax: 128,
  searchesPerWorkspaceMax: 64,
  searchesWaitingPerWorkspaceMax: 1_000,
  exportsMax: 16,
  exportsPerWorkspaceMax: 4,
  exportsWaitingPerWorkspaceMax: 20,
  evaluationsMax: 4,
  evaluationsPerWorkspaceMax: 2,
  evaluationsWaitingPerWorkspaceMax: 10,
  placeWaitMsMax: 5_000,
});

/** Of places, and of those who wait for one, and for how long; other quotas have no upper bound. */
const placesMaxMax = 100_000;
const placeWaitMsMaxMax = 600_000;
const isOfPlaces = /^(?:queries|searches|exports|evaluations)(?:Waiting)?(?:PerWorkspace)?Max$/;

/** The places of everything that computes much, of which a process has one set for all features. */
export function openSlots(quotas: Quotas): Slots {
  const patience = () => AbortSignal.timeout(quotas.placeWaitMsMax);
  const unbounded = { memoryBytesMax: Infinity, memoryPerTenantBytesMax: Infinity };
  const make = (kind: "queries" | "searches" | "exports" | "evaluations", called: string, memory = unbounded) => {
    const counts = {
      placesMax: quotas[`${kind}Max`],
      placesPerTenantMax: quotas[`${kind}PerWorkspaceMax`],
      waitingPerTenantMax: quotas[`${kind}WaitingPerWorkspaceMax`],
    };
    return new QuerySlots({ ...counts, ...memory }, patience, called);
  };
  return {
    queries: make("queries", "queries", {
      memoryBytesMax: quotas.queryMemoryBytesMax,
      memoryPerTenantBytesMax: quotas.queryMemoryPerWorkspaceBytesMax,
    }),
    searches: make("searches", "searches"),
    exports: make("exports", "exports"),
    evaluations: make("evaluations", "evaluation runs"),
  };
}

/** Those of the configuration that differ from the defaults. */
export function readQuotas(input: unknown): Partial<Quotas> {
  if (input === undefined) return {};
  if (!isJsonObject(input)) throw invalid('quotas: must be an object such as { "fileBytesMax": 104857600 }.');
  for (const [name, value] of Object.entries(input)) {
    if (!Object.hasOwn(quotaDefaults, name))
      throw invalid(`quotas.${name}: is not known; there are ${Object.keys(quotaDefaults).join(", ")}.`);
    if (typeof value !== "number" || !Number.isInteger(value) || value < 1)
      throw invalid(`quotas.${name}: must be a whole number from 1, got ${show(value)}.`);
    const max = isOfPlaces.test(name) ? placesMaxMax : name === "placeWaitMsMax" ? placeWaitMsMaxMax : Infinity;
    if (value > max) throw invalid(`quotas.${name}: must be a whole number from 1 to ${max}, got ${show(value)}.`);
  }
  return input;
}

export const dayMs = 86_400_000;
/** How long a deleted collection can be had back. */
export const trashMs = 90 * dayMs;
