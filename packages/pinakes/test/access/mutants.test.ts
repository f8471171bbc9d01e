/** The comparison with the rule finds the mistakes that it is there for. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openTestPinakes, type TestPinakes } from "../knowledge/support/test-pinakes.ts";
import { differences } from "./support/compare.ts";
import { countFaces, documentFaces, graphFaces, searchFaces, type Face, type Learned } from "./support/faces.ts";
import { isVisible, newWorld, type World } from "./support/world.ts";

let test: TestPinakes;
let world: World;
beforeAll(async () => {
  test = await openTestPinakes("sqlite");
  world = await newWorld(test, { seed: 5, people: 4, papers: 8 });
});
afterAll(() => test[Symbol.asyncDispose]());

describe("a mutant that", () => {
  it("filters hits after they are ranked is caught: fewer hits than there are", async () => {
    const limit = 3;
    const ranked = async (who: Parameters<Face>[1], count: number) => {
      const { repository, collection, knowledge } = world.place;
      const collections = [{ repository, collection }];
      const { hits } = await knowledge.search.run(who, { query: "zebra", mode: "keyword", limit: count, collections });
      return hits.map(({ citation }) => citation.filename);
    };
    // What everybody can be told of: as many hits as were asked for, or all that are visible.
    const expected = (caller: Parameters<Face>[1]): number => {
      const person = world.people.find(({ id }) => id === caller.userId);
      return Math.min(limit, world.papers.filter((paper) => person !== undefined && isVisible(person, paper)).length);
    };
    const right: string[] = [];
    const wrong: string[] = [];
    for (const person of world.people) {
      const caller = world.as(person);
      const before = await ranked(caller, limit);
      if (before.length !== expected(caller)) right.push(person.id);
      const names = new Set(world.papers.filter((paper) => isVisible(person, paper)).map(({ name }) => name));
      const after = (await ranked(world.place.caller, limit)).filter((name) => names.has(name));
      if (after.length !== expected(caller)) wrong.push(person.id);
    }
    expect(right).toEqual([]);
    expect(wrong).not.toEqual([]);
  });

  it("answers from a view of before is caught after a change", async () => {
    const known = new Map<string, Learned>();
    const cached = (name: string, face: Face): Face => {
      return async (of, caller) => {
        const key = `${name} ${caller.userId}`;
        const learned = known.get(key) ?? (await face(of, caller));
        known.set(key, learned);
        return learned;
      };
    };
    const faces = { list: documentFaces["list"], count: countFaces["count of documents"] } as Record<string, Face>;
    const mutants = Object.fromEntries(Object.entries(faces).map(([name, face]) => [name, cached(name, face)]));
    expect(await differences(world, mutants)).toEqual([]);
    const paper = world.papers.find(({ uploader }) => uploader === "user-0") ?? world.papers[0];
    if (paper === undefined) throw new Error("there are papers");
    const { knowledge, caller, repository, collection } = world.place;
    const access = { allowed_groups: null, allowed_users: ["nobody"], sensitivity: [] };
    await knowledge.documents.setAccess(caller, repository, collection, paper.document_id, access);
    world.papers = world.papers.map((one) => (one === paper ? { ...paper, access } : one));
    expect(await differences(world, faces)).toEqual([]);
    expect(await differences(world, mutants)).not.toEqual([]);
  });

  it("forgets the decision in any one face is caught there", async () => {
    const open =
      (face: Face): Face =>
      (of, _caller) =>
        face(of, of.place.caller);
    for (const [name, face] of Object.entries({ ...documentFaces, ...graphFaces, ...countFaces, ...searchFaces })) {
      // It hides what it tells where its own search shows less.
      if (name === "answers") continue;
      const found = await differences(world, { [name]: open(face) });
      expect({ name, caught: found.length > 0 }).toEqual({ name, caught: true });
    }
  });
});
