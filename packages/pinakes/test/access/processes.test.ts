/** Two processes over the same stores: what one changes decides the next call of the other, whatever it has read before. */
import { describe, expect, it } from "vitest";
import { knowledgeEngines } from "../knowledge/support/knowledge-engines.ts";
import { differences } from "./support/compare.ts";
import { countFaces, documentFaces, graphFaces, searchFaces } from "./support/faces.ts";
import { newWorld, randomAccess, seeded } from "./support/world.ts";

const faces = {
  list: documentFaces["list"],
  get: documentFaces["get"],
  search: searchFaces["search by both"],
  sparql: graphFaces["sparql"],
  count: countFaces["count of documents"],
} as Record<string, NonNullable<(typeof documentFaces)[string]>>;

describe.each(knowledgeEngines())("two processes on %s", (_name, openOn) => {
  it("a change of an access in one is in effect in the next call of the other", async () => {
    await using first = await openOn();
    await using second = await openOn(first.stores);
    const world = await newWorld(first, { seed: 3, people: 3, papers: 5 });
    const there = { ...world, place: { ...world.place, knowledge: second.knowledge } };
    const random = seeded(11);
    expect(await differences(there, faces)).toEqual([]);
    for (const paper of world.papers.slice(0, 3)) {
      const access = randomAccess(random, world.people);
      const { knowledge, caller, repository, collection } = world.place;
      await knowledge.documents.setAccess(caller, repository, collection, paper.document_id, access);
      there.papers = there.papers.map((one) => (one.name === paper.name ? { ...paper, access } : one));
      expect(await differences(there, faces)).toEqual([]);
    }
  });
});
