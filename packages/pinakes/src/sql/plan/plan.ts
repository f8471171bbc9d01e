/**
 * Chooses how a query is executed. A query that no index serves is refused with the index it needs; in strict mode, so is one that Cosmos
 * DB refuses.
 */
import { invalid } from "../../domain/errors.ts";
import { parsePath } from "../../domain/path.ts";
import type { Prefilter } from "../../domain/prefilter.ts";
import { isSystemProperty } from "../../domain/system-properties.ts";
import type { Partition } from "../../ports/item-store.ts";
import { documentPath, type Expression, type Query } from "../ast.ts";
import type { EvaluationContext } from "../expressions/evaluate.ts";
import type { QueryDefinition, QueryExplanation, QueryStats } from "../types.ts";
import { type Access, accessBy, type Source, sourcesOf } from "./access.ts";
import { type Fact, type Facts, factsOf } from "./facts.ts";
import { cosmosPath, keyOfName, type PathKey, pathKey, pathName } from "./paths.ts";
import { prefilterOfConditions } from "./where-prefilter.ts";

export interface Plan {
  readonly mode: QueryExplanation["mode"];
  readonly access: Access;
  /** Whether WHERE must still be evaluated on the documents. */
  readonly residual: boolean;
  readonly prefilter: Prefilter | undefined;
  readonly partition: QueryStats["partition"];
  readonly advice: string | undefined;
  /** Advice for when the row budget is exhausted. */
  readonly remedy: string;
  /** Equal for plans that read the same data in the same order; a cursor continues only with such a plan. */
  readonly signature: string;
}

export interface PlanInput {
  readonly query: Query;
  readonly definition: QueryDefinition;
  readonly container: string;
  readonly context: EvaluationContext;
  readonly partition: Partition | undefined;
  readonly strict: boolean;
  readonly eventual: boolean;
  /** Indexes that are currently not readable. */
  readonly without: ReadonlySet<string>;
}

/** The possible plans, best first. */
export function plansFor(input: PlanInput): readonly Plan[] {
  const { query, definition, context } = input;
  const facts = withPartition(storedFacts(factsOf(query.where, context), definition), input);
  const sources = sourcesOf(definition.partitionKey, definition.indexes).filter(
    ({ index }) => index === undefined || !input.without.has(index),
  );
  requireScanIndex(definition);
  const found = sources.flatMap((source) => accessBy(source, facts, query.orderBy) ?? []);
  if (facts.never) return [emptyPlan(sources[0] as Source, query)];
  const usable = found.filter(
    (access) => access.lookedUp.length > 0 || access.source.index === definition.scanIndex || isOrdered(access, query),
  );
  const allowed = input.strict ? strictly(usable, input, facts) : usable;
  if (allowed.length === 0) throw refusal(input, facts, "no index serves it");
  return allowed
    .toSorted((a, b) => compareRanks(rankOf(a, usable, input), rankOf(b, usable, input)))
    .map((access) => planOf(access, input, facts));
}

/** An index contains the stored document, which has no _etag and no _ts. */
function storedFacts(facts: Facts, { systemProperties }: QueryDefinition): Facts {
  if (systemProperties !== true) return facts;
  return { ...facts, of: new Map([...facts.of].filter(([, [first]]) => !isSystemProperty(first?.path[0] as string))) };
}

/** The caller's partition is a condition like any other, but not part of WHERE: it has no number there. */
function withPartition(facts: Facts, { partition, definition }: PlanInput): Facts {
  if (partition === undefined) return facts;
  const given = definition.partitionKey.map((name, i): [PathKey, readonly Fact[]] => [
    keyOfName(name),
    [{ kind: "among", condition: -1, path: parsePath(name), exact: true, values: [partition[i] as string] }],
  ]);
  return { ...facts, of: new Map([...facts.of, ...given]) };
}

function requireScanIndex({ name, scanIndex, indexes }: QueryDefinition): void {
  if (scanIndex === undefined || (Object.hasOwn(indexes, scanIndex) && indexes[scanIndex]?.partition.length === 0))
    return;
  throw invalid(
    `Container "${name}": the scan index "${scanIndex}" must be an index with partition: [], which contains every item.`,
  );
}

function isOrdered({ order }: Access, { orderBy }: Query): boolean {
  return orderBy.length > 0 && order !== "none";
}

function strictly(usable: readonly Access[], input: PlanInput, facts: Facts): readonly Access[] {
  const { query } = input;
  const looked = query.where === undefined ? usable : usable.filter(({ lookedUp }) => lookedUp.length > 0);
  if (looked.length === 0) throw refusal(input, facts, "strict mode refuses a filter on properties without an index");
  if (query.orderBy.length < 2) return looked;
  const exactly = looked.filter(({ order }) => order === "exactly served");
  if (exactly.length === 0)
    throw refusal(
      input,
      facts,
      "strict mode needs an index with exactly the properties of ORDER BY, in the same directions or all reversed",
    );
  return exactly;
}

function refusal({ query, container }: PlanInput, facts: Facts, why: string) {
  return invalid(`query: ${why} in container "${container}". ${remedyOf(query, facts)}`);
}

function remedyOf(query: Query, facts: Facts): string {
  const index = indexAdvice(query, facts);
  if (index !== undefined) return `Add the index ${index}, or compare the partition key by equality.`;
  return 'Compare the partition key or an indexed property by equality; an index { partition: [], sort: ["id"] } would allow a full scan.';
}

/** Compared element by element; smaller is better. */
function rankOf(
  access: Access,
  usable: readonly Access[],
  { query, eventual, definition }: PlanInput,
): readonly number[] {
  const { source, lookedUp, legs } = access;
  const some = usable.some((other) => other.lookedUp.length > 0);
  // A full read in the right order is worse than a lookup that must be sorted.
  const ordered = isOrdered(access, query) && (lookedUp.length > 0 || !some) ? 0 : 1;
  const partition = source.index === undefined;
  return [
    query.orderBy.length > 0 ? ordered : 0,
    // If indexes are eventually consistent, the partition itself is preferred over a shorter range.
    eventual && partition && legs.length === 1 ? 0 : 1,
    -lookedUp.length,
    partition ? 0 : 1,
    legs.length,
    source.index === definition.scanIndex ? 0 : 1,
  ];
}

function compareRanks(a: readonly number[], b: readonly number[]): number {
  return a.map((value, i) => value - (b[i] as number)).find((difference) => difference !== 0) ?? 0;
}

function planOf(access: Access, input: PlanInput, facts: Facts): Plan {
  const { query, context, definition } = input;
  const { source, legs, decided, order, lookedUp } = access;
  const open = facts.conditions.filter((_, i) => !decided.has(i));
  const given = input.partition === undefined || definition.partitionKey.every((name) => lookedUp.includes(name));
  const residual = open.length > 0 || !given || definition.among !== undefined;
  const index = indexAdvice(query, facts);
  const mode = modeOf(query, access, residual);
  const scanned = lookedUp.length === 0 && query.where !== undefined;
  const unserved = query.orderBy.length > 0 && order === "none";
  const why = unserved ? "ORDER BY is sorted in memory" : "Every item is read";
  const cosmos = query.orderBy.length > 1 && order === "none" ? " Cosmos DB would refuse this query without it." : "";
  const todo =
    index === undefined
      ? "compare a property by equality so that an index can serve the query."
      : `add the index ${index} to serve this query.${cosmos}`;
  return {
    mode,
    access,
    residual,
    prefilter: prefilterOfConditions(open, query.joins, context),
    partition: partitionOf(source, legs.length),
    advice: unserved || scanned ? `${why}; ${todo}` : undefined,
    remedy: remedyOf(query, facts),
    signature: JSON.stringify([mode, source, legs, access.reverse]),
  };
}

function partitionOf({ index }: Source, legs: number): QueryStats["partition"] {
  if (index !== undefined) return "all";
  return legs === 1 ? "one" : "several";
}

function modeOf(query: Query, { legs, order }: Access, residual: boolean): Plan["mode"] {
  if (query.aggregates || query.groupBy.length > 0 || query.distinct)
    return isPlainCount(query) && !residual ? "count" : "group";
  if (query.orderBy.length === 0) return "stream";
  if (order === "none") return "sort";
  return legs.length === 1 ? "stream" : "merge";
}

/** Only COUNT(1): no document needs to be read. */
function isPlainCount({ select, groupBy, joins, distinct }: Query): boolean {
  if (select.kind === "star" || groupBy.length > 0 || joins.length > 0 || distinct) return false;
  const counts = ({ kind, ...rest }: Expression) => {
    const { name, argument } = rest as { name?: string; argument?: Expression };
    return kind === "aggregate" && name === "COUNT" && argument?.kind === "literal" && argument.value !== undefined;
  };
  return select.kind === "value"
    ? counts(select.expression)
    : select.items.every(({ expression }) => counts(expression));
}

function emptyPlan(source: Source, query: Query): Plan {
  const access: Access = { source, legs: [], lookedUp: [], decided: new Set(), order: "served", reverse: false };
  const mode = query.aggregates || query.groupBy.length > 0 ? "group" : "empty";
  return {
    mode,
    access,
    residual: false,
    prefilter: undefined,
    partition: "one",
    advice: undefined,
    remedy: "",
    signature: "empty",
  };
}

/** The index that would serve a query, in our notation and as a Cosmos DB composite index. */
interface SuggestedPath {
  readonly path: readonly string[];
  readonly descending: boolean;
}

/** Undefined if the query neither compares nor orders by anything an index could hold. */
function indexAdvice(query: Query, facts: Facts): string | undefined {
  const { partition, sort } = suggestion(query, facts);
  if (partition.length + sort.length === 0) return undefined;
  const ours = `{ partition: [${partition.map(({ path }) => JSON.stringify(pathName(path))).join(", ")}], sort: [${sort.map(ourSort).join(", ")}] }`;
  const composite = [...partition, ...sort].map(
    ({ path, descending }) =>
      `{ "path": ${JSON.stringify(cosmosPath(path))}, "order": "${descending ? "descending" : "ascending"}" }`,
  );
  return composite.length > 1 ? `${ours} (in Cosmos DB the composite index [${composite.join(", ")}])` : ours;
}

function ourSort({ path, descending }: SuggestedPath): string {
  const name = JSON.stringify(pathName(path));
  return descending ? `{ path: ${name}, order: "desc" }` : name;
}

/** Equality first, then the sort order, or one range if there is none. */
function suggestion(
  query: Query,
  facts: Facts,
): { readonly partition: readonly SuggestedPath[]; readonly sort: readonly SuggestedPath[] } {
  const known = [...facts.of.values()].flat();
  const distinct = (paths: readonly (readonly string[])[]) =>
    paths.filter((path, i) => paths.findIndex((other) => pathKey(other) === pathKey(path)) === i);
  const partition = distinct(known.filter(({ kind }) => kind === "among").map(({ path }) => path));
  const isFixed = (path: readonly string[]) => partition.some((other) => pathKey(other) === pathKey(path));
  const ordered = query.orderBy.flatMap(({ expression, descending }) => {
    const path = documentPath(expression);
    return path === undefined || isFixed(path) ? [] : [{ path, descending }];
  });
  const ranges = distinct(known.filter(({ kind }) => kind === "range").map(({ path }) => path)).filter(
    (path) => !isFixed(path),
  );
  const rest = ordered.length > 0 ? ordered : ranges.slice(0, 1).map((path) => ({ path, descending: false }));
  return { partition: partition.map((path) => ({ path, descending: false })), sort: rest };
}
