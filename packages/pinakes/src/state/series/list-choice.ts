/** Chooses the index of a list: the one that reads the fewest unneeded rows. */
import { invalid, show } from "../../domain/errors.ts";
import type { JsonScalar } from "../../domain/json.ts";
import type { Series } from "./series.ts";

type Values = Readonly<Record<string, JsonScalar>>;

/** One time order over all days. */
interface WholeIndex {
  readonly index: string;
  /** The fields that a list must filter by to use it. */
  readonly by: readonly string[];
}

/** The composite index of the original schema: it is partitioned by day, so a list goes through it day after day. */
interface DailyIndex extends WholeIndex {
  /** Finds the days that have rows: one time order over all days. */
  readonly days: WholeIndex;
}

export type ListIndex = WholeIndex | DailyIndex;

/** Equality filters: those served by the index, and those evaluated per row. */
export interface Choice {
  readonly index: string;
  readonly equals: Values;
  readonly filter: Values;
  /** For an index that is read day by day: how the next day is found. */
  readonly days: { readonly index: string; readonly equals: Values } | undefined;
}

/** The first of `indexes` whose fields are all filtered by; otherwise the time order of all rows. */
export function chooseIndex(
  tenant: string,
  series: Series,
  wanted: Readonly<Record<string, JsonScalar | undefined>>,
  indexes: readonly ListIndex[],
): Choice {
  const given = Object.entries(wanted).filter((entry): entry is [string, JsonScalar] => entry[1] !== undefined);
  for (const [name, value] of given) {
    if (typeof value !== "string") throw invalid(`${name}: must be a string, got ${show(value)}.`);
  }
  const names = new Set(given.map(([name]) => name));
  const valuesOf = (fields: readonly string[]): Values =>
    Object.fromEntries(given.filter(([name]) => fields.includes(name)));
  const workspace = { workspace_id: tenant };
  const chosen = indexes.find(({ by }) => by.every((field) => names.has(field)));
  if (chosen === undefined)
    return { index: series.timeIndex, equals: workspace, filter: valuesOf([...names]), days: undefined };
  const filter = valuesOf([...names].filter((name) => !chosen.by.includes(name)));
  if (!("days" in chosen)) return { index: chosen.index, equals: valuesOf(chosen.by), filter, days: undefined };
  const { index, by } = chosen.days;
  return {
    index: chosen.index,
    equals: { ...workspace, ...valuesOf(chosen.by) },
    filter,
    days: { index, equals: valuesOf(by) },
  };
}
