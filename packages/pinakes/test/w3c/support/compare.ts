/** Whether two datasets, or two tables of results, are the same but for the labels of their blank nodes. */
import { blank, defaultGraph, iri, literal, termOf, xsd, type Quad, type TermText } from "../../../src/domain/rdf.ts";
import { canonicalHash } from "../../../src/rdf/test-rdf.ts";

export interface Table {
  readonly variables: readonly string[];
  readonly rows: readonly (readonly (TermText | undefined)[])[];
  /** The suite says which row comes first. */
  readonly ordered: boolean;
}

export type Results = Table | boolean;

export async function sameDataset(actual: readonly Quad[], expected: readonly Quad[]): Promise<boolean> {
  return (await canonicalHash(relabelled(actual))) === (await canonicalHash(relabelled(expected)));
}

/** The library that makes canonical forms knows fewer labels of blank nodes than the grammar. */
function relabelled(quads: readonly Quad[]): readonly Quad[] {
  const labels = new Map<TermText, TermText>();
  const plain = (text: TermText): TermText => {
    if (!text.startsWith("_:")) return text;
    const known = labels.get(text) ?? blank(`b${labels.size}`);
    labels.set(text, known);
    return known;
  };
  return quads.map(({ s, p, o, g }) => ({ s: plain(s), p, o: plain(o), g: plain(g) }));
}

/** `lax`: how often a row comes is not asked (REDUCED). */
export async function sameResults(
  actual: Results,
  expected: Results,
  { lax = false }: { readonly lax?: boolean } = {},
): Promise<boolean> {
  if (typeof actual === "boolean" || typeof expected === "boolean") return actual === expected;
  if (actual.variables.toSorted().join() !== expected.variables.toSorted().join()) return false;
  const order = expected.variables;
  const { ordered } = expected;
  const wanted = asQuads(rowsBy(expected, order), { ordered, lax });
  const found = asQuads(rowsBy(actual, order), { ordered, lax });
  return sameDataset(found, wanted);
}

function rowsBy({ variables, rows }: Table, order: readonly string[]): readonly (readonly (TermText | undefined)[])[] {
  const places = order.map((name) => variables.indexOf(name));
  return rows.map((row) => places.map((at) => (row[at] === undefined ? undefined : byValue(row[at]))));
}

/** A table as a graph, so that the isomorphism of graphs decides: each row is a node with a property for each column. */
function asQuads(
  rows: readonly (readonly (TermText | undefined)[])[],
  { ordered, lax }: { readonly ordered: boolean; readonly lax: boolean },
): Quad[] {
  const hasBlanks = rows.some((row) => row.some((text) => text?.startsWith("_:")));
  // Rows without blank nodes are counted instead of told apart: the canonical form of many equal nodes is slow to find.
  const counts = new Map<string, number>();
  return rows.flatMap((row, at): Quad[] => {
    const key = JSON.stringify(row);
    const count = (counts.get(key) ?? 0) + 1;
    counts.set(key, count);
    if (lax && count > 1) return [];
    const s = hasBlanks ? blank(`row${at}`) : iri(`row:${encodeURIComponent(key)}:${count}`);
    const cells = row.flatMap((o, column) =>
      o === undefined ? [] : [{ s, p: iri(`column:${column}`), o, g: defaultGraph }],
    );
    return [{ s, p: iri("row:index"), o: literal(ordered ? String(at) : ""), g: defaultGraph }, ...cells];
  });
}

const exact =
  /^(?:integer|decimal|long|int|short|byte|nonNegativeInteger|nonPositiveInteger|negativeInteger|positiveInteger|unsigned\w+)$/;

/** Numbers of one datatype are the same when their values are: suites write 2 and 2.0, 1.0e1 and 10. */
function byValue(text: TermText): TermText {
  const term = termOf(text);
  if (term.type !== "literal" || term.datatype === undefined || !term.datatype.startsWith(xsd)) return text;
  const type = term.datatype.slice(xsd.length);
  const { datatype } = term;
  if ((type === "double" || type === "float") && /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/.test(term.value))
    return literal(String(Number(term.value)), { datatype });
  const digits = exact.test(type) ? /^([+-]?)0*(\d*)(?:\.(\d*?)0*)?$/.exec(term.value) : null;
  if (digits === null || /\d/.exec(term.value) === null) return text;
  const [, sign, whole, part = ""] = digits;
  const value = `${whole === "" ? "0" : whole}${part === "" ? "" : `.${part}`}`;
  return literal(`${sign === "-" && value !== "0" ? "-" : ""}${value}`, { datatype });
}
