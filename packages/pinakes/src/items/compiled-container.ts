/** A container definition, validated and compiled: paths parsed, defaults filled. Plain data, so any thread can compile one. */
import type { ContainerDefinition, IndexDefinition, SortPath } from "../ports/item-store.ts";
import { invalid, PinakesError, show } from "../domain/errors.ts";
import { isJsonObject } from "../domain/json.ts";
import { limits } from "../domain/limits.ts";
import { parsePath, type Path } from "../domain/path.ts";
import { checkContainerTtl, type ContainerTtl } from "../domain/ttl.ts";

export interface CompiledContainer {
  readonly name: string;
  readonly partitionKey: readonly NamedPath[];
  readonly optionalKey: boolean;
  /** Sorted by name: prepared writes refer to an index by its position. */
  readonly indexes: readonly CompiledIndex[];
  readonly uniqueKeys: readonly CompiledUniqueKey[];
  /** Of the container, or of `tenant` (forTenant). */
  readonly ttl: ContainerTtl;
  /** Defaults that tenants set for their own items. */
  readonly tenantTtls: ReadonlyMap<string, TenantTtl>;
  readonly tenant?: string | undefined;
  /** The container for all tenants, in the version for one (forTenant). */
  readonly base?: CompiledContainer | undefined;
  readonly feed: boolean;
  /** Grows whenever the stored definition changes; writes prepared for an older one are prepared again. */
  readonly version: number;
  readonly definition: NormalDefinition;
}

/** What a tenant has set, and how often it has: an older value that returns is not the same state again. */
export type TenantTtl = readonly [ttl: ContainerTtl, changes: number];

export interface NamedPath {
  readonly name: string;
  readonly path: Path;
}

export interface CompiledIndex {
  readonly name: string;
  readonly partition: readonly NamedPath[];
  readonly sort: readonly (NamedPath & { readonly descending: boolean })[];
}

export interface CompiledUniqueKey {
  readonly name: string;
  readonly paths: readonly NamedPath[];
}

/** The definition with every default filled and names sorted: equal definitions have equal JSON. */
export interface NormalDefinition {
  readonly name: string;
  readonly partitionKey: readonly string[];
  readonly indexes: Readonly<
    Record<
      string,
      {
        readonly partition: readonly string[];
        readonly sort: readonly { readonly path: string; readonly order: "asc" | "desc" }[];
      }
    >
  >;
  readonly uniqueKeys: Readonly<Record<string, readonly string[]>>;
  readonly ttl: ContainerTtl;
  readonly feed: boolean;
  /** Absent for false, so that definitions stored before it stay the same. */
  readonly optionalKey?: true;
  /** The default time to live of a tenant that has set its own; absent if none has. */
  readonly tenantTtls?: Readonly<Record<string, TenantTtl>>;
}

const containerName = new RegExp(`^[a-z][a-z0-9-]{0,${limits.containerNameCharsMax - 1}}$`);
const partName = /^[A-Za-z][A-Za-z0-9_]{0,39}$/;

export function normaliseDefinition(definition: ContainerDefinition): NormalDefinition {
  if (!isJsonObject(definition)) throw invalid("A container definition must be an object with name and partitionKey.");
  const { name } = definition;
  if (typeof name !== "string" || !containerName.test(name)) {
    throw invalid(
      `Container name ${show(name)}: use 1–${limits.containerNameCharsMax} lower-case letters, digits and dashes, beginning with a letter.`,
    );
  }
  const where = `Container "${name}"`;
  if (definition.feed !== undefined && typeof definition.feed !== "boolean")
    throw invalid(`${where} feed: must be true or false.`);
  const indexes = Object.entries(definition.indexes ?? {});
  const uniqueKeys = Object.entries(definition.uniqueKeys ?? {});
  requireIndexCount(name, indexes.length);
  requireDistinct(
    where,
    indexes.map(([key]) => key),
  );
  requireDistinct(
    where,
    uniqueKeys.map(([key]) => key),
  );
  if (uniqueKeys.length > limits.uniqueKeysMax)
    throw invalid(`${where}: ${uniqueKeys.length} unique keys; at most ${limits.uniqueKeysMax} are allowed.`);
  return {
    name,
    partitionKey: checkPaths(definition.partitionKey, `${where} partitionKey`, limits.partitionPathsMax),
    indexes: sortedRecord(
      indexes.map(([key, index]) => [checkPartName(key, where), normaliseIndex(index, `${where} index "${key}"`)]),
    ),
    uniqueKeys: sortedRecord(
      uniqueKeys.map(([key, paths]) => [
        checkPartName(key, where),
        checkPaths(paths, `${where} unique key "${key}"`, limits.indexPathsMax),
      ]),
    ),
    ttl: checkContainerTtl(definition.ttl),
    feed: definition.feed ?? false,
    ...(definition.optionalKey === true ? { optionalKey: true } : {}),
  };
}

function requireIndexCount(container: string, count: number): void {
  if (count <= limits.indexesMax) return;
  throw invalid(
    `Container "${container}": ${count} indexes; at most ${limits.indexesMax} are allowed. Remove old ones with dropUndeclaredIndexes.`,
  );
}

/** Column names of SQLite ignore case. */
function requireDistinct(where: string, names: readonly string[]): void {
  const seen = new Map<string, string>();
  for (const name of names) {
    const twin = seen.get(name.toLowerCase());
    if (twin !== undefined) throw invalid(`${where}: "${twin}" and "${name}" differ only in case; rename one.`);
    seen.set(name.toLowerCase(), name);
  }
}

function normaliseIndex(index: IndexDefinition, where: string): NormalDefinition["indexes"][string] {
  if (!isJsonObject(index) || !Array.isArray(index.partition) || !Array.isArray(index.sort)) {
    throw invalid(`${where}: must be { partition: [paths], sort: [paths] }.`);
  }
  const partition =
    index.partition.length === 0 ? [] : checkPaths(index.partition, `${where} partition`, limits.indexPathsMax);
  const sort = index.sort.map((entry: SortPath) => normaliseSort(entry, where));
  const paths = [...partition, ...sort.map((entry) => entry.path)];
  if (paths.length === 0) throw invalid(`${where}: needs at least one path.`);
  checkPaths(paths, where, limits.indexPathsMax);
  return { partition, sort };
}

function normaliseSort(entry: SortPath, where: string): { readonly path: string; readonly order: "asc" | "desc" } {
  if (typeof entry === "string") return { path: entry, order: "asc" };
  if (isJsonObject(entry) && (entry.order === "asc" || entry.order === "desc"))
    return { path: entry.path, order: entry.order };
  throw invalid(`${where} sort: write a path, or { path, order: "asc" | "desc" }; got ${show(entry)}.`);
}

function checkPaths(paths: readonly string[], where: string, max: number): readonly string[] {
  if (!Array.isArray(paths) || paths.length < 1 || paths.length > max)
    throw invalid(`${where}: give 1 to ${max} paths.`);
  for (const path of paths as readonly string[]) parsePath(path);
  if (new Set(paths).size !== paths.length) throw invalid(`${where}: names a path twice.`);
  return [...(paths as readonly string[])];
}

function checkPartName(name: string, where: string): string {
  if (!partName.test(name))
    throw invalid(`${where}: "${name}" is not a name for an index or unique key; use letters, digits and "_".`);
  return name;
}

function sortedRecord<T>(entries: readonly (readonly [string, T])[]): Readonly<Record<string, T>> {
  return Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

export function compileContainer(definition: NormalDefinition, version: number): CompiledContainer {
  const named = (name: string): NamedPath => ({ name, path: parsePath(name) });
  return Object.freeze({
    name: definition.name,
    partitionKey: definition.partitionKey.map(named),
    optionalKey: definition.optionalKey === true,
    indexes: Object.entries(definition.indexes).map(([name, index]) => ({
      name,
      partition: index.partition.map(named),
      sort: index.sort.map(({ path, order }) => ({ ...named(path), descending: order === "desc" })),
    })),
    uniqueKeys: Object.entries(definition.uniqueKeys).map(([name, paths]) => ({ name, paths: paths.map(named) })),
    ttl: definition.ttl,
    tenantTtls: new Map(Object.entries(definition.tenantTtls ?? {})),
    feed: definition.feed,
    version,
    definition,
  });
}

/**
 * The stored definition after `next` is opened. Indexes that only the stored one has are kept: during a rolling deploy an older process
 * must not drop what a newer one needs. They are removed only on request.
 */
export function mergeDefinitions(
  stored: NormalDefinition,
  next: NormalDefinition,
  dropUndeclaredIndexes: boolean,
): NormalDefinition {
  const fixed = (part: "partitionKey" | "uniqueKeys" | "optionalKey") => {
    if (JSON.stringify(stored[part]) === JSON.stringify(next[part])) return;
    throw invalid(
      `Container "${stored.name}": ${part} is fixed at creation (${show(stored[part])}) and cannot become ${show(next[part])}; create a new container and copy.`,
    );
  };
  fixed("partitionKey");
  fixed("uniqueKeys");
  fixed("optionalKey");
  // A feed stays on: switching it off would leave a gap that its readers could not detect.
  const feed = stored.feed || next.feed;
  const indexes = dropUndeclaredIndexes
    ? next.indexes
    : sortedRecord(Object.entries({ ...stored.indexes, ...next.indexes }));
  requireIndexCount(stored.name, Object.keys(indexes).length);
  return { ...next, indexes, feed, ...mergeTenantTtls(stored, next) };
}

/** What tenants have set stays, whoever opens the container. */
function mergeTenantTtls(stored: NormalDefinition, next: NormalDefinition): Pick<NormalDefinition, "tenantTtls"> {
  const all = Object.entries({ ...stored.tenantTtls, ...next.tenantTtls });
  if (all.length > limits.tenantTtlsMax)
    throw new PinakesError(
      "LIMIT_EXCEEDED",
      `Container "${stored.name}": ${limits.tenantTtlsMax} workspaces already have a default time to live of their own, the maximum.`,
    );
  return { tenantTtls: all.length === 0 ? undefined : sortedRecord(all) } as Pick<NormalDefinition, "tenantTtls">;
}

const perTenant = new WeakMap<CompiledContainer, Map<string, CompiledContainer>>();

/** The container with the time to live that applies to a tenant's items. */
export function forTenant(container: CompiledContainer, tenant: string): CompiledContainer {
  const own = container.tenantTtls.get(tenant);
  if (own === undefined || container.tenant === tenant) return container;
  const known = perTenant.get(container) ?? new Map<string, CompiledContainer>();
  const made = known.get(tenant) ?? Object.freeze({ ...container, ttl: own[0], tenant, base: container });
  perTenant.set(container, known.set(tenant, made));
  return made;
}
