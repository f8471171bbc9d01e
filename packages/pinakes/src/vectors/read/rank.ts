/** From the hits of each part to one list: unchanged, or joined by reciprocal rank fusion. */
import type { Hit, SearchResult } from "../search/pool.ts";
import type { QueryMode } from "./query-input.ts";

export interface Ranked {
  readonly source: number;
  readonly row: number;
  readonly score: number;
  readonly vector: number | undefined;
  readonly keyword: number | undefined;
}

/** The usual constant: a first rank counts little more than a second one, so that agreement of both parts wins. */
const rankOffset = 60;

/** How many hits of each part are worth fusing. */
export function partLimit(mode: QueryMode, limit: number, max: number): number {
  return mode === "hybrid" ? Math.min(max, Math.max(50, limit * 4)) : limit;
}

export function rank(result: SearchResult, mode: QueryMode, limit: number): Ranked[] {
  if (mode === "vector") return (result.vector ?? []).map((hit) => ({ ...hit, vector: hit.score, keyword: undefined }));
  if (mode === "keyword") return (result.text ?? []).map((hit) => ({ ...hit, vector: undefined, keyword: hit.score }));
  const joined = new Map<string, Ranked>();
  const add = (hits: readonly Hit[], part: "vector" | "keyword"): void => {
    for (const [place, hit] of hits.entries()) {
      const name = `${hit.source}/${hit.row}`;
      const known = joined.get(name) ?? {
        source: hit.source,
        row: hit.row,
        score: 0,
        vector: undefined,
        keyword: undefined,
      };
      joined.set(name, { ...known, [part]: hit.score, score: known.score + 1 / (rankOffset + place + 1) });
    }
  };
  add(result.vector ?? [], "vector");
  add(result.text ?? [], "keyword");
  return [...joined.values()].sort((a, b) => b.score - a.score || a.source - b.source || a.row - b.row).slice(0, limit);
}
