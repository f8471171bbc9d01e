/** Entities named in a query: runs of its words, looked up as names and as parts of names. No model is used. */
import { literal, type Quad, type TermText } from "../../domain/rdf.ts";
import type { Scope } from "../../domain/scope.ts";
import type { QuadPattern } from "../../ports/triple-store.ts";
import { isStopword, labelKey, labelKeyPredicate, labelsGraph, labelWordPredicate } from "../extraction/index.ts";
import type { TripleReads } from "../graph/visible-triples.ts";
import { graphSearchLimits } from "./graph-limits.ts";
import { inParallel } from "../../runtime/in-parallel.ts";

export interface Seed {
  readonly entity: TermText;
  /** The words of the query that matched. */
  readonly words: string;
  /** 0…1: confidence of the match. */
  readonly score: number;
}

export interface GraphSpace {
  readonly triples: TripleReads;
  readonly scope: Scope;
  readonly space: string;
}

/** A part of a name is weaker evidence than all of it. */
const wordShare = 0.5;
/** A literal that equals the query's text, of triples whose entities have no labels. */
const statedShare = 0.8;

export async function findEntities(graph: GraphSpace, question: string): Promise<readonly Seed[]> {
  const { triples, scope, space } = graph;
  const lookups = await thoseKnown(graph, lookupsOf(question).flatMap(questionsOf), ({ pattern }) => pattern.o);
  const found = await inParallel(lookups, graphSearchLimits.atOnceMax, async (one) =>
    seedsIn(
      one,
      (await triples.match(scope, space, one.pattern, { limit: graphSearchLimits.seedsPerNameMax + 1 })).quads,
    ),
  );
  const best = new Map<TermText, Seed>();
  for (const seed of found.flat()) if ((best.get(seed.entity)?.score ?? 0) < seed.score) best.set(seed.entity, seed);
  return [...best.values()]
    .toSorted((a, b) => b.score - a.score || (a.entity < b.entity ? -1 : 1))
    .slice(0, graphSearchLimits.seedsMax);
}

/** Most words are no names: one read filters those that may be, before each is looked up. */
export async function thoseKnown<Row>(
  { triples, scope, space }: GraphSpace,
  rows: readonly Row[],
  termOf: (row: Row) => TermText,
): Promise<readonly Row[]> {
  if (rows.length === 0) return [];
  const may = await triples.mayUse(scope, space, rows.map(termOf));
  return rows.filter((_, i) => may[i] === true);
}

interface Lookup {
  readonly key: string;
  /** As written in the query. */
  readonly written: string;
  readonly words: number;
}

/** Longest runs first: they are the most specific. A run starts and ends with a word that is no stopword. */
export function lookupsOf(question: string): readonly Lookup[] {
  const words = [...question.matchAll(/[\p{L}\p{N}][\p{L}\p{N}\p{M}’'&.-]*[\p{L}\p{N}\p{M}]|[\p{L}\p{N}]/gu)].map(
    (match) => ({
      from: match.index,
      to: match.index + match[0].length,
      empty: isStopword(labelKey(match[0])),
    }),
  );
  const lookups = new Map<string, Lookup>();
  for (let length = Math.min(graphSearchLimits.runWordsMax, words.length); length >= 1; length -= 1)
    for (let i = 0; i + length <= words.length; i += 1) {
      const [first, last] = [words[i], words[i + length - 1]];
      if (first === undefined || last === undefined || first.empty || last.empty) continue;
      const written = question.slice(first.from, last.to);
      const key = labelKey(written);
      if (key !== "" && !lookups.has(key)) lookups.set(key, { key, written, words: length });
    }
  const all = [...lookups.values()];
  if (all.length <= graphSearchLimits.lookupsMax) return all;
  // Single words and pairs are names more often than runs of five.
  return all.toSorted((a, b) => rankOf(a) - rankOf(b)).slice(0, graphSearchLimits.lookupsMax);
}

function rankOf({ words }: Lookup): number {
  return [1, 0, 2, 3, 4][words - 1] ?? 5;
}

interface Question {
  readonly written: string;
  readonly pattern: QuadPattern & { readonly o: TermText };
  readonly share: number;
}

function questionsOf({ key, written, words }: Lookup): readonly Question[] {
  return [
    { written, pattern: { p: labelKeyPredicate, o: literal(key), g: labelsGraph }, share: 1 },
    { written, pattern: { o: literal(written) }, share: statedShare },
    ...(words === 1
      ? [{ written, pattern: { p: labelWordPredicate, o: literal(key), g: labelsGraph }, share: wordShare }]
      : []),
  ];
}

function seedsIn({ written, share }: Question, quads: readonly Quad[]): readonly Seed[] {
  const entities = [
    ...new Set(
      quads
        .filter(({ g, p }) => g !== labelsGraph || p === labelKeyPredicate || p === labelWordPredicate)
        .map(({ s }) => s),
    ),
  ];
  // The more candidates, the less likely is each.
  const rarity = 1 / Math.sqrt(entities.length);
  return entities
    .slice(0, graphSearchLimits.seedsPerNameMax)
    .map((entity) => ({ entity, words: written, score: share * rarity }));
}
