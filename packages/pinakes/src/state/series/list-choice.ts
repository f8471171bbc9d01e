/** Which index answers a list: the one that reads the fewest rows nobody asked for. */
import { invalid, show } from "../../domain/errors.ts";
import type { JsonScalar } from "../../domain/json.ts";
import type { Series } from "./series.ts";

type Values = Readonly<Record<string, JsonScalar>>;

/** One order by time over all days. */
interface WholeIndex {
  readonly index: string;
  /** What a list must ask for, to be answered by it. */
  readonly by: readonly string[];
}

/** The source's composite index: in it the rows of one day lie together, so a list goes through it day after day. */
interface DailyIndex extends WholeIndex {
  /** Tells which days have rows at all; it is one order by time over all days. */
  readonly days: WholeIndex;
}

export type ListIndex = WholeIndex | DailyIndex;

/** What is asked for by equality: what the index knows, and what is looked at row by row. */
export interface Choice {
  readonly index: string;
  readonly equals: Values;
  readonly filter: Values;
  /** Where the index is to be read day by day: how the next day is found. */
  readonly days: { readonly index: string; readonly equals: Values } | undefined;
}

/** The first of `indexes` that all of its fields are asked for; where there is none, the order of all rows by time. */
export function chooseIndex(
  tenant: string,
  series: Series,
  wanted: Readonly<Record<string, JsonScalar | undefined>>,
  indexes: readonly ListIndex[],
): Choice {
  const given = Object.entries(wanted).filter((entry): entry is [string, JsonScalar] => entry[1] !== undefined);
  for (const [name, value] of given) {
    if (typeof value !== "string") throw invalid(`${name}: must be a text, got ${show(value)}.`);
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
