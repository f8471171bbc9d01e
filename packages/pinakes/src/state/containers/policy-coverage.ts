/** What the indexing policy of a container says about the properties that a query filters by. */
import { invalid } from "../../domain/errors.ts";
import { isJsonObject, type JsonValue } from "../../domain/json.ts";
import { parsePath } from "../../domain/path.ts";
import { childrenOf, documentPath, parseQuery, type Expression } from "../../sql/index.ts";
import { storePath, canonicalPath, formatOrderPath } from "./policy-path.ts";
import type { Target } from "./target.ts";

export interface Coverage {
  /** The paths that are filtered by. */
  readonly paths: readonly string[];
  readonly advice: string | undefined;
}

export function coverageOfSql(target: Target, query: string, strict: boolean): Coverage {
  const { where } = parseQuery(query);
  return coverageOf(target, where === undefined ? [] : pathsIn(where), strict);
}

export function coverageOfFilter(target: Target, filter: JsonValue | undefined): Coverage {
  return coverageOf(target, pathsOfFilter(filter), target.strict);
}

/** A strict container refuses a filter on a path that its policy excludes; others answer, document by document. */
function coverageOf(
  { name, definition, policy }: Target,
  filtered: readonly (readonly string[])[],
  strict: boolean,
): Coverage {
  const found = new Map(filtered.map((path) => [storePath(path), path] as const));
  const keys = new Set(definition.partitionKey.map(canonicalPath));
  const excluded = [...found]
    .filter(([text, path]) => policy !== null && !keys.has(text) && !policy.covers(path))
    .map(([, path]) => formatOrderPath(path));
  const paths = [...found.keys()];
  if (excluded.length === 0) return { paths, advice: undefined };
  const list = excluded.join(", ");
  if (strict)
    throw invalid(
      `query: the indexing policy of container "${name}" excludes ${list}, and a strict query may only filter by indexed paths. Include ${list} in the policy, or leave strict out.`,
    );
  return {
    paths,
    advice: `The indexing policy excludes ${list}: documents are judged by it one by one. Include it to have an index.`,
  };
}

function pathsIn(expression: Expression): readonly (readonly string[])[] {
  const path = documentPath(expression);
  return path === undefined ? childrenOf(expression).flatMap(pathsIn) : [path];
}

/** What is not a filter at all is refused by whoever runs it. */
function pathsOfFilter(filter: JsonValue | undefined): readonly (readonly string[])[] {
  if (!isJsonObject(filter)) return [];
  return Object.entries(filter).flatMap(([key, value]) => {
    if (key === "and" || key === "or") return Array.isArray(value) ? value.flatMap(pathsOfFilter) : [];
    return key === "not" ? pathsOfFilter(value) : [parsePath(key)];
  });
}
