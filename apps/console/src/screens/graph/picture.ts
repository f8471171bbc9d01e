/** Nodes and edges of the visualization, up to a readable number. */
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
  /** Number of entities without the limit. */
  readonly nodesAll: number;
}

/** Expanded entities first, then their neighbours round-robin, so that no large one takes all the space. */
export function pictureOf(around: readonly Around[]): Picture {
  const names = new Map(around.map(({ term, out }) => [term, nameIn(out)]));
  const open = new Set(around.map(({ term }) => term));
  const terms = new Map<string, Term>();
  for (const one of [...openTerms(around), ...roundRobin(around.map(neighboursOf))]) {
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
    // An entity without triples is shown, too.
    return own === undefined ? [{ type: "iri", value: term.replace(/^<(.*)>$/, "$1") } satisfies Term] : [own];
  });
}

function neighboursOf({ out, into }: Around): readonly Term[] {
  return roundRobin([out.map(({ o }) => o).filter(isEntity), into.map(({ s }) => s)]);
}

function roundRobin<Item>(lists: readonly (readonly Item[])[]): readonly Item[] {
  const longest = Math.max(0, ...lists.map(({ length }) => length));
  return Array.from({ length: longest }, (_, i) => lists.flatMap((list) => list.slice(i, i + 1))).flat();
}

/** Merges parallel edges into one with all their names. */
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
