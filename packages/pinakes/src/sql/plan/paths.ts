/** Makes the paths of queries and of container definitions comparable, and formats them for messages. */
import { parsePath } from "../../domain/path.ts";

export type PathKey = string;

export function pathKey(path: readonly string[]): PathKey {
  return JSON.stringify(path);
}

export function keyOfName(name: string): PathKey {
  return pathKey(parsePath(name));
}

/** In the notation of the item store: `metadata.user_id`, or a pointer if a name contains a dot or a slash. */
export function pathName(path: readonly string[]): string {
  if (path.every((segment) => segment !== "" && !/[./]/.test(segment))) return path.join(".");
  return `/${path.map((segment) => segment.replaceAll("~", "~0").replaceAll("/", "~1")).join("/")}`;
}

/** In the notation of a Cosmos DB indexing policy. */
export function cosmosPath(path: readonly string[]): string {
  return `/${path.map((segment) => (/^[A-Za-z_][A-Za-z0-9_]*$/.test(segment) ? segment : JSON.stringify(segment))).join("/")}`;
}
