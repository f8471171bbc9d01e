/** The index that would serve a query, in our notation and as a Cosmos DB composite index. */
import { documentPath, type Query } from "../ast.ts";
import type { Facts } from "./facts.ts";
import { cosmosPath, pathKey, pathName } from "./paths.ts";

interface SuggestedPath {
  readonly path: readonly string[];
  readonly descending: boolean;
}

/** Undefined if the query neither compares nor orders by anything an index could hold. */
export function indexAdvice(query: Query, facts: Facts): string | undefined {
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
