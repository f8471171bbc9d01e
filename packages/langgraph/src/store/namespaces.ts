/** Encodes namespaces as strings with the same order and prefixes: ["users", "u1"] is `users.u1.`. */
import { hash } from "node:crypto";
import type { MatchCondition } from "@langchain/langgraph-checkpoint";

export function namespacePath(namespace: readonly string[]): string {
  return namespace.map((label) => `${label.replaceAll(/[%.\0]/g, escaped)}.`).join("");
}

/** The first string after all those with this prefix. */
export function afterPath(path: string): string {
  return `${path.slice(0, -1)}/`; // "/" is what follows "." in the order of characters.
}

/** The id of a key within its namespace. */
export function keyId(key: string): string {
  const id = `k:${encodeURIComponent(key)}`;
  return id.length <= idCharsMax ? id : `h:${hash("sha256", key, "base64url")}`;
}
const idCharsMax = 250;

export function matchesAll(namespace: readonly string[], conditions: readonly MatchCondition[] = []): boolean {
  return conditions.every(({ matchType, path }) => {
    const from = matchType === "prefix" ? 0 : namespace.length - path.length;
    return path.length <= namespace.length && path.every((label, i) => label === "*" || label === namespace[from + i]);
  });
}

function escaped(char: string): string {
  return `%${(char.codePointAt(0) as number).toString(16).padStart(2, "0")}`;
}
