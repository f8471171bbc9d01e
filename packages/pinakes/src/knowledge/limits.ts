/** Every limit of the knowledge feature, with its unit last. Those in `quotas` are configurable. */
import { invalid, show } from "../domain/errors.ts";
import type { Scope } from "../domain/scope.ts";
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
  /** Of a document. */
  allowedUsersMax: 100,
  sensitivityLabelsMax: 20,
  /** Of a collection. */
  accessRulesMax: 20,
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
  /** Collections that one search may name; without names it covers all. */
  searchCollectionsMax: 1_000,
  /** Collections that one graph query may name. */
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
  /** Of a user, apart from collections; pending uploads count. */
  readonly filesPerUserMax: number;
  readonly fileBytesPerUserMax: number;
  readonly catalogHitsMax: number;
  /** Concurrent expensive queries per process: SPARQL, SQL, and aggregates of metrics … */
  readonly queriesMax: number;
  /** … per workspace … */
  readonly queriesPerWorkspaceMax: number;
  /** … and the queue for a slot. */
  readonly queriesWaitingPerWorkspaceMax: number;
  /** Their estimated memory together. */
  readonly queryMemoryBytesMax: number;
  readonly queryMemoryPerWorkspaceBytesMax: number;
  /** The same for searches: of chunks, of rows (`vectors:query`) and of memories … */
  readonly searchesMax: number;
  readonly searchesPerWorkspaceMax: number;
  readonly searchesWaitingPerWorkspaceMax: number;
  /** … for answers, from the end of their search to their last sentence … */
  readonly answersMax: number;
  readonly answersPerWorkspaceMax: number;
  readonly answersWaitingPerWorkspaceMax: number;
  /** … for exports: triples as RDF, tool invocations, whole workspaces … */
  readonly exportsMax: number;
  readonly exportsPerWorkspaceMax: number;
  readonly exportsWaitingPerWorkspaceMax: number;
  /** … and for evaluation runs. */
  readonly evaluationsMax: number;
  readonly evaluationsPerWorkspaceMax: number;
  readonly evaluationsWaitingPerWorkspaceMax: number;
  /** How long any of them waits for a slot before it is refused. */
  readonly placeWaitMsMax: number;
}

export const quotaDefaults: Quotas = Object.freeze({
  descriptionCharsMax: 500,
  fileBytesMax: 52_428_800,
  collectionsPerRepositoryMax: 10_000,
  catalogsPerUserMax: 100,
  documentsPerCatalogMax: 500,
  documentsPerCollectionMax: 1_000_000,
  filesPerUserMax: 100_000,
  fileBytesPerUserMax: 107_374_182_400,
  catalogHitsMax: 20,
  queriesMax: 16,
  queriesPerWorkspaceMax: 4,
  queriesWaitingPerWorkspaceMax: 100,
  queryMemoryBytesMax: 536_870_912,
  queryMemoryPerWorkspaceBytesMax: 268_435_456,
  searchesMax: 128,
  searchesPerWorkspaceMax: 64,
  searchesWaitingPerWorkspaceMax: 1_000,
  answersMax: 32,
  answersPerWorkspaceMax: 8,
  answersWaitingPerWorkspaceMax: 100,
  exportsMax: 16,
  exportsPerWorkspaceMax: 4,
  exportsWaitingPerWorkspaceMax: 20,
  evaluationsMax: 4,
  evaluationsPerWorkspaceMax: 2,
  evaluationsWaitingPerWorkspaceMax: 10,
  placeWaitMsMax: 5_000,
});

/** Upper bounds for numbers of slots and waiters, and for the wait; other quotas have no upper bound. */
const placesMaxMax = 100_000;
const placeWaitMsMaxMax = 600_000;
const isOfPlaces = /^(?:queries|searches|answers|exports|evaluations)(?:Waiting)?(?:PerWorkspace)?Max$/;

/** Slots for expensive work; a process has one set for all features. */
export function openSlots(quotas: Quotas): Slots {
  const patience = () => AbortSignal.timeout(quotas.placeWaitMsMax);
  const unbounded = { memoryBytesMax: Infinity, memoryPerTenantBytesMax: Infinity };
  const make = (
    kind: "queries" | "searches" | "answers" | "exports" | "evaluations",
    called: string,
    memory = unbounded,
  ) => {
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
    answers: make("answers", "answers"),
    exports: make("exports", "exports"),
    evaluations: make("evaluations", "evaluation runs"),
  };
}

/** The configured quotas that differ from the defaults. */
export function readQuotas(input: unknown): Partial<Quotas> {
  if (input === undefined) return {};
  if (!isJsonObject(input)) throw invalid('quotas: must be an object such as { "fileBytesMax": 104857600 }.');
  for (const [name, value] of Object.entries(input)) {
    if (!Object.hasOwn(quotaDefaults, name))
      throw invalid(`quotas.${name}: is not known; known quotas are ${Object.keys(quotaDefaults).join(", ")}.`);
    if (typeof value !== "number" || !Number.isInteger(value) || value < 1)
      throw invalid(`quotas.${name}: must be a whole number from 1, got ${show(value)}.`);
    const max = isOfPlaces.test(name) ? placesMaxMax : name === "placeWaitMsMax" ? placeWaitMsMaxMax : Infinity;
    if (value > max) throw invalid(`quotas.${name}: must be a whole number from 1 to ${max}, got ${show(value)}.`);
  }
  return input;
}

export const dayMs = 86_400_000;
/** How long a deleted collection can be restored. */
export const trashMs = 90 * dayMs;

/** How long a collection that is deleted now can be restored in this workspace. */
export async function trashMsOf(
  deps: {
    readonly trashMs?: number | undefined;
    readonly ownTrashMs?: ((scope: Scope) => Promise<number | undefined>) | undefined;
  },
  scope: Scope,
): Promise<number> {
  return (await deps.ownTrashMs?.(scope)) ?? deps.trashMs ?? trashMs;
}
