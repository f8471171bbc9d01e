/**
 * From a caller's query to one contiguous key range of one index. A query that no index can answer is rejected, naming an index that would.
 */
import { PinakesError, invalid, show } from "../domain/errors.ts";
import { compileFilter, type Predicate } from "../domain/filter.ts";
import { isJsonObject, withinUtf8Bytes, type JsonScalar } from "../domain/json.ts";
import { limits } from "../domain/limits.ts";
import { allOf, boundedPrefilter, prefilterOf, type Prefilter } from "../domain/prefilter.ts";
import type { Query, Range } from "../ports/item-store.ts";
import type { CompiledContainer, CompiledIndex, NamedPath } from "./compiled-container.ts";
import type { ScanRange } from "./item-engine.ts";
import { afterPrefix, encodeStringPrefix, encodeValue, nextKey, requireWellFormed } from "./key-encoding.ts";
import { checkPartition, partitionText } from "./prepare.ts";

export interface QueryPlan {
  readonly range: ScanRange;
  readonly reverse: boolean;
  readonly predicate: Predicate | undefined;
  readonly prefilter: Prefilter | undefined;
  readonly limit: number;
  /** What a cursor is bound to: everything but limit, cursor, session and hints. */
  readonly fingerprint: string;
}

export function planQuery(container: CompiledContainer, tenant: string, query: Query): QueryPlan {
  if (!isJsonObject(query) || !isJsonObject(query.equals))
    throw invalid("A query needs `equals`: the values of the index's partition paths.");
  if (query.order !== undefined && query.order !== "asc" && query.order !== "desc")
    throw invalid(`order: must be "asc" or "desc", got ${show(query.order)}.`);
  const predicate = query.filter === undefined ? undefined : compileFilter(query.filter);
  const range =
    query.index === undefined
      ? partitionRange(container, tenant, query)
      : indexRange(requireIndex(container, query.index), tenant, query);
  return {
    range,
    reverse: query.order === "desc",
    predicate,
    prefilter: boundedPrefilter(
      allOf([query.prefilter, query.filter === undefined ? undefined : prefilterOf(query.filter)]),
    ),
    limit: checkLimit(query.limit),
    fingerprint: JSON.stringify([
      container.name,
      query.index ?? null,
      // A cursor is a position in one order: it becomes invalid when the definition changes that order.
      query.index === undefined ? null : container.definition.indexes[query.index],
      Object.entries(query.equals).toSorted(([a], [b]) => (a < b ? -1 : 1)),
      query.range ?? null,
      query.order ?? "asc",
      query.filter ?? null,
    ]),
  };
}

export function checkLimit(limit: number | undefined): number {
  if (limit === undefined) return limits.pageItemsDefault;
  if (Number.isInteger(limit) && limit >= 1 && limit <= limits.pageItemsMax) return limit;
  throw invalid(`limit: must be a whole number from 1 to ${limits.pageItemsMax}, got ${show(limit)}.`);
}

function requireIndex(container: CompiledContainer, name: string): CompiledIndex {
  if (typeof name !== "string") throw invalid(`index: must be the name of an index, got ${show(name)}.`);
  const index = container.indexes.find((candidate) => candidate.name === name);
  if (index !== undefined) return index;
  const known = container.indexes.map((candidate) => `"${candidate.name}"`).join(", ") || "none";
  throw invalid(
    `Container "${container.name}" has no index "${name}" (declared: ${known}). Declare it in the container's indexes, or leave \`index\` out to read one partition.`,
  );
}

/** The rest of the range after a page that ended at `position`. */
export function resumeAfter(plan: QueryPlan, position: string): ScanRange {
  const { range } = plan;
  if (range.kind === "partition") {
    // Ids contain no control characters, so nothing lies between an id and the id followed by U+0001.
    return plan.reverse ? { ...range, upper: position } : { ...range, lower: `${position}\u0001` };
  }
  const key = Buffer.from(position, "hex");
  return plan.reverse ? { ...range, upper: key } : { ...range, lower: nextKey(key) };
}

const lastId = "\u{10ffff}";

function partitionRange(container: CompiledContainer, tenant: string, query: Query): ScanRange {
  const extra = Object.keys(query.equals).filter((key) => !container.partitionKey.some(({ name }) => name === key));
  if (extra.length > 0) {
    throw invalid(
      `equals.${extra[0]}: without an index only the partition key (${names(container.partitionKey)}) can be specified. Add an index with "${extra[0]}", or use \`filter\`.`,
    );
  }
  const partition = container.partitionKey.map(({ name }) => {
    const value = equalOf(query, name);
    if (value === undefined)
      throw invalid(
        `equals.${name}: is missing; a query without an index reads one partition and needs every path of its key.`,
      );
    return value;
  });
  const pk = partitionText(tenant, checkPartition(container, partition));
  const range = checkRange(query.range, "id");
  const text = (value: string | number): string => {
    if (typeof value !== "string") throw invalid("range: ids are strings.");
    // Beyond that, ids are stored as a hash and have no order of their own.
    if (withinUtf8Bytes(value, limits.idOrderBytesMax)) return value;
    throw invalid(
      `range: bounds on ids are at most ${limits.idOrderBytesMax} bytes; longer ids are ordered by their beginning only.`,
    );
  };
  let lower = "";
  let upper: string | undefined;
  if (range.prefix !== undefined) [lower, upper] = [text(range.prefix), `${range.prefix}${lastId}`];
  if (range.gte !== undefined) lower = text(range.gte);
  if (range.gt !== undefined) lower = `${text(range.gt)}\u0001`;
  if (range.lt !== undefined) upper = text(range.lt);
  if (range.lte !== undefined) upper = `${text(range.lte)}\u0001`;
  return { kind: "partition", pk, lower, upper };
}

function indexRange(index: CompiledIndex, tenant: string, query: Query): ScanRange {
  const partition = [encodeValue(tenant)];
  for (const { name } of index.partition) partition.push(encodeValue(requireEqual(index, query, name)));
  const sort: Buffer[] = [];
  let used = 0;
  for (const { name, descending } of index.sort) {
    const value = equalOf(query, name);
    if (value === undefined) break;
    sort.push(encodeValue(checkScalar(value, name), descending));
    used += 1;
  }
  refuseUnreachable(index, query, used);
  const prefix = Buffer.concat(sort);
  const next = index.sort[used];
  const bounds =
    next === undefined
      ? { lower: prefix, upper: afterPrefix(prefix) }
      : rangeBounds(prefix, checkRange(query.range, next.name), next.descending);
  if (next === undefined && query.range !== undefined)
    throw invalid(`range: index "${index.name}" has no sort path left after those in \`equals\`.`);
  return { kind: "index", index: index.name, partition: Buffer.concat(partition), ...bounds };
}

function requireEqual(index: CompiledIndex, query: Query, name: string): JsonScalar {
  const value = equalOf(query, name);
  if (value === undefined)
    throw invalid(`equals.${name}: is missing; index "${index.name}" is partitioned by (${names(index.partition)}).`);
  return checkScalar(value, name);
}

/** Never a property of a prototype: a path may be called "constructor". */
function equalOf(query: Query, name: string): JsonScalar | undefined {
  return Object.hasOwn(query.equals, name) ? query.equals[name] : undefined;
}

function checkScalar(value: unknown, name: string): JsonScalar {
  const fits =
    value === null ||
    typeof value === "string" ||
    typeof value === "boolean" ||
    (typeof value === "number" && Number.isFinite(value));
  if (!fits) throw invalid(`equals.${name}: must be a string, finite number, boolean or null.`);
  requireWellFormed(value, `equals.${name}`);
  return value;
}

/** A value for a path that the range cannot use would be ignored silently: reject it and name an index that would serve it. */
function refuseUnreachable(index: CompiledIndex, query: Query, used: number): void {
  const reachable = [...index.partition, ...index.sort.slice(0, used)].map(({ name }) => name);
  const lost = Object.keys(query.equals).filter((key) => equalOf(query, key) !== undefined && !reachable.includes(key));
  if (lost.length === 0) return;
  throw new PinakesError(
    "INVALID",
    `Index "${index.name}" (partition: ${names(index.partition)}; sort: ${names(index.sort)}) cannot serve equality on ${lost.join(", ")}. Add an index { partition: [${[...reachable, ...lost].map((name) => `"${name}"`).join(", ")}], sort: [${index.sort
      .slice(used)
      .filter(({ name }) => !lost.includes(name))
      .map(({ name }) => `"${name}"`)
      .join(", ")}] }, or move ${lost.join(", ")} into \`filter\`.`,
  );
}

function names(paths: readonly NamedPath[]): string {
  return paths.map(({ name }) => name).join(", ");
}

function checkRange(range: Range | undefined, name: string): Range {
  if (range === undefined) return {};
  if (!isJsonObject(range)) throw invalid("range: must be an object with gt, gte, lt, lte or prefix.");
  for (const [key, value] of Object.entries(range)) {
    if (!["gt", "gte", "lt", "lte", "prefix"].includes(key))
      throw invalid(`range.${key}: unknown bound; use gt, gte, lt, lte or prefix.`);
    if (key === "prefix" ? typeof value !== "string" : typeof value !== "string" && typeof value !== "number") {
      throw invalid(`range.${key}: must be a ${key === "prefix" ? "string" : "string or number"} for "${name}".`);
    }
    if (typeof value === "number" && !Number.isFinite(value)) throw invalid(`range.${key}: must be finite.`);
    requireWellFormed(value, `range.${key}`);
  }
  const clash =
    (range.gt !== undefined && range.gte !== undefined) || (range.lt !== undefined && range.lte !== undefined);
  if (clash || (range.prefix !== undefined && Object.keys(range).length > 1))
    throw invalid("range: give at most one lower and one upper bound, or a prefix alone.");
  return range;
}

function rangeBounds(prefix: Buffer, range: Range, descending: boolean): { lower: Buffer; upper: Buffer } {
  const key = (value: string | number) => Buffer.concat([prefix, encodeValue(value, descending)]);
  if (range.prefix !== undefined) {
    const start = Buffer.concat([prefix, encodeStringPrefix(range.prefix, descending)]);
    // Twice: in a descending index the end mark of a string is 0xff itself.
    return { lower: start, upper: afterPrefix(afterPrefix(start)) };
  }
  // In a descending index greater values come first: the bounds change sides.
  const [from, fromOpen, to, toOpen] = descending
    ? [range.lte, range.lt, range.gte, range.gt]
    : [range.gte, range.gt, range.lte, range.lt];
  let lower = prefix;
  let upper = afterPrefix(prefix);
  if (from !== undefined) lower = key(from);
  if (fromOpen !== undefined) lower = afterPrefix(key(fromOpen));
  if (to !== undefined) upper = afterPrefix(key(to));
  if (toOpen !== undefined) upper = key(toOpen);
  if (from === undefined && fromOpen === undefined && (to ?? toOpen) !== undefined)
    lower = typeStart(prefix, (to ?? toOpen) as string | number, descending);
  if (to === undefined && toOpen === undefined && (from ?? fromOpen) !== undefined)
    upper = typeEnd(prefix, (from ?? fromOpen) as string | number, descending);
  return { lower, upper };
}

/** `{ lt: 5 }` means numbers below 5, not also null and missing values: a range stays within the type of its bound. */
function typeStart(prefix: Buffer, value: string | number, descending: boolean): Buffer {
  return Buffer.concat([prefix, encodeValue(value, descending).subarray(0, 1)]);
}

function typeEnd(prefix: Buffer, value: string | number, descending: boolean): Buffer {
  const tag = encodeValue(value, descending)[0] as number;
  return Buffer.concat([prefix, Buffer.from([tag + 1])]);
}
