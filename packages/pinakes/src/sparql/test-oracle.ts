/** Oxigraph, a store in WebAssembly, asked the same question: answers of both as texts that can be compared. */
import oxigraph from "oxigraph";
import { termOf, xsd, type Quad, type TermText } from "../domain/rdf.ts";
import { numericOf, toNumber } from "./expressions/numbers.ts";
import type { Binding } from "./types.ts";

interface OracleTerm {
  readonly termType: string;
  readonly value: string;
  readonly language?: string;
  readonly datatype?: { readonly value: string };
}

export type OracleStore = InstanceType<typeof oxigraph.Store>;

export function oracle(quads: readonly Quad[]): OracleStore {
  return new oxigraph.Store(
    quads.map(({ s, p, o, g }) =>
      oxigraph.quad(
        toOracle(s) as never,
        toOracle(p) as never,
        toOracle(o) as never,
        (g === "" ? oxigraph.defaultGraph() : toOracle(g)) as never,
      ),
    ),
  );
}

function toOracle(text: TermText): unknown {
  const term = termOf(text);
  if (term.type === "iri") return oxigraph.namedNode(term.value);
  if (term.type === "blank") return oxigraph.blankNode(term.value);
  if (term.language !== undefined) return oxigraph.literal(term.value, term.language);
  return term.datatype === undefined
    ? oxigraph.literal(term.value)
    : oxigraph.literal(term.value, oxigraph.namedNode(term.datatype));
}

function fromOracle(term: OracleTerm): TermText {
  if (term.termType === "NamedNode") return `<${term.value}>`;
  if (term.termType === "BlankNode") return `_:${term.value}`;
  if (term.language) return `"${term.value}"@${term.language.toLowerCase()}`;
  return term.datatype === undefined || term.datatype.value === `${xsd}string`
    ? `"${term.value}"`
    : `"${term.value}"^^<${term.datatype.value}>`;
}

/** Rows as texts, in the order of `variables`. */
export function oracleRows(store: OracleStore, query: string, variables: readonly string[]): readonly string[] {
  const rows = store.query(query) as Map<string, OracleTerm>[];
  return rows.map((row) =>
    rowText(
      variables.map((name) => {
        const term = row.get(name);
        return term === undefined ? undefined : fromOracle(term);
      }),
    ),
  );
}

/** Numbers are written by their value: both sides may write `1.0E0` or `1`. Exactly computed ones may differ far behind the point. */
export function rowText(row: Binding): string {
  return row.map((text) => (text === undefined ? "-" : plain(text))).join(" ");
}

function plain(text: TermText): string {
  const number = text.startsWith('"') ? numericOf(text) : undefined;
  return number === undefined ? text : `${number.kind}:${Number(toNumber(number).toPrecision(12))}`;
}

export function oracleQuads(store: OracleStore): readonly string[] {
  return store
    .match()
    .map(
      ({ subject, predicate, object, graph }) =>
        [subject, predicate, object].map((part) => fromOracle(part as OracleTerm)).join(" ") +
        (graph.termType === "DefaultGraph" ? "" : ` ${fromOracle(graph)}`),
    );
}
