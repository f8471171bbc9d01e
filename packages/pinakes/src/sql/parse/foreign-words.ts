/**
 * Syntax of other SQL dialects that this subset does not have, as encountered where something else was expected, each with an alternative.
 */
import type { Token } from "./tokens.ts";

export interface Foreign {
  readonly what: string;
  readonly instead: string;
}

const writes: Foreign = {
  what: "a statement that modifies data",
  instead: "a query starts with SELECT and is read-only; use the container's create, patch, delete or bulk calls",
};
const joins: Foreign = {
  what: "a JOIN of two containers",
  instead: "a query reads one; JOIN t IN c.items iterates over an array of the document",
};
const sets: Foreign = { what: "UNION, EXCEPT and INTERSECT", instead: "use OR and AND in WHERE, or run two queries" };

const words: Readonly<Record<string, Foreign>> = {
  HAVING: {
    what: "HAVING (nor has Cosmos DB)",
    instead: "filter the groups of the result in your program, or their documents with WHERE",
  },
  IS: { what: "IS NULL and IS NOT NULL", instead: "use IS_NULL(c.x), NOT IS_NULL(c.x) or IS_DEFINED(c.x)" },
  ON: joins,
  INNER: joins,
  LEFT: joins,
  RIGHT: joins,
  FULL: joins,
  CROSS: joins,
  UNION: sets,
  EXCEPT: sets,
  INTERSECT: sets,
  WITH: {
    what: "WITH (named subqueries)",
    instead: "start with SELECT; the supported subqueries are EXISTS(SELECT VALUE …) and ARRAY(SELECT VALUE …)",
  },
  INSERT: writes,
  UPDATE: writes,
  DELETE: writes,
  UPSERT: writes,
  MERGE: writes,
  CREATE: writes,
  DROP: writes,
  ALTER: writes,
  ILIKE: { what: "ILIKE", instead: "use LOWER(c.x) LIKE '…'" },
  CASE: { what: "CASE", instead: "use condition ? value : other" },
};

/** Undefined for plain syntax errors. */
export function foreignAt(token: Token, before: Token | undefined): Foreign | undefined {
  const upper = token.text.toUpperCase();
  if (token.kind === "name") return Object.hasOwn(words, upper) ? words[upper] : undefined;
  const after = before?.text.toUpperCase();
  if (token.kind === "string" && after === "AS")
    return { what: "a name in quotes after AS", instead: "write it without them, such as AS total" };
  if (token.kind !== "symbol") return undefined;
  if (token.text === "=" && after === "=") return { what: "==", instead: "use =" };
  return token.text === "*" && after === "(" ? { what: "COUNT(*)", instead: "use COUNT(1)" } : undefined;
}

/** Words that are not treated as an alias without AS. */
export function isForeignWord({ kind, text }: Token): boolean {
  return kind === "name" && Object.hasOwn(words, text.toUpperCase());
}
