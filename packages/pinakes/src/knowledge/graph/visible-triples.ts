/**
 * The quads of collections without those that a caller may not see: quads that only hidden documents support (RFC 0014). A quad that was
 * also asserted, or that a visible document supports, is visible.
 */
import type { Caller } from "../../domain/caller.ts";
import type { Quad } from "../../domain/rdf.ts";
import type { Scope } from "../../domain/scope.ts";
import type { TripleStore } from "../../ports/triple-store.ts";
import { visiblePage } from "../../runtime/visible-page.ts";
import { hiddenDocuments, type HiddenDocuments } from "../access/hidden-documents.ts";
import type { OpenCollection } from "../access/open-collection.ts";
import type { KnowledgeDependencies } from "../dependencies.ts";
import { readSource } from "../records/graph-source.ts";

/** What queries read of the triple store. */
export type TripleReads = Pick<TripleStore, "match" | "count" | "supports" | "asserted" | "mayUse" | "graphs">;

/** Quads of one call for supports. */
const supportsQuadsMax = 1_000;
const pageQuadsMax = 10_000;

/** The store itself if the caller sees all documents of these collections. */
export async function visibleTriples(
  deps: Pick<KnowledgeDependencies, "items" | "triples">,
  caller: Caller,
  opened: readonly Pick<OpenCollection, "collection" | "decision">[],
): Promise<TripleReads> {
  const hidden = new Map<string, HiddenDocuments>();
  for (const one of opened) {
    const documents = await hiddenDocuments(deps, caller, one);
    if (documents !== undefined) hidden.set(one.collection.incarnation, documents);
  }
  return hidden.size === 0 ? deps.triples : withoutHidden(deps.triples, hidden);
}

export function withoutHidden(triples: TripleReads, hidden: ReadonlyMap<string, HiddenDocuments>): TripleReads {
  const match: TripleReads["match"] = async (scope, space, pattern, { limit = 1_000, cursor } = {}) => {
    const documents = hidden.get(space);
    if (documents === undefined) return triples.match(scope, space, pattern, { limit, cursor });
    let examined = 0;
    const page = await visiblePage(
      {
        async read(rows, from) {
          const found = await triples.match(scope, space, pattern, { limit: rows, cursor: from });
          examined += found.examined;
          return { rows: found.quads, cursor: found.cursor };
        },
        visible: async (quads) => visibleQuads(triples, scope, space, documents, quads),
        rowsMax: pageQuadsMax,
      },
      limit,
      cursor,
    );
    return { quads: page.rows, cursor: page.cursor, examined };
  };
  return {
    match,
    async count(scope, space, pattern, { max = Infinity } = {}) {
      if (!hidden.has(space)) return triples.count(scope, space, pattern, max === Infinity ? {} : { max });
      let count = 0;
      let cursor: string | undefined;
      do {
        const page = await match(scope, space, pattern, { limit: Math.min(pageQuadsMax, max - count), cursor });
        count += page.quads.length;
        ({ cursor } = page);
      } while (cursor !== undefined && count < max);
      return count;
    },
    async supports(scope, space, quads) {
      const documents = hidden.get(space);
      const found = await triples.supports(scope, space, quads);
      if (documents === undefined) return found;
      return found.map((supports) => supports.filter(({ source }) => !isHidden(documents, source)));
    },
    asserted: async (scope, space, quads) => triples.asserted(scope, space, quads),
    mayUse: async (scope, space, terms) => triples.mayUse(scope, space, terms),
    async graphs(scope, space, options = {}) {
      const page = await triples.graphs(scope, space, options);
      if (!hidden.has(space)) return page;
      const shown = await Promise.all(
        page.graphs.map(async (g) => (await match(scope, space, { g }, { limit: 1 })).quads.length > 0),
      );
      return { ...page, graphs: page.graphs.filter((_, i) => shown[i]) };
    },
  };
}

/** Those of the quads that are asserted, or that a document supports which is not hidden; in their order. */
export async function visibleQuads(
  triples: Pick<TripleStore, "supports" | "asserted">,
  scope: Scope,
  space: string,
  hidden: HiddenDocuments,
  quads: readonly Quad[],
): Promise<readonly Quad[]> {
  const visible: Quad[] = [];
  for (let at = 0; at < quads.length; at += supportsQuadsMax) {
    const some = quads.slice(at, at + supportsQuadsMax);
    const supports = await triples.supports(scope, space, some);
    const unseen = some.filter((_, i) => {
      const own = supports[i] ?? [];
      return own.length > 0 && own.every(({ source }) => isHidden(hidden, source));
    });
    const asserted = unseen.length === 0 ? [] : await triples.asserted(scope, space, unseen);
    const left = new Set(unseen.filter((_, i) => asserted[i] !== true));
    visible.push(...some.filter((quad) => !left.has(quad)));
  }
  return visible;
}

function isHidden(hidden: HiddenDocuments, source: string): boolean {
  const documentId = readSource(source)?.documentId;
  return documentId !== undefined && hidden.values.has(documentId);
}
