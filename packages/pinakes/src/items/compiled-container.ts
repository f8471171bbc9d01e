/** A container definition, checked and made ready: paths parsed, defaults filled. Plain data in, so any thread can make one. */
import type { ContainerDefinition, IndexDefinition, SortPath } from "../ports/item-store.ts";
import { invalid } from "../domain/errors.ts";
import { limits } from "../domain/limits.ts";
import { parsePath, type Path } from "../domain/path.ts";
import { checkContainerTtl, type ContainerTtl } from "../domain/ttl.ts";

export interface CompiledContainer {
  readonly name: string;
  readonly partitionKey: readonly NamedPath[];
  /** Sorted by name: the position of an index is its number in prepared writes. */
  readonly indexes: readonly CompiledIndex[];
  readonly uniqueKeys: readonly CompiledUniqueKey[];
  readonly ttl: ContainerTtl;
  readonly feed: boolean;
  /** Grows whenever the stored definition changes; prepared writes of an older one are prepared again. */
  readonly version: number;
  readonly definition: NormalDefinition;
}

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
    Record<string, { readonly partition: readonly string[]; readonly sort: readonly { readonly path: string; readonly order: "asc" | "desc" }[] }>
  >;
  readonly uniqueKeys: Readonly<Record<string, readonly string[]>>;
  readonly ttl: ContainerTtl;
  readonly feed: boolean;
}

const containerName = new RegExp(`^[a-z][a-z0-9-]{0,${limits.containerNameCharsMax - 1}}$`);
const partName = /^[A-Za-z][A-Za-z0-9_]{0,39}$/;

export function normaliseDefinition(definition: ContainerDefinition): NormalDefinition {
  const { name } = definition;
  if (typeof name !== "string" || !containerName.test(name)) {
    throw invalid(
      `Container name ${JSON.stringify(name)}: use 1–${limits.containerNameCharsMax} lower-case letters, digits and dashes, beginning with a letter.`,
    );
  }
  const where = `Container "${name}"`;
  const indexes = Object.entries(definition.indexes ?? {});
  const uniqueKeys = Object.entries(definition.uniqueKeys ?? {});
  if (indexes.length > limits.indexesMax) throw invalid(`${where}: ${indexes.length} indexes; at most ${limits.indexesMax} are allowed.`);
  if (uniqueKeys.length > limits.uniqueKeysMax) throw invalid(`${where}: ${uniqueKeys.length} unique keys; at most ${limits.uniqueKeysMax} are allowed.`);
  return {
    name,
    partitionKey: checkPaths(definition.partitionKey, `${where} partitionKey`, limits.partitionPathsMax),
    indexes: sortedRecord(indexes.map(([key, index]) => [checkPartName(key, where), normaliseIndex(index, `${where} index "${key}"`)])),
    uniqueKeys: sortedRecord(
      uniqueKeys.map(([key, paths]) => [checkPartName(key, where), checkPaths(paths, `${where} unique key "${key}"`, limits.indexPathsMax)]),
    ),
    ttl: checkContainerTtl(definition.ttl),
    feed: definition.feed ?? false,
  };
}

function normaliseIndex(index: IndexDefinition, where: string): NormalDefinition["indexes"][string] {
  const partition = index.partition.length === 0 ? [] : checkPaths(index.partition, `${where} partition`, limits.indexPathsMax);
  const sort = index.sort.map((entry: SortPath) =>
    typeof entry === "string" ? { path: entry, order: "asc" as const } : { path: entry.path, order: entry.order },
  );
  const paths = [...partition, ...sort.map((entry) => entry.path)];
  if (paths.length === 0) throw invalid(`${where}: names no path.`);
  checkPaths(paths, where, limits.indexPathsMax);
  return { partition, sort };
}

function checkPaths(paths: readonly string[], where: string, max: number): readonly string[] {
  if (!Array.isArray(paths) || paths.length < 1 || paths.length > max) throw invalid(`${where}: give 1 to ${max} paths.`);
  for (const path of paths as readonly string[]) parsePath(path);
  if (new Set(paths).size !== paths.length) throw invalid(`${where}: names a path twice.`);
  return [...(paths as readonly string[])];
}

function checkPartName(name: string, where: string): string {
  if (!partName.test(name)) throw invalid(`${where}: "${name}" is not a name for an index or unique key; use letters, digits and "_".`);
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
    indexes: Object.entries(definition.indexes).map(([name, index]) => ({
      name,
      partition: index.partition.map(named),
      sort: index.sort.map(({ path, order }) => ({ ...named(path), descending: order === "desc" })),
    })),
    uniqueKeys: Object.entries(definition.uniqueKeys).map(([name, paths]) => ({ name, paths: paths.map(named) })),
    ttl: definition.ttl,
    feed: definition.feed,
    version,
    definition,
  });
}

/**
 * What the stored definition becomes when `next` is opened. Indexes that only the stored one has stay: during a rolling deploy an
 * older process must not drop what a newer one needs. They go only when asked for.
 */
export function mergeDefinitions(stored: NormalDefinition, next: NormalDefinition, dropUndeclaredIndexes: boolean): NormalDefinition {
  const fixed = (part: "partitionKey" | "uniqueKeys") => {
    if (JSON.stringify(stored[part]) === JSON.stringify(next[part])) return;
    throw invalid(
      `Container "${stored.name}": ${part} is fixed at creation (${JSON.stringify(stored[part])}) and cannot become ${JSON.stringify(next[part])}; create a new container and copy.`,
    );
  };
  fixed("partitionKey");
  fixed("uniqueKeys");
  // A feed stays on: switching it off would leave a gap that its readers could not see.
  const feed = stored.feed || next.feed;
  const indexes = dropUndeclaredIndexes ? next.indexes : sortedRecord(Object.entries({ ...stored.indexes, ...next.indexes }));
  return { ...next, indexes, feed };
}
