/** What other dialects of SQL have and this subset has not, as it is met where something else was expected; each with what to write. */
import type { Token } from "./tokens.ts";

export interface Foreign {
  readonly what: string;
  readonly instead: string;
}

const writes: Foreign = {
  what: "a statement that writes",
  instead: "a query begins with SELECT and only reads; use create, patch, delete or bulk of the container",
};
const joins: Foreign = {
  what: "a JOIN of two containers",
  instead: "a query reads one; JOIN t IN c.items goes through an array of the document",
};
const sets: Foreign = { what: "UNION, EXCEPT and INTERSECT", instead: "use OR and AND in WHERE, or ask twice" };

const words: Readonly<Record<string, Foreign>> = {
  HAVING: {
    what: "HAVING (nor has Cosmos DB)",
    instead: "filter the groups of the answer in your program, or their documents with WHERE",
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
    instead: "begin with SELECT; EXISTS(SELECT VALUE …) and ARRAY(SELECT VALUE …) are the subqueries there are",
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

/** Undefined for what is simply wrong. */
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

/** Not taken for an alias that stands without AS. */
export function isForeignWord({ kind, text }: Token): boolean {
  return kind === "name" && Object.hasOwn(words, text.toUpperCase());
}
