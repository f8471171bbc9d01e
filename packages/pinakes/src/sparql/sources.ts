/** Spaces of a triple store as the source and sink of SPARQL. Access to the spaces is checked by the caller. */
import { invalid } from "../domain/errors.ts";
import type { Quad, TermText } from "../domain/rdf.ts";
import type { Scope } from "../domain/scope.ts";
import type { QuadPattern, TripleStore } from "../ports/triple-store.ts";
import type { QuadSink, QuadSource } from "./types.ts";

/** What a source needs of a triple store. */
export type QuadReads = Pick<TripleStore, "match" | "count" | "graphs">;

export function tripleStoreSource(store: QuadReads, scope: Scope, spaces: readonly string[]): QuadSource {
  return unionSource([...new Set(spaces)].map((space) => spaceSource(store, scope, space)));
}

export function tripleStoreSink(store: TripleStore, scope: Scope, space: string): QuadSink {
  return { write: ({ remove, insert }) => store.write(scope, space, { remove, insert }) };
}

function spaceSource(store: QuadReads, scope: Scope, space: string): QuadSource {
  return {
    distinct: true,
    match: (pattern, options) => store.match(scope, space, pattern, options),
    count: (pattern, options) => store.count(scope, space, pattern, options),
    graphs: (options) => store.graphs(scope, space, options),
  };
}

/**
 * Combines several sources. Blank nodes differ between sources even if their labels are equal, so each label is prefixed with the number of
 * its source; a quad that two sources contain is returned twice, which the evaluator handles.
 */
export function unionSource(sources: readonly QuadSource[]): QuadSource {
  const [only] = sources;
  if (only !== undefined && sources.length === 1) return only;
  const at = (cursor: string | undefined): readonly [number, string | undefined] => {
    if (cursor === undefined) return [0, undefined];
    const split = cursor.indexOf(":");
    if (split < 1) throw invalid("SPARQL: the cursor does not belong to this source.");
    return [Number(cursor.slice(0, split)), cursor.slice(split + 1) || undefined];
  };
  const after = (index: number, inner: string | undefined) =>
    inner === undefined ? (index + 1 < sources.length ? `${index + 1}:` : undefined) : `${index}:${inner}`;
  return {
    distinct: false,
    async match(pattern, { limit, cursor }) {
      const [index, inner] = at(cursor);
      const source = sources[index];
      const own = patternFor(index, pattern);
      if (source === undefined) return { quads: [] };
      const page =
        own === undefined ? { quads: [], cursor: undefined } : await source.match(own, { limit, cursor: inner });
      return { quads: page.quads.map((quad) => tagged(index, quad)), cursor: after(index, page.cursor) };
    },
    async count(pattern, { max }) {
      let sum = 0;
      for (const [index, source] of sources.entries()) {
        const own = patternFor(index, pattern);
        if (own !== undefined && sum < max) sum += await source.count(own, { max: max - sum });
      }
      return sum;
    },
    async graphs({ limit, cursor }) {
      const [index, inner] = at(cursor);
      const source = sources[index];
      if (source === undefined) return { graphs: [] };
      const page = await source.graphs({ limit, cursor: inner });
      return { graphs: page.graphs.map((name) => tag(index, name)), cursor: after(index, page.cursor) };
    },
  };
}

function tag(index: number, text: TermText): TermText {
  return text.startsWith("_:") ? `_:c${index}.${text.slice(2)}` : text;
}

function tagged(index: number, { s, p, o, g }: Quad): Quad {
  return { s: tag(index, s), p, o: tag(index, o), g: tag(index, g) };
}

/** The term as the source itself writes it; undefined for a blank node of another source. */
function patternFor(index: number, pattern: QuadPattern): QuadPattern | undefined {
  const prefix = `_:c${index}.`;
  const own: { s?: TermText; p?: TermText; o?: TermText; g?: TermText } = {};
  for (const place of ["s", "p", "o", "g"] as const) {
    const text = pattern[place];
    if (text === undefined) continue;
    if (text.startsWith("_:") && !text.startsWith(prefix)) return undefined;
    own[place] = text.startsWith("_:") ? `_:${text.slice(prefix.length)}` : text;
  }
  return own;
}
