/** ORDER BY of several properties, which Cosmos DB answers only where a composite index has them, all in their directions or all reversed. */
import { isJsonObject, type JsonObject } from "../../../../domain/json.ts";
import { documentPath, parseQuery } from "../../../../sql/index.ts";
import { badRequest } from "../errors.ts";

interface Key {
  readonly path: string;
  readonly descending: boolean;
}

export function requireComposite(query: string, policy: JsonObject): void {
  const { orderBy, aggregates } = parseQuery(query);
  if (orderBy.length < 2 || aggregates) return;
  const keys = orderBy.map(({ expression, descending }) => {
    const path = documentPath(expression);
    return path === undefined ? undefined : { path: path.join("/"), descending };
  });
  const wanted = keys.filter((key) => key !== undefined);
  if (wanted.length === keys.length && compositesOf(policy).some((index) => serves(index, wanted))) return;
  throw badRequest("The order by query does not have a corresponding composite index that it can be served from.");
}

function serves(index: readonly Key[], wanted: readonly Key[]): boolean {
  if (index.length !== wanted.length || wanted.some(({ path }, i) => path !== index[i]?.path)) return false;
  const turned = wanted.map(({ descending }, i) => descending !== index[i]?.descending);
  return turned.every((value) => value === turned[0]);
}

function compositesOf(policy: JsonObject): readonly (readonly Key[])[] {
  const list = policy["compositeIndexes"];
  if (!Array.isArray(list)) return [];
  return list.map((index: unknown) =>
    (Array.isArray(index) ? index : []).filter(isJsonObject).map((entry) => ({
      path: (entry["path"] as string).slice(1).replaceAll('"', ""),
      descending: entry["order"] === "descending",
    })),
  );
}
