import { beforeAll, describe, expect, it } from "vitest";
import type { Caller } from "../domain/caller.ts";
import { open } from "../open.ts";
import { evaluationLimits, type NewEvaluation } from "./evaluation-input.ts";
import { forAllTests } from "../../test/support/for-tests.ts";

const { queriesMax, relevantPerQueryMax, kMax, gradeMax, documentIdCharsMax } = evaluationLimits;
const collections = [{ repository: "library", collection: "open" }];
const valid: NewEvaluation = {
  name: "Questions",
  collections,
  queries: [
    { query: "bees dance", relevant: [{ document_id: "bees", grade: 2 }] },
    { query: "the sea", relevant: [{ document_id: "moon" }, { document_id: "not-there" }] },
  ],
};

let anna: Caller;

const pinakes = forAllTests(() => open({ items: "memory:", objects: "memory:" }));
beforeAll(async () => {
  const admin = pinakes.as({ tenant: "acme", userId: "root", role: "admin" });
  anna = pinakes.as({ tenant: "acme", userId: "anna" });
  await pinakes.knowledge.repositories.create(admin, { repository_id: "library", name: "Library" });
  await pinakes.knowledge.collections.create(admin, "library", { collection_id: "open", name: "Open" });
});

describe("limits of an evaluation", () => {
  const created = async (changes: Partial<NewEvaluation>) =>
    pinakes.knowledge.evaluations.create(anna, { ...valid, ...changes });
  const query = (count: number, documentId = "d", grade = 1) => ({
    query: "q",
    relevant: Array.from({ length: count }, (_, i) => ({ document_id: `${documentId}${i === 0 ? "" : i}`, grade })),
  });

  it("each is accepted at the limit and refused one past it", async () => {
    expect(await created({ queries: Array.from({ length: queriesMax }, () => query(1)) })).toMatchObject({
      query_count: queriesMax,
    });
    await expect(created({ queries: Array.from({ length: queriesMax + 1 }, () => query(1)) })).rejects.toMatchObject({
      code: "LIMIT_EXCEEDED",
    });
    expect(await created({ queries: [query(relevantPerQueryMax)] })).toMatchObject({ query_count: 1 });
    await expect(created({ queries: [query(relevantPerQueryMax + 1)] })).rejects.toThrow(
      "queries[0].relevant: has 101 entries; at most 100 are allowed.",
    );
    expect(await created({ k: kMax })).toMatchObject({ k: kMax });
    await expect(created({ k: kMax + 1 })).rejects.toThrow(/^k: must be a whole number from 1 to 100, got 101/);
    await expect(created({ k: 0 })).rejects.toThrow(/^k: must be/);
    expect(await created({ queries: [query(1, "d", gradeMax)] })).toMatchObject({ query_count: 1 });
    await expect(created({ queries: [query(1, "d", gradeMax + 1)] })).rejects.toThrow(
      /^queries\[0\]\.relevant\[0\]\.grade: must be a whole number from 1 to 100/,
    );
    expect(await created({ queries: [query(1, "x".repeat(documentIdCharsMax))] })).toMatchObject({ query_count: 1 });
    await expect(created({ queries: [query(1, "x".repeat(documentIdCharsMax + 1))] })).rejects.toThrow(
      /document_id: must be a string of 1–128 characters/,
    );
    expect(await created({ queries: [{ ...query(1), query: "q".repeat(10_000) }] })).toMatchObject({ query_count: 1 });
    await expect(created({ queries: [{ ...query(1), query: "q".repeat(10_001) }] })).rejects.toThrow(
      /^queries\[0\]\.query: must be a string of 1–10000/,
    );
    expect(
      await created({ collections: Array.from({ length: 1_000 }, () => collections[0] as (typeof collections)[0]) }),
    ).toMatchObject({ query_count: 2 });
    await expect(
      created({ collections: Array.from({ length: 1_001 }, () => collections[0] as (typeof collections)[0]) }),
    ).rejects.toMatchObject({
      code: "LIMIT_EXCEEDED",
    });
  });

  it("an evaluation at all limits exceeds a record's size, and is still accepted", async () => {
    const long = "x".repeat(documentIdCharsMax - 4);
    const { evaluation_id } = await created({
      queries: Array.from({ length: queriesMax }, () => query(relevantPerQueryMax, long)),
    });
    expect(await pinakes.knowledge.evaluations.get(anna, evaluation_id)).toMatchObject({ query_count: queriesMax });
  });

  it.each<readonly [string, unknown, RegExp]>([
    ["no object", [], /An evaluation must be an object/],
    ["no name", { name: "", collections: [], queries: [] }, /queries: must be a non-empty list/],
    [
      "nothing relevant",
      { queries: [{ query: "q", relevant: [] }] },
      /queries\[0\]\.relevant: must be a non-empty list/,
    ],
    [
      "a document twice",
      { queries: [{ query: "q", relevant: [{ document_id: "d" }, { document_id: "d" }] }] },
      /queries\[0\]\.relevant: names a document twice/,
    ],
    ["no collection", { collections: [] }, /collections: must be a non-empty list/],
    ["no ids", { collections: [{ repository: "library" }] }, /collections\[0\]: needs the ids/],
    ["a name with markup", { name: "<b>" }, /name: may have letters/],
  ])("%s", async (_, changes, message) => {
    const body = Array.isArray(changes) ? changes : { ...valid, ...(changes as object) };
    await expect(pinakes.knowledge.evaluations.create(anna, body as NewEvaluation)).rejects.toThrow(message);
  });

  it("an invalid run is refused before it becomes a job", async () => {
    const { evaluation_id } = await created({});
    await expect(pinakes.knowledge.evaluations.run(anna, evaluation_id, { vector_weight: 2 })).rejects.toThrow(
      /run\.vector_weight: must be a number from 0 to 1/,
    );
  });
});
