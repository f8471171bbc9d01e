/** Paths of a query and paths of a definition, made comparable; and how they are written in messages. */
import { parsePath } from "../../domain/path.ts";

export type PathKey = string;

export function pathKey(path: readonly string[]): PathKey {
  return JSON.stringify(path);
}

export function keyOfName(name: string): PathKey {
  return pathKey(parsePath(name));
}

/** As the item store takes it: `metadata.user_id`, or a pointer where a name holds a dot or a slash. */
export function pathName(path: readonly string[]): string {
  if (path.every((segment) => segment !== "" && !/[./]/.test(segment))) return path.join(".");
  return `/${path.map((segment) => segment.replaceAll("~", "~0").replaceAll("/", "~1")).join("/")}`;
}

/** As an indexing policy of Cosmos DB has it. */
export function cosmosPath(path: readonly string[]): string {
  return `/${path.map((segment) => (/^[A-Za-z_][A-Za-z0-9_]*$/.test(segment) ? segment : JSON.stringify(segment))).join("/")}`;
}
