/**
 * The item store as seen by callers' queries: without system items and internal fields; every index of a system
 * container is also offered without its leading workspace, which is the same in all items that a caller can see.
 */
import type { JsonObject } from "../../domain/json.ts";
import type { Filter } from "../../domain/filter.ts";
import type { Scope } from "../../domain/scope.ts";
import type { IndexDefinition, Item, ItemStore, Query, Range } from "../../ports/item-store.ts";
import { reservedIdPrefix } from "../system-container.ts";
import { visible } from "./documents.ts";
import type { Target } from "./target.ts";

const workspacePath = "workspace_id";
/** Suffix of an index whose workspace is filled in here; no declared index can have it. */
const filledMark = "*";

/** The id range of the prefix. */
const reservedIds = { gte: reservedIdPrefix, lt: String.fromCharCode(reservedIdPrefix.charCodeAt(0) + 1) };

/** Checkpoints and companions are system items stored in these containers, and not documents. */
export function onlyDocuments({ system }: Target, filter: Filter | undefined): Filter | undefined {
  if (system === undefined) return filter;
  const shown: Filter = { not: { id: reservedIds } };
  return filter === undefined ? shown : { and: [filter, shown] };
}

/** The indexes available to a query, by the names that `queryStore` understands. */
export function queryIndexes({ definition, system }: Target): Readonly<Record<string, IndexDefinition>> {
  const indexes = definition.indexes ?? {};
  if (system === undefined) return indexes;
  const filled = Object.entries(indexes)
    .filter(([, { partition }]) => partition.includes(workspacePath))
    .map(
      ([name, { partition, sort }]) =>
        [`${name}${filledMark}`, { partition: partition.filter((path) => path !== workspacePath), sort }] as const,
    );
  return { ...indexes, ...Object.fromEntries(filled) };
}

export function scanIndexOf(target: Target): string {
  const filled = `${target.scanIndex}${filledMark}`;
  return Object.hasOwn(queryIndexes(target), filled) ? filled : target.scanIndex;
}

/** As declared. */
export function indexName(name: string | null): string | null {
  return name?.endsWith(filledMark) === true ? name.slice(0, -filledMark.length) : name;
}

export function queryStore(items: ItemStore, target: Target): ItemStore {
  if (target.system === undefined) return items;
  const shown = (item: Item): Item => ({ ...item, document: visible(target, item.document) });
  return {
    capabilities: items.capabilities,
    erasure: items.erasure,
    query: async (scope, container, query) => {
      const page = await items.query(scope, container, filledQuery(target, scope, query));
      return { ...page, items: page.items.map(shown) };
    },
    count: (scope, container, query) => items.count(scope, container, filledQuery(target, scope, query)),
    defaultTtl: (scope, container) => items.defaultTtl(scope, container),
    setDefaultTtl: (scope, container, ttl) => items.setDefaultTtl(scope, container, ttl),
    indexes: async (container) =>
      (await items.indexes(container)).flatMap((state) => [state, { ...state, name: `${state.name}${filledMark}` }]),
    openContainer: (definition, options) => items.openContainer(definition, options),
    read: (scope, container, key, options) => items.read(scope, container, key, options),
    readRaw: (scope, container, key, options) => items.readRaw(scope, container, key, options),
    readMany: (scope, container, keys) => items.readMany(scope, container, keys),
    write: (scope, container, partition, operation) => items.write(scope, container, partition, operation),
    batch: (scope, container, partition, operations) => items.batch(scope, container, partition, operations),
    deletePartition: (scope, container, partition, options) =>
      items.deletePartition(scope, container, partition, options),
    changes: (scope, container, options) => items.changes(scope, container, options),
    purgeExpired: (scope, container, options) => items.purgeExpired(scope, container, options),
    close: () => items.close(),
    [Symbol.asyncDispose]: () => items.close(),
  };
}

function filledQuery(target: Target, scope: Scope, query: Query): Query {
  const filter = onlyDocuments(target, query.filter);
  const filled = query.index?.endsWith(filledMark) === true;
  const place: JsonObject = filled
    ? { index: indexName(query.index ?? null), equals: { ...query.equals, [workspacePath]: scope.tenant } }
    : {};
  const range = scanRangeOf(target, query);
  return {
    ...query,
    ...(place as Partial<Query>),
    ...(range === undefined ? {} : { range }),
    ...(filter === undefined ? {} : { filter }),
  };
}

/** For a scan without bounds. */
function scanRangeOf({ system, definition, scanIndex }: Target, { index, equals, range }: Query): Range | undefined {
  if (system?.scanRange === undefined || range !== undefined || indexName(index ?? null) !== scanIndex) return range;
  const [first] = definition.indexes?.[scanIndex]?.sort ?? [];
  const path = typeof first === "object" ? first.path : first;
  return path === undefined || Object.hasOwn(equals, path) ? undefined : system.scanRange;
}
