/**
 * Pages of quads. A pattern becomes a list of ranges: of partitions if the ids have its order, otherwise of indexes. A position is the
 * number of a range and the item store's own cursor in it.
 */
import { hasCode } from "../../domain/errors.ts";
import { defaultGraph, type Quad } from "../../domain/rdf.ts";
import type { Scope } from "../../domain/scope.ts";
import type { ItemStore, Query } from "../../ports/item-store.ts";
import type { QuadPattern } from "../../ports/triple-store.ts";
import { matchOrder } from "../match-order.ts";
import { badCursor } from "../space-errors.ts";
import type { MatchRequest, MatchResult } from "../triple-engine.ts";
import { keyOf, quadOf, shardOf, shardsPerSpace, tripleContainer } from "./quad-items.ts";

const { name: container } = tripleContainer;
/** The maximum page of the item store. */
const itemsPerPageMax = 1_000;

type Range = Pick<Query, "index" | "equals" | "range">;

/** Quads of the default graph come before those of named graphs, except in a full scan of the space, which goes shard by shard. */
export function rangesOf(space: string, pattern: QuadPattern): Range[] {
  const { places, bound } = matchOrder(pattern);
  const keys = places.slice(0, bound).map((place) => keyOf(pattern[place] as string));
  const kinds = pattern.g === undefined ? ["d", "n"] : [pattern.g === defaultGraph ? "d" : "n"];
  const graph = pattern.g === undefined || pattern.g === defaultGraph ? undefined : keyOf(pattern.g);
  if (places[0] === "s") {
    // The ids have this order. In a named graph only complete quads can use them.
    if (graph !== undefined && bound < 3)
      return [{ index: "gsp", equals: { space, kg: graph, ...named(places, keys) } }];
    const [subject] = keys;
    const shards =
      subject === undefined ? Array.from({ length: shardsPerSpace }, (_, shard) => shard) : [shardOf(subject)];
    const rest = `${keys.join("")}${graph ?? ""}`;
    return shards.flatMap((shard) =>
      kinds.map((kind) => ({ equals: { space, shard }, range: { prefix: `${kind}${rest}` } })),
    );
  }
  const index = places[0] === "p" ? "pos" : "osp";
  if (graph !== undefined)
    return [{ index: `g${index.slice(0, 2)}`, equals: { space, kg: graph, ...named(places, keys) } }];
  return kinds.map((kind) => ({ index, equals: { space, kind, ...named(places, keys) } }));
}

function named(places: readonly string[], keys: readonly string[]): Record<string, string> {
  return Object.fromEntries(keys.map((key, i) => [`k${places[i]}`, key]));
}

/** Where a range continues; without a cursor, at its start. */
interface RangeCursor {
  readonly range: number;
  readonly cursor?: string | undefined;
}

function parsePlace(text: string, count: number): RangeCursor {
  const [, range = "", cursor] = /^(\d{1,3}):(.+)$/s.exec(text) ?? [];
  if (cursor === undefined || Number(range) >= count) throw badCursor();
  return { range: Number(range), cursor };
}

/** Looks for one quad more than the page may contain, to detect whether there are more. */
export async function matchQuads(
  items: ItemStore,
  scope: Scope,
  space: string,
  request: MatchRequest,
): Promise<MatchResult> {
  const ranges = rangesOf(space, request.pattern);
  const quads: Quad[] = [];
  let place: RangeCursor = request.after === undefined ? { range: 0 } : parsePlace(request.after, ranges.length);
  let next: string | undefined;
  let chars = 0;
  let examined = 0;
  while (place.range < ranges.length) {
    const limit = next === undefined ? Math.min(itemsPerPageMax, request.limit + 1 - quads.length) : 1;
    const page = await readPage(items, scope, ranges[place.range] as Range, limit, place.cursor);
    examined += page.examined;
    for (const [i, { document }] of page.items.entries()) {
      if (quads.length === request.limit || chars >= request.charsMax) return { quads, next, examined };
      const quad = quadOf(document);
      quads.push(quad);
      chars += quad.s.length + quad.p.length + quad.o.length + quad.g.length;
      if (quads.length === request.limit || chars >= request.charsMax) next = `${place.range}:${page.after(i)}`;
    }
    place = page.cursor === undefined ? { range: place.range + 1 } : { range: place.range, cursor: page.cursor };
  }
  return { quads, next: undefined, examined };
}

export async function readPage(
  items: ItemStore,
  scope: Scope,
  range: Range,
  limit: number,
  cursor: string | undefined,
) {
  try {
    const page = await items.query(scope, container, { ...range, limit, cursor, resumable: true });
    return {
      items: page.items,
      cursor: page.cursor,
      examined: page.examined ?? page.items.length,
      after: page.after as (place: number) => string,
    };
  } catch (error) {
    // The item store's message would mention its own queries.
    if (cursor !== undefined && hasCode(error, "INVALID")) throw badCursor();
    throw error;
  }
}

export async function countQuads(
  items: ItemStore,
  scope: Scope,
  space: string,
  pattern: QuadPattern,
  max = Number.MAX_SAFE_INTEGER,
): Promise<number> {
  let count = 0;
  for (const range of rangesOf(space, pattern)) {
    const left = max - count;
    // A small number is counted by reading; a count would scan to the end of the range.
    if (left < itemsPerPageMax) count += (await items.query(scope, container, { ...range, limit: left })).items.length;
    else count += await items.count(scope, container, range);
    if (count >= max) return max;
  }
  return count;
}
