/**
 * Expands from the entities of a query along the edges of the graph, hop by hop. An edge counts only if a live chunk states it or it was
 * asserted directly; edges of runs that are not live are ignored.
 *
 * A short text leads to the entity that it names: table rows and fields refer to each other by text, not by IRI.
 *
 * Scores: an edge has the score of the entity it was reached from, reduced for each hop and by the degree of that entity.
 */
import { literal, termOf, type Quad, type TermText } from "../../domain/rdf.ts";
import type { Support } from "../../ports/triple-store.ts";
import { isLabelPredicate, labelKey, labelKeyPredicate, labelsGraph } from "../extraction/index.ts";
import { thoseKnown, type GraphSpace, type Seed } from "./find-entities.ts";
import { graphSearchLimits } from "./graph-limits.ts";
import { inParallel } from "../../runtime/in-parallel.ts";

export interface Edge {
  readonly quad: Quad;
  /** 1: from an entity named by the query. */
  readonly hop: number;
  readonly score: number;
  /** Live supports; empty if it was only asserted. */
  readonly supports: readonly Support[];
}

/** The live supports of each edge; undefined: it has supports, but none is live. */
export type ShownSupports = (
  supports: readonly (readonly Support[])[],
) => Promise<readonly (readonly Support[] | undefined)[]>;

const hopShare = 0.7;
const rdfType = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>";
const nameCharsMax = 100;
const supportsQuadsMax = 1_000;

export async function expandGraph(
  graph: GraphSpace,
  seeds: readonly Seed[],
  hops: number,
  shown: ShownSupports,
): Promise<readonly Edge[]> {
  const edges = new Map<string, Edge>();
  const reached = new Map<TermText, number>(seeds.map(({ entity, score }) => [entity, score]));
  let frontier: readonly (readonly [TermText, number])[] = [...reached];
  for (let hop = 1; hop <= hops && frontier.length > 0 && edges.size < graphSearchLimits.edgesMax; hop += 1) {
    const found = await inParallel(frontier, graphSearchLimits.atOnceMax, (node) => edgesOf(graph, node));
    const candidates = strongest(found.flat(), edges).slice(0, graphSearchLimits.edgesMax - edges.size);
    const kept = await keptEdges(graph, candidates, hop, shown);
    for (const edge of kept) edges.set(keyOf(edge.quad), edge);
    if (hop < hops) frontier = await nextFrontier(graph, kept, reached);
  }
  return [...edges.values()].toSorted((a, b) => b.score - a.score || (keyOf(a.quad) < keyOf(b.quad) ? -1 : 1));
}

interface Candidate {
  readonly quad: Quad;
  readonly score: number;
}

/** Outgoing and incoming edges. A class does not lead from one of its members to the others. */
async function edgesOf(
  { triples, scope, space }: GraphSpace,
  [node, score]: readonly [TermText, number],
): Promise<readonly Candidate[]> {
  const limit = graphSearchLimits.fanOutMax + 1;
  const patterns = node.startsWith('"') ? [{ o: node }] : [{ s: node }, { o: node }];
  const pages = await Promise.all(patterns.map((pattern) => triples.match(scope, space, pattern, { limit })));
  return pages.flatMap(({ quads }, i) => {
    const into = i === 1;
    const real = quads
      .filter(({ g, p }) => g !== labelsGraph && !(into && p === rdfType))
      .slice(0, graphSearchLimits.fanOutMax);
    const rarity = 1 / Math.log2(1 + Math.max(1, real.length));
    // Properties of an entity are about it however many it has; an entity that many others refer to is a hub.
    return real.map((quad) => ({ quad, score: score * hopShare * (into ? rarity : Math.sqrt(rarity)) }));
  });
}

function strongest(candidates: readonly Candidate[], known: ReadonlyMap<string, Edge>): readonly Candidate[] {
  const best = new Map<string, Candidate>();
  for (const candidate of candidates) {
    const key = keyOf(candidate.quad);
    if (!known.has(key) && (best.get(key)?.score ?? 0) < candidate.score) best.set(key, candidate);
  }
  return [...best.entries()]
    .toSorted(([a, one], [b, other]) => other.score - one.score || (a < b ? -1 : 1))
    .map(([, candidate]) => candidate);
}

async function keptEdges(
  { triples, scope, space }: GraphSpace,
  candidates: readonly Candidate[],
  hop: number,
  shown: ShownSupports,
): Promise<readonly Edge[]> {
  const edges: Edge[] = [];
  for (let at = 0; at < candidates.length; at += supportsQuadsMax) {
    const part = candidates.slice(at, at + supportsQuadsMax);
    const quads = part.map(({ quad }) => quad);
    const supports = await shown(await triples.supports(scope, space, quads));
    // A quad supported only by non-live runs still counts if it was also asserted directly. This is rare, so it is looked up only in that
    // case.
    const unseen = quads.filter((_, i) => supports[i] === undefined);
    const asserted = unseen.length === 0 ? [] : await triples.asserted(scope, space, unseen);
    const kept = new Set(unseen.filter((_, i) => asserted[i] === true));
    for (const [i, { quad, score }] of part.entries()) {
      const own = supports[i] ?? (kept.has(quad) ? [] : undefined);
      if (own !== undefined) edges.push({ quad, score, hop, supports: own });
    }
  }
  return edges;
}

/** The entities at the other ends, and those named by texts at the other ends. */
async function nextFrontier(
  graph: GraphSpace,
  edges: readonly Edge[],
  reached: Map<TermText, number>,
): Promise<readonly (readonly [TermText, number])[]> {
  const ends = new Map<TermText, number>();
  const texts = new Map<string, number>();
  const note = <Key>(map: Map<Key, number>, key: Key, score: number) =>
    map.set(key, Math.max(map.get(key) ?? 0, score));
  for (const { quad, score } of edges)
    for (const end of [quad.s, quad.o]) {
      if (end.startsWith('"')) {
        const name = nameOf(end);
        if (name === undefined || reached.has(end)) continue;
        // An entity's label leads to entities with that label; any other text to the entity that it names.
        if (isLabelPredicate(quad.p)) note(ends, end, score);
        else note(texts, name, score);
      } else if (!reached.has(end)) note(ends, end, score);
    }
  const strongTexts = [...texts].toSorted((a, b) => b[1] - a[1]).slice(0, graphSearchLimits.frontierMax);
  const known = await thoseKnown(graph, strongTexts, ([name]) => literal(name));
  const named = await inParallel(known, graphSearchLimits.atOnceMax, async ([name, score]) => ({
    score,
    entities: await entitiesNamed(graph, name),
  }));
  for (const { score, entities } of named)
    for (const entity of entities) if (!reached.has(entity)) note(ends, entity, score / Math.sqrt(entities.length));
  const next = [...ends]
    .toSorted((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))
    .slice(0, graphSearchLimits.frontierMax);
  for (const [entity, score] of next) reached.set(entity, score);
  return next;
}

async function entitiesNamed({ triples, scope, space }: GraphSpace, name: string): Promise<readonly TermText[]> {
  const pattern = { p: labelKeyPredicate, o: literal(name), g: labelsGraph };
  const { quads } = await triples.match(scope, space, pattern, { limit: graphSearchLimits.seedsPerNameMax });
  return [...new Set(quads.map(({ s }) => s))];
}

/** A literal that may be a name: short, with letters. */
function nameOf(text: TermText): string | undefined {
  const term = termOf(text);
  if (
    term.type !== "literal" ||
    term.datatype !== undefined ||
    term.value.length > nameCharsMax ||
    !/\p{L}/u.test(term.value)
  )
    return undefined;
  const key = labelKey(term.value);
  return key === "" ? undefined : key;
}

function keyOf({ s, p, o, g }: Quad): string {
  return `${s} ${p} ${o} ${g}`;
}
