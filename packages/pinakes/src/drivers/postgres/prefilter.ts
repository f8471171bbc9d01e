/**
 * A prefilter (domain/prefilter.ts) as SQL over the document's text. It may only drop documents that certainly do not match.
 *
 * jsonb rejects a text that contains half of a surrogate pair; such a document is kept without evaluation. JSON.stringify writes these
 * halves, and only them, as \\ud…, so they are easily found. Numbers are compared as numeric: the shortest decimals of doubles, in which
 * the document and the bound are written, have the same order as the doubles. An element of an array may be found where domain/path.ts sees
 * nothing: that only keeps a row too many.
 */
import { allOf, anyOf, type Prefilter } from "../../domain/prefilter.ts";

type Add = (value: unknown) => string;
type Leaf = Exclude<Prefilter, { kind: "all" | "any" }>;

/** The condition on a row, its values added by `add`; undefined if no part of it can be expressed. */
export function prefilterSql(prefilter: Prefilter | undefined, add: Add): string | undefined {
  const told = prefilter === undefined ? undefined : tellable(prefilter);
  if (told === undefined) return undefined;
  // OFFSET 0 keeps PostgreSQL from parsing the text again for every comparison.
  return `(SELECT j IS NULL OR coalesce(${render(told, add)}, false) FROM (SELECT CASE WHEN strpos(doc, '\\ud') = 0 THEN doc::jsonb END AS j OFFSET 0) AS parsed)`;
}

/** Without values that PostgreSQL's text cannot hold: they would arrive as something else. */
function tellable(prefilter: Prefilter): Prefilter | undefined {
  if (prefilter.kind === "all") return allOf(prefilter.parts.map(tellable));
  if (prefilter.kind === "any") return anyOf(prefilter.parts.map(tellable));
  return [...prefilter.path, ...textsOf(prefilter)].every((text) => text.isWellFormed() && !text.includes("\0"))
    ? prefilter
    : undefined;
}

function textsOf(leaf: Leaf): readonly string[] {
  if (leaf.kind === "in") return leaf.values.filter((value) => typeof value === "string");
  if (leaf.kind === "prefix") return [leaf.prefix];
  return leaf.kind === "range" && typeof leaf.value === "string" ? [leaf.value] : [];
}

function render(prefilter: Prefilter, add: Add): string {
  if (prefilter.kind === "all" || prefilter.kind === "any") {
    return `(${prefilter.parts.map((part) => render(part, add)).join(prefilter.kind === "all" ? " AND " : " OR ")})`;
  }
  const path = `${add([...prefilter.path])}::text[]`;
  switch (prefilter.kind) {
    case "exists":
      return `(j #> ${path}) IS NOT NULL`;
    case "prefix":
      return `starts_with(j #>> ${path}, ${add(prefilter.prefix)}::text)`;
    case "in":
      return among(prefilter.values, path, add);
    case "range":
      return range(prefilter, path, add);
  }
}

function among(values: Extract<Prefilter, { kind: "in" }>["values"], path: string, add: Add): string {
  const texts = values.filter((value) => typeof value === "string" || typeof value === "boolean").map(String);
  const numbers = values.filter((value) => typeof value === "number").map(String);
  const parts = [
    ...(texts.length === 0 ? [] : [`(j #>> ${path}) COLLATE "C" = ANY(${add(texts)}::text[])`]),
    ...(numbers.length === 0 ? [] : [ofNumber(path, `= ANY(${add(numbers)}::numeric[])`)]),
    ...(values.includes(null) ? [`jsonb_typeof(j #> ${path}) = 'null'`] : []),
  ];
  // An empty list matches nothing; but its path was added, and every added value must be used.
  return parts.length === 0 ? `(j #> ${path}) IS NULL AND false` : `(${parts.join(" OR ")})`;
}

const signs = { lt: "<", lte: "<=", gt: ">", gte: ">=" } as const;

function range({ operator, value }: Extract<Prefilter, { kind: "range" }>, path: string, add: Add): string {
  if (typeof value === "number") return ofNumber(path, `${signs[operator]} ${add(String(value))}::numeric`);
  return `(jsonb_typeof(j #> ${path}) = 'string' AND (j #>> ${path}) COLLATE "C" ${signs[operator]} ${add(value)}::text)`;
}

/** CASE, because the order of AND is PostgreSQL's to choose and the cast fails for anything but a number. */
function ofNumber(path: string, test: string): string {
  return `CASE WHEN jsonb_typeof(j #> ${path}) = 'number' THEN (j #>> ${path})::numeric ${test} ELSE false END`;
}
