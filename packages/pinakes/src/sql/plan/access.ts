/**
 * One access path: the partition itself or an index, with the part of WHERE that it looks up and whether it returns rows in the order of
 * ORDER BY.
 */
import { isNoValue } from "../../domain/partition-value.ts";
import { withinUtf8Bytes, type JsonScalar } from "../../domain/json.ts";
import type { IndexDefinition, Range } from "../../ports/item-store.ts";
import { documentPath, type OrderKey } from "../ast.ts";
import type { Fact, Facts } from "./facts.ts";
import { sqlLimits } from "../limits.ts";
import { keyOfName, pathKey, type PathKey } from "./paths.ts";

/** An index, or (without a name) the partition, which is ordered by id. */
export interface Source {
  readonly index: string | undefined;
  readonly partition: readonly string[];
  readonly sort: readonly { readonly path: string; readonly descending: boolean }[];
}

/** One contiguous range of an access path. */
export interface Leg {
  readonly equals: Readonly<Record<string, JsonScalar>>;
  readonly range?: Range;
}

export interface Access {
  readonly source: Source;
  readonly legs: readonly Leg[];
  /** Names of the paths that are looked up. */
  readonly lookedUp: readonly string[];
  /** Conditions of WHERE that the legs fully decide. */
  readonly decided: ReadonlySet<number>;
  readonly order: "none" | "served" | "exactly served";
  readonly reverse: boolean;
}

export function sourcesOf(
  partitionKey: readonly string[],
  indexes: Readonly<Record<string, IndexDefinition>>,
): readonly Source[] {
  const sort = (entry: IndexDefinition["sort"][number]) =>
    typeof entry === "string"
      ? { path: entry, descending: false }
      : { path: entry.path, descending: entry.order === "desc" };
  return [
    { index: undefined, partition: partitionKey, sort: [{ path: "id", descending: false }] },
    ...Object.entries(indexes).map(([index, definition]) => ({
      index,
      partition: definition.partition,
      sort: definition.sort.map(sort),
    })),
  ];
}

/** Undefined if WHERE does not determine the source's partition. */
export function accessBy(source: Source, facts: Facts, orderBy: readonly OrderKey[]): Access | undefined {
  const lookedUp: string[] = [];
  const decided = new Set<number>();
  let legs: readonly Leg[] = [{ equals: {} }];
  const fixed = new Set<PathKey>();
  const look = (name: string, legsMax: number): boolean => {
    const fact = amongOf(facts, name, source.index === undefined);
    if (fact === undefined || legs.length * fact.values.length > legsMax) return false;
    legs = legs.flatMap((leg) => fact.values.map((value) => ({ ...leg, equals: { ...leg.equals, [name]: value } })));
    lookedUp.push(name);
    fixed.add(keyOfName(name));
    if (fact.exact) decided.add(fact.condition);
    return true;
  };
  if (!source.partition.every((name) => look(name, sqlLimits.partitionsMax))) return undefined;
  let used = 0;
  if (source.index !== undefined) {
    while (
      used < source.sort.length &&
      look((source.sort[used] as { path: string }).path, sqlLimits.mergedPartitionsMax)
    )
      used += 1;
  }
  const next = source.sort[used];
  const found = next === undefined ? undefined : rangeOf(facts, next.path, source.index === undefined);
  if (next !== undefined && found !== undefined) {
    legs = legs.map((leg) => ({ ...leg, range: found.range }));
    lookedUp.push(next.path);
    for (const condition of found.decided) decided.add(condition);
  }
  return { source, legs, lookedUp, decided, ...orderOf(source, used, fixed, orderBy, legs.length) };
}

/** A partition specified by the caller may contain null or no value (`optionalKey`); WHERE alone never selects one. */
function amongOf(facts: Facts, name: string, partition: boolean): Extract<Fact, { kind: "among" }> | undefined {
  const found = facts.of.get(keyOfName(name))?.filter((fact) => fact.kind === "among") ?? [];
  const best = found.toSorted((a, b) => a.values.length - b.values.length)[0];
  if (best === undefined) return undefined;
  if (partition) return best.values.includes(null) && best.condition >= 0 ? undefined : best;
  return best.values.some(isNoValue) ? undefined : best;
}

/** Longer ids are stored under a hash; bounds this short can be told apart from them by their prefix. */
const idBoundBytesMax = 180;

function rangeOf(
  facts: Facts,
  name: string,
  ofIds: boolean,
): { readonly range: Range; readonly decided: readonly number[] } | undefined {
  const known = facts.of.get(keyOfName(name)) ?? [];
  const ranges = known.filter((fact) => fact.kind === "range");
  if (ofIds) {
    // An id is looked up as a range from itself to itself.
    const one = known.find((fact) => fact.kind === "among" && fact.values.length === 1);
    const [id] = one?.kind === "among" ? one.values : [];
    if (one !== undefined && typeof id === "string" && withinUtf8Bytes(id, idBoundBytesMax))
      return { range: { gte: id, lte: id }, decided: [one.condition] };
    const fits = (value: unknown): boolean => typeof value === "string" && withinUtf8Bytes(value, idBoundBytesMax);
    return combine(ranges.filter(({ range }) => Object.values(range).every(fits)));
  }
  return combine(ranges);
}

/** Uses the first lower and the first upper bound, or the first prefix. The others are evaluated on the documents. */
function combine(
  facts: readonly Extract<Fact, { kind: "range" }>[],
): { readonly range: Range; readonly decided: readonly number[] } | undefined {
  const [first] = facts;
  if (first === undefined) return undefined;
  const decided = (used: readonly Fact[]) => used.filter(({ exact }) => exact).map(({ condition }) => condition);
  const prefix = facts.find(({ range }) => range.prefix !== undefined);
  if (prefix !== undefined) return { range: prefix.range, decided: decided([prefix]) };
  const hasLower = ({ gt, gte }: Range) => gt !== undefined || gte !== undefined;
  const hasUpper = ({ lt, lte }: Range) => lt !== undefined || lte !== undefined;
  const both = hasLower(first.range) && hasUpper(first.range);
  const other = both
    ? undefined
    : facts.find(({ range }) =>
        hasLower(first.range) ? hasUpper(range) && !hasLower(range) : hasLower(range) && !hasUpper(range),
      );
  const type = (range: Range) => typeof Object.values(range)[0];
  if (other === undefined || type(other.range) !== type(first.range))
    return { range: first.range, decided: decided([first]) };
  return { range: { ...first.range, ...other.range }, decided: decided([first, other]) };
}

/** ORDER BY keys that a leg fixes do not affect the order; the others must be the sort paths that follow. */
function orderOf(
  source: Source,
  used: number,
  fixed: ReadonlySet<PathKey>,
  orderBy: readonly OrderKey[],
  legs: number,
): { readonly order: Access["order"]; readonly reverse: boolean } {
  const none = { order: "none", reverse: false } as const;
  const keys: { path: PathKey; descending: boolean }[] = [];
  for (const { expression, descending } of orderBy) {
    const path = documentPath(expression);
    if (path === undefined) return none;
    const key = pathKey(path);
    if (!fixed.has(key) && !keys.some((known) => known.path === key)) keys.push({ path: key, descending });
  }
  if (legs > sqlLimits.mergedPartitionsMax) return none;
  const rest = source.sort.slice(used);
  const reverse = keys.length > 0 && keys[0]?.descending !== rest[0]?.descending;
  const matches = keys.every(({ path, descending }, i) => {
    const sort = rest[i];
    return sort !== undefined && keyOfName(sort.path) === path && (sort.descending !== descending) === reverse;
  });
  if (!matches) return none;
  return { order: keys.length === rest.length ? "exactly served" : "served", reverse };
}
