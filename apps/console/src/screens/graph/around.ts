/** An entity with its incoming and outgoing triples. */
import type { Page, Term, Triple } from "@pinakes/client";
import { queryOptions } from "@tanstack/react-query";
import type { CollectionId } from "../../api/collections.ts";
import { triplePage } from "../../api/graph.ts";
import { termText } from "../../api/terms.ts";

/** Per direction. */
export const aroundTriplesMax = 100;

export interface Around {
  readonly term: string;
  readonly out: readonly Triple[];
  readonly outCut: boolean;
  readonly into: readonly Triple[];
  readonly intoCut: boolean;
}

export function aroundOptions(id: CollectionId, term: string) {
  return queryOptions({
    queryKey: ["triples", id.rid, id.cid, "around", term],
    queryFn: async ({ signal }): Promise<Around> => {
      // A literal is never a subject.
      const said = term.startsWith('"')
        ? { items: [], next_cursor: null }
        : await triplePage(id, { s: term }, aroundTriplesMax, signal);
      const pointing = await triplePage(id, { o: term }, aroundTriplesMax, signal);
      return { term, out: said.items, outCut: isCut(said), into: pointing.items, intoCut: isCut(pointing) };
    },
  });
}

function isCut(page: Page<Triple>): boolean {
  return page.next_cursor !== null;
}

const nameEndings = ["#label", "/name", "#prefLabel", "/title", "/label"];

/** Its label, if the graph has one. */
export function nameIn(out: readonly Triple[]): string | undefined {
  for (const ending of nameEndings) {
    const found = out.find(({ p, o }) => o.type === "literal" && p.value.endsWith(ending));
    if (found !== undefined) return found.o.value;
  }
  return undefined;
}

export function isEntity({ type }: Term): boolean {
  return type !== "literal";
}

export function sameTriple(triple: Triple): string {
  return [triple.s, triple.p, triple.o].map(termText).join(" ") + (triple.g === null ? "" : ` ${termText(triple.g)}`);
}
