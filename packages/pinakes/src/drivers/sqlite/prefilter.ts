/**
 * A prefilter (domain/prefilter.ts) as SQL over the document's text. It may only drop documents that certainly do not match, so whatever
 * SQLite might evaluate differently is left out:
 * - paths with other characters than letters, digits, "_" and "-": such names may be escaped in the text, and SQLite has no escapes;
 * - texts with half of a surrogate pair, which has no UTF-8 form; in ranges also texts with characters from U+D800 on, among which
 *   such halves would sort differently than in domain/json.ts;
 * - the last digits of a range's number: SQLite's reading of decimals is not always the nearest. Equality is safe, because equal
 *   numbers have equal texts and SQLite reads both.
 * A boolean is 1 or 0 to SQLite, and an array its text: that may only keep a row too many.
 */
import type { JsonScalar } from "../../domain/json.ts";
import { allOf, anyOf, type Prefilter } from "../../domain/prefilter.ts";

export type PrefilterBindings = Record<string, string | number>;

const plainName = /^[A-Za-z0-9_-]{1,200}$/;
const relativeMargin = 1e-12;
const numberMax = 1e300;

type Leaf = Exclude<Prefilter, { kind: "all" | "any" }>;
type Bind = (value: string | number) => string;

/** The condition, with its values under names that begin with `f`; undefined if no part of it can be expressed. */
export function prefilterSql(prefilter: Prefilter | undefined, bindings: PrefilterBindings): string | undefined {
  const told = prefilter === undefined ? undefined : tellable(prefilter);
  if (told === undefined) return undefined;
  const bind = (value: string | number): string => {
    const name = `f${Object.keys(bindings).length}`;
    bindings[name] = value;
    return `:${name}`;
  };
  return render(told, bind);
}

/** Without the parts that SQLite might evaluate differently. Removed first: a bound value must also be used. */
function tellable(prefilter: Prefilter): Prefilter | undefined {
  if (prefilter.kind === "all") return allOf(prefilter.parts.map(tellable));
  if (prefilter.kind === "any") return anyOf(prefilter.parts.map(tellable));
  return prefilter.path.every((segment) => plainName.test(segment)) && isTellable(prefilter) ? prefilter : undefined;
}

function isTellable(leaf: Leaf): boolean {
  switch (leaf.kind) {
    case "exists":
      return true;
    case "in":
      return leaf.values.every((entry) => typeof entry !== "string" || (!entry.includes("\0") && entry.isWellFormed()));
    case "prefix":
      return isOrdinary(leaf.prefix);
    case "range":
      return typeof leaf.value === "string" ? isOrdinary(leaf.value) : Math.abs(leaf.value) <= numberMax;
  }
}

function render(prefilter: Prefilter, bind: Bind): string {
  if (prefilter.kind === "all" || prefilter.kind === "any") {
    return `(${prefilter.parts.map((part) => render(part, bind)).join(prefilter.kind === "all" ? " AND " : " OR ")})`;
  }
  const path = bind(`$${prefilter.path.map((segment) => `."${segment}"`).join("")}`);
  const [value, type] = [`json_extract(doc, ${path})`, `json_type(doc, ${path})`];
  switch (prefilter.kind) {
    case "exists":
      return `${type} IS NOT NULL`;
    case "in":
      return among(prefilter.values, value, type, bind);
    case "prefix":
      return `substr(${value}, 1, ${prefilter.prefix.length}) = ${bind(prefilter.prefix)}`;
    case "range":
      return range(prefilter, value, type, bind);
  }
}

function among(values: readonly JsonScalar[], value: string, type: string, bind: Bind): string {
  const plain = values.filter((entry) => typeof entry === "string" || typeof entry === "number");
  const types = values.filter((entry) => entry === null || typeof entry === "boolean").map((entry) => `'${entry}'`);
  const parts = [
    ...(plain.length === 0 ? [] : [`${value} IN (SELECT value FROM json_each(${bind(JSON.stringify(plain))}))`]),
    ...(types.length === 0 ? [] : [`${type} IN (${types.join(", ")})`]),
  ];
  // An empty list matches nothing; but its path is bound, and must be used.
  return parts.length === 0 ? `${type} = ''` : `(${parts.join(" OR ")})`;
}

const signs = { lt: "<", lte: "<=", gt: ">", gte: ">=" } as const;

function range(
  { operator, value: bound }: Extract<Prefilter, { kind: "range" }>,
  value: string,
  type: string,
  bind: Bind,
): string {
  if (typeof bound === "string") return `(${type} = 'text' AND ${value} ${signs[operator]} ${bind(bound)})`;
  const margin = Math.abs(bound) * relativeMargin;
  const wide = operator === "lt" || operator === "lte" ? `<= ${bind(bound + margin)}` : `>= ${bind(bound - margin)}`;
  return `(${type} IN ('integer', 'real') AND ${value} ${wide})`;
}

/** Below the surrogates, and without NUL, which ends a text in some of SQLite's functions. */
function isOrdinary(text: string): boolean {
  return !/[\ud800-\uffff]/.test(text) && !text.includes("\0");
}
