/**
 * Derives indexes from a policy. A composite index becomes one order over the whole container (no partition): it serves equality on
 * leading paths, a range on the next, and ORDER BY over all of them, as in Cosmos DB. An included value gets its own
 * index unless one already begins with it. Paths beyond the limit are served by scans, and reported.
 */
import { hash } from "node:crypto";
import type { IndexSpec } from "@pinakes/client";
import { limits } from "../../domain/limits.ts";
import type { CompiledPolicy } from "./indexing-policy.ts";
import { formatPolicyPath, isInArray, storePath } from "./policy-path.ts";

/** The index of all items of a user container, ordered by id. */
export const allIndexName = "all";
export const allIndex: IndexSpec = Object.freeze({ partition: [], sort: ["id"] });
/** Beside `all`. */
export const ownIndexesMax: number = limits.indexesMax - 1;

export interface DerivedIndexes {
  readonly indexes: Readonly<Record<string, IndexSpec>>;
  readonly advice: string | null;
}

export function deriveIndexes(
  policy: CompiledPolicy | null,
  own: Readonly<Record<string, IndexSpec>>,
  partitionKey: readonly string[],
): DerivedIndexes {
  if (policy === null) return { indexes: {}, advice: null };
  const made = new Map<string, IndexSpec>(Object.entries(own));
  const left: string[] = [];
  const add = (spec: IndexSpec, told: string): void => {
    if ([...made.values()].some((other) => sameIndex(other, spec))) return;
    if (made.size >= ownIndexesMax) left.push(told);
    else made.set(nameFor(spec, made), spec);
  };
  for (const paths of policy.composites) {
    const sort = paths.map(({ steps, order }) =>
      order === "asc" ? storePath(steps) : { path: storePath(steps), order },
    );
    add({ partition: [], sort }, paths.map(({ steps }) => storePath(steps)).join(" + "));
  }
  const values = policy.included
    .filter((path) => path.end === "?" && !isInArray(path))
    .map(({ steps }) => storePath(steps));
  // Equality on a partition key is served by the partition itself, so its index is omitted first.
  const wanted = [
    ...values.filter((path) => !partitionKey.includes(path)),
    ...values.filter((path) => partitionKey.includes(path)),
  ];
  for (const path of wanted)
    if (!needless(path) && !beginsWith(made.values(), path)) add({ partition: [], sort: [path] }, path);
  for (const name of Object.keys(own)) made.delete(name);
  return { indexes: Object.fromEntries(made), advice: adviceOf(left, policy) };
}

/** Ids are already indexed, and the workspace is the same in all items that a caller can see. */
function needless(path: string): boolean {
  return path === "id" || path === "workspace_id" || path === "_ts" || path === "_etag";
}

function beginsWith(indexes: Iterable<IndexSpec>, path: string): boolean {
  return [...indexes].some(
    ({ partition, sort }) => partition.length === 0 && sort[0] !== undefined && sortOf(sort[0]).path === path,
  );
}

function sameIndex(a: IndexSpec, b: IndexSpec): boolean {
  return indexText(a) === indexText(b);
}

function indexText({ partition, sort }: IndexSpec): string {
  return JSON.stringify([partition, sort.map((entry) => Object.values(sortOf(entry)))]);
}

export function sortOf(entry: IndexSpec["sort"][number]): { readonly path: string; readonly order: "asc" | "desc" } {
  return typeof entry === "string" ? { path: entry, order: "asc" } : { path: entry.path, order: entry.order };
}

const nameCharsMax = 40;

/** Readable if possible, and deterministic for the same paths. */
function nameFor(spec: IndexSpec, taken: ReadonlyMap<string, IndexSpec>): string {
  const words = spec.sort.map((entry) =>
    sortOf(entry).order === "desc" ? `${sortOf(entry).path}_desc` : sortOf(entry).path,
  );
  const text = `by_${words.join("_")}`;
  const clash = [...taken.keys(), allIndexName].some((name) => name.toLowerCase() === text.toLowerCase());
  if (/^\w+$/.test(text) && text.length <= nameCharsMax && !clash) return text;
  const end = `_${hash("sha256", indexText(spec), "hex").slice(0, 8)}`;
  return `${text.replaceAll(/\W/g, "_").slice(0, nameCharsMax - end.length)}${end}`;
}

function adviceOf(left: readonly string[], policy: CompiledPolicy): string | null {
  const told: string[] = [];
  if (left.length > 0)
    told.push(
      `No index was created for ${left.join(", ")}: a container has at most ${limits.indexesMax}, one of them "${allIndexName}"; explicit ones come first, then composite ones, then single paths in order. Queries by these paths read more items.`,
    );
  const arrays = policy.included.filter((path) => isInArray(path)).map(formatPolicyPath);
  if (arrays.length > 0)
    told.push(
      `Values inside arrays (${arrays.join(", ")}) have no index; queries by them read every item in their range.`,
    );
  return told.length === 0 ? null : told.join(" ");
}
