/**
 * Indexing policies in Cosmos DB's format and semantics. The most precise path that matches a
 * property decides: the longer one, and of two equally long ones the value (`?`) before the subtree (`*`).
 * A policy without a root path, which Cosmos DB rejects, excludes all unlisted paths.
 */
import type { IndexingPolicy } from "@pinakes/client";
import { invalid, show } from "../../domain/errors.ts";
import { isJsonObject, type JsonObject } from "../../domain/json.ts";
import { limits } from "../../domain/limits.ts";
import { formatOrderPath, formatPolicyPath, parseOrderPath, parsePolicyPath, type PolicyPath } from "./policy-path.ts";

export const policyPathsMax = 500;
export const compositeIndexesMax = 100;

export interface CompositePath {
  readonly steps: readonly string[];
  readonly order: "asc" | "desc";
}

export interface CompiledPolicy {
  /** With a root path, arrays as `[]`, explicit orders. */
  readonly normalised: IndexingPolicy;
  readonly included: readonly PolicyPath[];
  readonly composites: readonly (readonly CompositePath[])[];
  /** Whether values at this property are indexed. */
  covers(path: readonly string[]): boolean;
}

/** Always indexed, regardless of the policy. */
const alwaysIndexed: readonly string[] = ["id", "_ts"];
const known: ReadonlySet<string> = new Set([
  "indexingMode",
  "automatic",
  "includedPaths",
  "excludedPaths",
  "compositeIndexes",
]);

export function compilePolicy(policy: unknown, where = "indexing_policy"): CompiledPolicy {
  if (!isJsonObject(policy)) throw invalid(`${where}: must be an object with includedPaths and excludedPaths.`);
  refuseForeign(policy, where);
  const { indexingMode = "consistent", automatic = true } = policy;
  if (indexingMode !== "consistent" && indexingMode !== "none")
    throw invalid(`${where}.indexingMode: must be "consistent" or "none", got ${show(indexingMode)}.`);
  if (typeof automatic !== "boolean") throw invalid(`${where}.automatic: must be true or false.`);
  const included = pathList(policy["includedPaths"], `${where}.includedPaths`);
  const excluded = pathList(policy["excludedPaths"], `${where}.excludedPaths`);
  if (included.length + excluded.length > policyPathsMax)
    throw invalid(`${where}: ${included.length + excluded.length} paths; at most ${policyPathsMax} are allowed.`);
  const composites = compositeList(policy["compositeIndexes"], `${where}.compositeIndexes`);
  const rules = withRoot(included, excluded, where);
  const active = indexingMode === "consistent" && automatic;
  return {
    normalised: {
      indexingMode,
      automatic,
      includedPaths: rules.filter(({ include }) => include).map(({ path }) => ({ path: formatPolicyPath(path) })),
      excludedPaths: rules.filter(({ include }) => !include).map(({ path }) => ({ path: formatPolicyPath(path) })),
      compositeIndexes: composites.map((paths) =>
        paths.map(({ steps, order }) => ({
          path: formatOrderPath(steps),
          order: order === "asc" ? ("ascending" as const) : ("descending" as const),
        })),
      ),
    },
    included: active ? included : [],
    composites: active ? composites : [],
    covers: (path) =>
      (path.length === 1 && alwaysIndexed.includes(path[0] as string)) || (active && decides(rules, path)),
  };
}

/** Other Cosmos DB features would be ignored silently, so they are rejected unless empty. */
function refuseForeign(policy: JsonObject, where: string): void {
  for (const [name, value] of Object.entries(policy)) {
    if (known.has(name) || value === undefined || (Array.isArray(value) && value.length === 0)) continue;
    throw invalid(`${where}.${name}: is not supported; remove it.`);
  }
}

function pathList(given: unknown, where: string): PolicyPath[] {
  if (given === undefined) return [];
  if (!Array.isArray(given)) throw invalid(`${where}: must be a list of { "path": "/status/?" }.`);
  return given.map((entry: unknown, i) => parsePolicyPath(pathOf(entry, `${where}[${i}]`), `${where}[${i}].path`));
}

function pathOf(entry: unknown, where: string): unknown {
  if (!isJsonObject(entry))
    throw invalid(`${where}: must be an object with a path, such as { "path": "/status/?" }; got ${show(entry)}.`);
  return entry["path"];
}

function compositeList(given: unknown, where: string): CompositePath[][] {
  if (given === undefined) return [];
  if (!Array.isArray(given) || given.length > compositeIndexesMax)
    throw invalid(`${where}: must be a list of at most ${compositeIndexesMax} indexes.`);
  return given.map((entry: unknown, i) => compositeIndex(entry, `${where}[${i}]`));
}

function compositeIndex(given: unknown, where: string): CompositePath[] {
  if (!Array.isArray(given) || given.length < 2 || given.length > limits.indexPathsMax)
    throw invalid(
      `${where}: must be a list of 2 to ${limits.indexPathsMax} paths, each { "path": "/created_at", "order": "descending" }.`,
    );
  const paths = given.map((entry: unknown, i): CompositePath => {
    const steps = parseOrderPath(pathOf(entry, `${where}[${i}]`), `${where}[${i}].path`);
    const order = (entry as JsonObject)["order"] ?? "ascending";
    if (order !== "ascending" && order !== "descending")
      throw invalid(`${where}[${i}].order: must be "ascending" or "descending", got ${show(order)}.`);
    return { steps, order: order === "ascending" ? "asc" : "desc" };
  });
  if (new Set(paths.map(({ steps }) => formatOrderPath(steps))).size < paths.length)
    throw invalid(`${where}: repeats a path.`);
  return paths;
}

interface Rule {
  readonly path: PolicyPath;
  readonly include: boolean;
}

function withRoot(included: readonly PolicyPath[], excluded: readonly PolicyPath[], where: string): Rule[] {
  const distinct = new Map<string, Rule>();
  for (const [paths, include] of [
    [included, true],
    [excluded, false],
  ] as const) {
    for (const path of paths) {
      const text = formatPolicyPath(path);
      if (distinct.get(text)?.include === !include)
        throw invalid(`${where}: "${text}" is both included and excluded; keep one of them.`);
      distinct.set(text, { path, include });
    }
  }
  const etag: Rule = { path: { steps: ["_etag"], end: "?" }, include: false };
  const root: Rule = { path: { steps: [], end: "*" }, include: false };
  return [...distinct.values(), ...(distinct.has("/_etag/?") ? [] : [etag]), ...(distinct.has("/*") ? [] : [root])];
}

function decides(rules: readonly Rule[], path: readonly string[]): boolean {
  let best: Rule | undefined;
  for (const rule of rules)
    if (fits(rule.path, path) && (best === undefined || morePrecise(rule.path, best.path))) best = rule;
  return best?.include ?? false;
}

function fits({ steps, end }: PolicyPath, path: readonly string[]): boolean {
  if (end === "?" ? steps.length !== path.length : steps.length > path.length) return false;
  return steps.every((step, i) => step === path[i]);
}

function morePrecise(a: PolicyPath, b: PolicyPath): boolean {
  return a.steps.length > b.steps.length || (a.steps.length === b.steps.length && a.end === "?" && b.end === "*");
}
