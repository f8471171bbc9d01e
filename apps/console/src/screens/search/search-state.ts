/** Search parameters of the search lab, and the request they stand for. */
import { collectionOfRef } from "../../api/collection-ref.ts";
import type { LabQuestion } from "../../api/explained-search.ts";
import { listParam, numberParam, oneOfParam, textParam } from "../../lib/search-params.ts";

export const modes = ["hybrid", "vector", "keyword", "graph"] as const;
export const fusions = ["convex", "rrf"] as const;
const labTabs = ["try", "evaluations"] as const;

export const limitDefault = 10;

/** Settings of one search: one of the two that are compared. */
export interface Settings {
  readonly mode?: (typeof modes)[number] | undefined;
  readonly limit?: number | undefined;
  readonly min?: number | undefined;
  /** The JSON as typed. */
  readonly filter?: string | undefined;
  readonly asof?: string | undefined;
  readonly fusion?: (typeof fusions)[number] | undefined;
  readonly weight?: number | undefined;
  readonly diversity?: number | undefined;
  readonly hops?: number | undefined;
  /** The user to search as; admins only. */
  readonly user?: string | undefined;
  /** Comma-separated. */
  readonly groups?: string | undefined;
}

export interface LabSearch extends Settings {
  readonly tab?: (typeof labTabs)[number] | undefined;
  readonly q?: string | undefined;
  /** Collections; all accessible ones when absent. */
  readonly in?: readonly string[] | undefined;
  /** The second settings, when comparing. */
  readonly b?: Settings | undefined;
  /** The open evaluation. */
  readonly evaluation?: string | undefined;
  /** The job_id of the run whose questions are shown. */
  readonly run?: string | undefined;
}

export function readLabSearch(search: Readonly<Record<string, unknown>>): LabSearch {
  const b = search["b"];
  return {
    tab: oneOfParam(search["tab"], labTabs),
    q: textParam(search["q"]),
    in: listParam(search["in"]),
    ...readSettings(search),
    b:
      typeof b === "object" && b !== null && !Array.isArray(b) ? readSettings(b as Record<string, unknown>) : undefined,
    evaluation: textParam(search["evaluation"]),
    run: textParam(search["run"]),
  };
}

function readSettings(search: Readonly<Record<string, unknown>>): Settings {
  const { filter } = search;
  return {
    mode: oneOfParam(search["mode"], modes),
    limit: numberParam(search["limit"]),
    min: numberParam(search["min"]),
    // The router parses JSON-like text.
    filter: typeof filter === "object" && filter !== null ? JSON.stringify(filter) : textParam(filter),
    asof: textParam(search["asof"]),
    fusion: oneOfParam(search["fusion"], fusions),
    weight: numberParam(search["weight"]),
    diversity: numberParam(search["diversity"]),
    hops: numberParam(search["hops"]),
    user: textParam(search["user"]),
    groups: textParam(search["groups"]),
  };
}

export function settingsOf({
  mode,
  limit,
  min,
  filter,
  asof,
  fusion,
  weight,
  diversity,
  hops,
  user,
  groups,
}: Settings): Settings {
  return { mode, limit, min, filter, asof, fusion, weight, diversity, hops, user, groups };
}

/** An invalid filter is reported before anything is sent. */
export class FilterError extends Error {
  override readonly name = "FilterError";
}

export function parseFilter(text: string | undefined): Readonly<Record<string, unknown>> | undefined {
  if (text === undefined || text.trim() === "") return undefined;
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (cause) {
    throw new FilterError(cause instanceof Error ? cause.message : String(cause), { cause });
  }
  if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed))
    throw new FilterError('{ "year": { "gte": 2020 } }');
  return parsed as Readonly<Record<string, unknown>>;
}

/** Undefined without a query. Out-of-range values are sent unchanged: the server reports them. */
export function questionOf(
  q: string | undefined,
  refs: readonly string[] | undefined,
  settings: Settings,
): LabQuestion | undefined {
  if (q === undefined || q.trim() === "") return undefined;
  const { mode, limit, min, asof, fusion, weight, diversity, hops, user, groups } = settings;
  const filter = parseFilter(settings.filter);
  const collections = refs?.map(collectionOfRef).filter((one) => one !== undefined);
  return {
    query: q,
    explain: true,
    mode: mode ?? "hybrid",
    limit: limit ?? limitDefault,
    ...(collections === undefined || collections.length === 0
      ? {}
      : { collections: collections.map(({ rid, cid }) => ({ repository: rid, collection: cid })) }),
    ...(filter === undefined ? {} : { filter }),
    ...(min === undefined ? {} : { min_score: min }),
    ...(asof === undefined ? {} : { as_of: asof }),
    ...(fusion === undefined ? {} : { fusion }),
    ...(weight === undefined ? {} : { vector_weight: weight }),
    ...(diversity === undefined ? {} : { diversity }),
    ...(hops === undefined ? {} : { graph: { hops } }),
    ...(user === undefined
      ? {}
      : { as_user: { user_id: user, ...(groups === undefined ? {} : { groups: groupList(groups) }) } }),
  };
}

function groupList(text: string): readonly string[] {
  return text
    .split(",")
    .map((group) => group.trim())
    .filter((group) => group !== "");
}
