/**
 * A source some of whose graphs are visible only to requests that name them, so that data a service stores beside its users' quads is not
 * mistaken for theirs. A request sees either the whole source or all but these graphs, whatever order its patterns are evaluated in.
 */
import { iri, type Quad, type TermText } from "../domain/rdf.ts";
import type { QuadPattern } from "../ports/triple-store.ts";
import type { RdfTerm } from "./algebra.ts";
import { sparqlLimits } from "./limits.ts";
import type { QuadSource, SparqlOptions } from "./types.ts";

type Page = Awaited<ReturnType<QuadSource["match"]>>;

export function hideGraphs(source: QuadSource, hidden: readonly TermText[]): QuadSource {
  const names = new Set(hidden);
  return {
    distinct: source.distinct,
    hidden: { graphs: hidden, all: source },
    match: async (pattern, options) => {
      if (pattern.g === undefined) return matchShown(source, names, pattern, options);
      return names.has(pattern.g) ? { quads: [] } : source.match(pattern, options);
    },
    // May be too high; zero only if there are no quads.
    count: async (pattern, options) =>
      pattern.g !== undefined && names.has(pattern.g) ? 0 : source.count(pattern, options),
    async graphs(options) {
      const page = await source.graphs(options);
      return { ...page, graphs: page.graphs.filter((name) => !names.has(name)) };
    },
  };
}

/** What a request sees. Hidden graphs are named by its text or by the protocol, as a constant. */
export function sourceFor(source: QuadSource, parsed: unknown, { dataset }: SparqlOptions): QuadSource {
  if (source.hidden === undefined) return source;
  const { graphs, all } = source.hidden;
  const given = [...(dataset?.default ?? []), ...(dataset?.named ?? [])].map((name) => iri(name));
  return given.some((name) => graphs.includes(name)) || mentions(parsed, new Set(graphs)) ? all : source;
}

function mentions(parsed: unknown, names: ReadonlySet<TermText>): boolean {
  const seen = new Set<unknown>();
  const open: unknown[] = [parsed];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next !== "object" || next === null || seen.has(next)) continue;
    seen.add(next);
    const { termType, value } = next as Partial<RdfTerm>;
    if (termType === "NamedNode" && typeof value === "string" && names.has(iri(value))) return true;
    for (const inner of Object.values(next)) if (typeof inner === "object") open.push(inner);
  }
  return false;
}

/**
 * A page of visible quads. Cursors are only valid at the ends of the source's pages, so if a source page has more visible quads than
 * requested, the source is read again with exactly as many rows as contain them. A page ends early, with a cursor, after a bounded number
 * of hidden rows.
 */
async function matchShown(
  source: QuadSource,
  hidden: ReadonlySet<TermText>,
  pattern: QuadPattern,
  options: { readonly limit: number; readonly cursor?: string | undefined },
): Promise<Page> {
  const shown: Quad[] = [];
  let { cursor } = options;
  let passed = 0;
  let width = 0;
  for (;;) {
    const want = options.limit - shown.length;
    const page = await exactly(source, hidden, pattern, { want, rows: Math.max(want, width), cursor });
    const some = page.quads.filter(({ g }) => !hidden.has(g));
    shown.push(...some);
    ({ cursor } = page);
    passed += page.quads.length - some.length;
    if (cursor === undefined || shown.length >= options.limit || passed >= sparqlLimits.hiddenRowsMax)
      return { quads: shown, cursor };
    // The lower the share of visible quads, the more rows are read per call.
    width = Math.min(
      sparqlLimits.pageQuadsMax,
      Math.max(firstWidth, (some.length === 0 ? 4 : 1) * Math.max(want, width)),
    );
  }
}

const firstWidth = 64;

/** A source page with at most `want` visible quads, from up to `rows` rows. */
async function exactly(
  source: QuadSource,
  hidden: ReadonlySet<TermText>,
  pattern: QuadPattern,
  { want, rows, cursor }: { readonly want: number; readonly rows: number; readonly cursor: string | undefined },
): Promise<Page> {
  const page = await source.match(pattern, { limit: rows, cursor });
  const at = page.quads.flatMap(({ g }, i) => (hidden.has(g) ? [] : [i]));
  if (at.length <= want) return page;
  const again = await source.match(pattern, { limit: (at[want - 1] as number) + 1, cursor });
  // Rows in between were removed concurrently. Reading as many rows as quads are wanted can never return more.
  return again.quads.filter(({ g }) => !hidden.has(g)).length <= want
    ? again
    : source.match(pattern, { limit: want, cursor });
}
