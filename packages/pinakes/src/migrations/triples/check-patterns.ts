/**
 * Verifies the schema after a migration (R-TG-95): for some triples of the source, each of the eight patterns must return exactly what a
 * full scan of the source gives, and examine no more rows than it returns plus a constant (R-TG-81).
 */
import type { Quad } from "../../domain/rdf.ts";
import type { QuadPattern, TripleStore } from "../../ports/triple-store.ts";
import { ContentHash, isSame, type Measured } from "../content-hash.ts";
import type { Held } from "../source.ts";

/** Spread over the source; each is queried in seven ways, and the whole once. */
const samples = 3;
/** Rows that an index may examine per page beyond those it returns. */
const examinedMoreMax = 8;
const quadsPerPage = 5_000;

const shapes: readonly (readonly (keyof Quad)[])[] = [
  ["s"],
  ["p"],
  ["o"],
  ["s", "p"],
  ["p", "o"],
  ["o", "s"],
  ["s", "p", "o"],
];

export async function checkPatterns(
  triples: TripleStore,
  held: Held,
  quads: () => AsyncIterable<Quad>,
): Promise<readonly string[]> {
  const queries = [{ name: "get_all", pattern: {} as QuadPattern }, ...(await sample(quads())).flatMap(patternsOf)];
  const expected = queries.map(() => new ContentHash());
  for await (const quad of quads()) {
    const text = textOf(quad);
    for (const [i, { pattern }] of queries.entries()) if (matches(quad, pattern)) expected[i]?.add(text);
  }
  const wrong: string[] = [];
  for (const [i, { name, pattern }] of queries.entries()) {
    const found = await ask(triples, held, pattern);
    const wanted = (expected[i] as ContentHash).measured;
    if (!isSame(found.measured, wanted))
      wrong.push(
        `${name} ${JSON.stringify(pattern)} finds ${found.measured.count} triples, the source has ${wanted.count}`,
      );
    if (found.wasted > examinedMoreMax)
      wrong.push(`${name} ${JSON.stringify(pattern)} examines ${found.wasted} rows more than it returns`);
  }
  return wrong;
}

/** The first triple, and others at growing distances: every part of the source has a chance. */
async function sample(quads: AsyncIterable<Quad>): Promise<readonly Quad[]> {
  const sampled: Quad[] = [];
  let at = 0;
  for await (const quad of quads) {
    if ((at & (at - 1)) === 0) sampled.push(quad);
    at += 1;
  }
  return sampled.length <= samples
    ? sampled
    : [sampled[0] as Quad, sampled[sampled.length >> 1] as Quad, sampled.at(-1) as Quad];
}

function patternsOf(quad: Quad): readonly { readonly name: string; readonly pattern: QuadPattern }[] {
  return shapes.map((shape) => ({
    name: `get_${shape.join("")}`,
    pattern: Object.fromEntries(shape.map((term) => [term, quad[term]])),
  }));
}

function matches(quad: Quad, { s, p, o }: QuadPattern): boolean {
  return (s === undefined || s === quad.s) && (p === undefined || p === quad.p) && (o === undefined || o === quad.o);
}

async function ask(
  triples: TripleStore,
  { scope, destination, signal }: Held,
  pattern: QuadPattern,
): Promise<{ measured: Measured; wasted: number }> {
  const sum = new ContentHash();
  let wasted = 0;
  for (let cursor: string | undefined; ;) {
    signal.throwIfAborted();
    const page = await triples.match(scope, destination.incarnation, pattern, { limit: quadsPerPage, cursor });
    for (const quad of page.quads) sum.add(textOf(quad));
    wasted = Math.max(wasted, page.examined - page.quads.length);
    cursor = page.cursor;
    if (cursor === undefined) return { measured: sum.measured, wasted };
  }
}

function textOf({ s, p, o, g }: Quad): string {
  return JSON.stringify([s, p, o, g]);
}
