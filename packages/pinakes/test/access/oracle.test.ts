/** Document access: every face of the library compared with the rule, for generated users, groups and documents. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { knowledgeEngines } from "../knowledge/support/knowledge-engines.ts";
import type { TestPinakes } from "../knowledge/support/test-pinakes.ts";
import { differences } from "./support/compare.ts";
import { faces } from "./support/faces.ts";
import { newWorld, randomAccess, seeded, type Paper, type World } from "./support/world.ts";

async function change(world: World, paper: Paper, access: Paper["access"]): Promise<void> {
  const { knowledge, caller, repository, collection } = world.place;
  await knowledge.documents.setAccess(caller, repository, collection, paper.document_id, access);
  world.papers = world.papers.map((one) => (one === paper ? { ...paper, access } : one));
}

describe.each(knowledgeEngines())("the access of documents on %s", (name, openOn) => {
  let test: TestPinakes;
  let world: World;
  beforeAll(async () => {
    test = await openOn();
    world = await newWorld(test, name === "SQLite" ? { seed: 19 } : { seed: 20, people: 3, papers: 6 });
  });
  afterAll(() => test[Symbol.asyncDispose]());

  it("every face tells everybody of exactly the documents that the rule gives them, after uploads", async () => {
    expect(await differences(world, faces)).toEqual([]);
  });

  it("and after each change, at the next call", async () => {
    const random = seeded(7);
    // Servers answer the same questions more slowly.
    const rounds = name === "SQLite" ? 4 : 1;
    for (let round = 0; round < rounds; round += 1) {
      for (const paper of world.papers)
        if (random() < 0.5) await change(world, paper, randomAccess(random, world.people));
      expect(await differences(world, faces)).toEqual([]);
    }
  });
});
