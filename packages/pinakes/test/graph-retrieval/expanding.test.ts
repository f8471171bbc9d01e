/** Graph expansion compared with a plain walk, and the limits that keep it small. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { defaultGraph, iri, literal, type Quad } from "../../src/domain/rdf.ts";
import { systemScope } from "../../src/domain/scope.ts";
import { openMemoryItems } from "../../src/drivers/memory/index.ts";
import { expandGraph, type ShownSupports } from "../../src/knowledge/search/expand-graph.ts";
import { findEntities, lookupsOf, type GraphSpace } from "../../src/knowledge/search/find-entities.ts";
import { graphSearchLimits } from "../../src/knowledge/search/graph-limits.ts";
import { labelQuads } from "../../src/knowledge/extraction/labels.ts";
import { openItemTriples } from "../../src/triples/on-items/index.ts";
import { forAllTests } from "../support/for-tests.ts";

const system = systemScope("tests of hops", () => {});
const scope = system.forTenant("acme");
let spaces = 0;
const triples = forAllTests(async () => openItemTriples({ items: await openMemoryItems(), scope: system }));

const all: ShownSupports = async (lists) => lists;
const node = (n: number) => iri(`urn:n:${n}`);

async function spaceOf(quads: readonly Quad[]): Promise<GraphSpace> {
  const space = `s${(spaces += 1)}`;
  await triples.open(scope, space);
  if (quads.length > 0) await triples.write(scope, space, { insert: quads });
  return { triples, scope, space };
}

const seedOf = (entity: string) => ({ entity, words: "it", score: 1 });

/** Edges within this distance, in either direction, by a walk over the list. */
function walk(quads: readonly Quad[], start: string, hops: number): Map<string, number> {
  const found = new Map<string, number>();
  let ends = new Set([start]);
  const seen = new Set(ends);
  for (let hop = 1; hop <= hops; hop += 1) {
    const next = new Set<string>();
    for (const { s, p, o } of quads) {
      if (!ends.has(s) && !ends.has(o)) continue;
      const key = `${s} ${p} ${o}`;
      if (!found.has(key)) found.set(key, hop);
      for (const end of [s, o]) if (!seen.has(end)) next.add(end);
    }
    for (const end of next) seen.add(end);
    ends = next;
  }
  return found;
}

describe("graph expansion", () => {
  it("R-TG-130 gives exactly the edges of a plain walk, each with its distance", async () => {
    const edge = fc.record({ s: fc.nat(9), p: fc.nat(2), o: fc.nat(9) });
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(edge, { maxLength: 25, selector: ({ s, p, o }) => `${s} ${p} ${o}` }),
        fc.integer({ min: 1, max: 3 }),
        async (edges, hops) => {
          const quads = edges.map(({ s, p, o }) => ({ s: node(s), p: iri(`urn:p:${p}`), o: node(o), g: defaultGraph }));
          const found = await expandGraph(await spaceOf(quads), [seedOf(node(0))], hops, all);
          const told = new Map(found.map(({ quad, hop }) => [`${quad.s} ${quad.p} ${quad.o}`, hop]));
          expect(told).toEqual(walk(quads, node(0), hops));
          for (const { score } of found) expect(score > 0 && score <= 1).toBe(true);
        },
      ),
      { numRuns: 150 },
    );
  });

  it("an edge supported only by chunks that are not live does not exist, and leads nowhere", async () => {
    const chain = [0, 1, 2].map((n) => ({ s: node(n), p: iri("urn:p:next"), o: node(n + 1), g: defaultGraph }));
    const graph = await spaceOf([]);
    for (const [part, quad] of chain.entries())
      await triples.write(scope, graph.space, { insert: [quad], source: { source: "d", part } });
    const without: ShownSupports = async (lists) =>
      lists.map((supports) => {
        const shown = supports.filter(({ part }) => part !== 1);
        return shown.length === 0 ? undefined : shown;
      });
    const found = await expandGraph(graph, [seedOf(node(0))], 3, without);
    expect(found.map(({ quad, supports }) => [quad.o, supports])).toEqual([[node(1), [{ source: "d", part: 0 }]]]);
  });

  it("a text leads to the entity that it names, and a name to the entities that state it", async () => {
    const [row, person, city] = [iri("urn:row"), iri("urn:person"), iri("urn:city")];
    const says = (s: string, p: string, o: string) => ({ s, p: iri(p), o: literal(o), g: defaultGraph });
    const label = "http://www.w3.org/2000/01/rdf-schema#label";
    const quads = [
      says(row, "urn:p:manager", "Grace Hopper"),
      says(person, label, "Grace Hopper"),
      says(person, "urn:p:city", "New York"),
      says(city, label, "New York"),
    ];
    const named = [...labelQuads(person, "Grace Hopper"), ...labelQuads(city, "New York")];
    const graph = await spaceOf([...quads, ...named]);
    const hopsTo = async (start: string) =>
      Object.fromEntries(
        (await expandGraph(graph, [seedOf(start)], 3, all)).map(({ quad, hop }) => [`${quad.s} ${quad.o}`, hop]),
      );
    expect(await hopsTo(row)).toMatchObject({ [`${person} "New York"`]: 2, [`${city} "New York"`]: 3 });
    expect(await hopsTo(person)).toMatchObject({ [`${row} "Grace Hopper"`]: 2 });
  });

  it("an entity gives a limited number of edges, and a hub says little", async () => {
    const { fanOutMax } = graphSearchLimits;
    const star = (count: number) =>
      Array.from({ length: count }, (_, n) => ({ s: node(n + 1), p: iri("urn:p:in"), o: node(0), g: defaultGraph }));
    const edgesOf = async (count: number) => expandGraph(await spaceOf(star(count)), [seedOf(node(0))], 1, all);
    expect((await edgesOf(fanOutMax)).length).toBe(fanOutMax);
    expect((await edgesOf(fanOutMax + 1)).length).toBe(fanOutMax);
    expect((await edgesOf(2))[0]?.score).toBeGreaterThan((await edgesOf(40))[0]?.score as number);
  });

  it("a class does not lead from one of its members to the others", async () => {
    const type = iri("http://www.w3.org/1999/02/22-rdf-syntax-ns#type");
    const quads = [0, 1, 2].map((n) => ({ s: node(n), p: type, o: iri("urn:t:person"), g: defaultGraph }));
    const found = await expandGraph(await spaceOf(quads), [seedOf(node(0))], 3, all);
    expect(found.map(({ quad }) => quad.s)).toEqual([node(0)]);
  });
});

describe("entities of a query", () => {
  it("R-TG-130 are found by their full name, ignoring case and accents, by a word of it, and as written in triples", async () => {
    const graph = await spaceOf([
      ...labelQuads(node(1), "Grace Hopper"),
      ...labelQuads(node(2), "Zoë"),
      { s: node(3), p: iri("urn:p:code"), o: literal("K-19"), g: defaultGraph },
    ]);
    const found = async (question: string) =>
      (await findEntities(graph, question)).map(({ entity, words }) => [entity, words]);
    expect(await found("Who was grace HOPPER?")).toEqual([[node(1), "grace HOPPER"]]);
    expect(await found("tell me about Hopper's work")).toEqual([[node(1), "Hopper's"]]);
    expect(await found("zoe")).toEqual([[node(2), "zoe"]]);
    expect(await found("what is K-19 for")).toEqual([[node(3), "K-19"]]);
    expect(await found("who is it that they are")).toEqual([]);
  });

  it("a long query is looked up in a limited number of word runs", () => {
    const question = Array.from({ length: 400 }, (_, i) => `word${i}`).join(" ");
    expect(lookupsOf(question)).toHaveLength(graphSearchLimits.lookupsMax);
    expect(lookupsOf("Bank of England").map(({ key }) => key)).toEqual(["bank of england", "bank", "england"]);
  });
});
