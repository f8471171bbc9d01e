/** What the picture shows: entities and the edges between them, no more than a reader can take in. */
import type { Term, Triple } from "@pinakes/client";
import { shortTerm, termText } from "../../api/terms.ts";
import { isEntity, nameIn, type Around } from "./around.ts";

export const nodesMax = 120;

export interface PictureNode {
  readonly id: string;
  readonly label: string;
  readonly open: boolean;
}

export interface PictureEdge {
  readonly id: string;
  readonly from: string;
  readonly to: string;
  readonly label: string;
}

export interface Picture {
  readonly nodes: readonly PictureNode[];
  readonly edges: readonly PictureEdge[];
  /** How many entities there would be without the limit. */
  readonly nodesAll: number;
}

/** Those that are open come first, then their neighbours in turns, so that no large one takes all the room. */
export function pictureOf(around: readonly Around[]): Picture {
  const names = new Map(around.map(({ term, out }) => [term, nameIn(out)]));
  const open = new Set(around.map(({ term }) => term));
  const terms = new Map<string, Term>();
  for (const one of [...openTerms(around), ...inTurns(around.map(neighboursOf))]) {
    const text = termText(one);
    if (!terms.has(text)) terms.set(text, one);
  }
  const nodes = [...terms]
    .slice(0, nodesMax)
    .map(([id, term]): PictureNode => ({ id, label: names.get(id) ?? shortTerm(term), open: open.has(id) }));
  const shown = new Set(nodes.map(({ id }) => id));
  return { nodes, edges: edgesBetween(around, shown), nodesAll: terms.size };
}

function openTerms(around: readonly Around[]): readonly Term[] {
  return around.flatMap(({ term, out, into }) => {
    const own = out[0]?.s ?? into[0]?.o;
    // An entity of which nothing is known is still there to be seen.
    return own === undefined ? [{ type: "iri", value: term.replace(/^<(.*)>$/, "$1") } satisfies Term] : [own];
  });
}

function neighboursOf({ out, into }: Around): readonly Term[] {
  return inTurns([out.map(({ o }) => o).filter(isEntity), into.map(({ s }) => s)]);
}

function inTurns<Item>(lists: readonly (readonly Item[])[]): readonly Item[] {
  const longest = Math.max(0, ...lists.map(({ length }) => length));
  return Array.from({ length: longest }, (_, i) => lists.flatMap((list) => list.slice(i, i + 1))).flat();
}

/** Several properties between the same two are one line with all their names. */
function edgesBetween(around: readonly Around[], shown: ReadonlySet<string>): readonly PictureEdge[] {
  const labels = new Map<string, { readonly from: string; readonly to: string; readonly names: Set<string> }>();
  const add = ({ s, p, o }: Triple) => {
    const [from, to] = [termText(s), termText(o)];
    if (!shown.has(from) || !shown.has(to)) return;
    const id = `${from} ${to}`;
    const edge = labels.get(id) ?? { from, to, names: new Set<string>() };
    edge.names.add(shortTerm(p));
    labels.set(id, edge);
  };
  for (const { out, into } of around) for (const triple of [...out, ...into]) add(triple);
  return [...labels].map(([id, { from, to, names }]) => ({ id, from, to, label: [...names].join(", ") }));
}
