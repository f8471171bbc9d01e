/** A whole collection is chunked and embedded again, while it answers. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { JobView } from "../../src/knowledge/index.ts";
import {
  engines,
  newPlace,
  openTestPinakes,
  recount,
  texts,
  upload,
  uploaded,
  type Place,
  type TestPinakes,
} from "./support/test-pinakes.ts";
import { until } from "../support/until.ts";

const animals = ["otter", "heron", "badger", "newt", "vole", "stoat", "wren", "pike"];
const story = (animal: string) =>
  Array.from(
    { length: 12 },
    (_, i) => `The ${animal} went along the river on day ${i} and saw nothing new there.`,
  ).join("\n\n");

describe.each(engines)("re-indexing on %s", (engine) => {
  let test: TestPinakes;
  beforeAll(async () => {
    // The same model under two names: what matters is that a new generation is created.
    test = await openTestPinakes(engine, {
      models: [
        { id: "first", provider: "local" },
        { id: "second", provider: "local" },
      ],
    });
  });
  afterAll(() => test[Symbol.asyncDispose]());

  async function filled(): Promise<Place> {
    const place = await newPlace(test);
    for (const animal of animals) await uploaded(place, `${animal}.txt`, story(animal));
    return place;
  }

  async function over(place: Place, { job_id }: JobView): Promise<JobView> {
    return until(async () => {
      const job = await place.knowledge.jobs.get(place.caller, job_id);
      return job.status === "succeeded" || job.status === "failed" ? job : undefined;
    });
  }

  it("R-LISA-69 a new chunking strategy warns, existing chunks stay until a re-index, which replaces all and counts correctly", async () => {
    const place = await filled();
    const { knowledge, caller, repository, collection } = place;
    const before = await knowledge.collections.get(caller, repository, collection);
    const changed = await knowledge.collections.update(caller, repository, collection, {
      chunking_strategy: { type: "FIXED", chunk_size: 200, chunk_overlap: 0 },
    });
    expect(changed.warnings.join()).toContain("Re-index");
    const [one] = (await knowledge.documents.list(caller, repository, collection)).items;
    expect(one?.chunking_strategy?.type).toBe("RECURSIVE");
    const job = await over(place, await knowledge.collections.reindex(caller, repository, collection));
    expect(job).toMatchObject({ status: "succeeded", progress: { done: animals.length, total: animals.length } });
    const after = await knowledge.collections.get(caller, repository, collection);
    expect(after.chunk_count).toBeGreaterThan(before.chunk_count);
    expect(
      (await knowledge.documents.list(caller, repository, collection)).items.every(
        ({ chunking_strategy: cut }) => cut?.type === "FIXED",
      ),
    ).toBe(true);
    const { told, counted } = await recount(place);
    expect(told).toEqual(counted);
    const found = await texts(place, "the badger along the river");
    expect(found.every((text) => text.length <= 200)).toBe(true);
    expect(found.some((text) => text.includes("badger"))).toBe(true);
  });

  it("with another model the collection answers throughout, from the old generation or the new one, and ends with the new model", async () => {
    const place = await filled();
    const { knowledge, caller, repository, collection } = place;
    let stop = false;
    let searches = 0;
    const searcher = (async () => {
      while (!stop) {
        const found = await texts(place, "stoat", { mode: "keyword" });
        expect(found.filter((text) => text.includes("stoat")).length).toBeGreaterThan(0);
        const vector = await texts(place, "a stoat by the river", { mode: "vector" });
        expect(vector.length).toBeGreaterThan(0);
        searches += 1;
      }
    })();
    const job = await over(
      place,
      await knowledge.collections.reindex(caller, repository, collection, { embedding_model: "second" }),
    );
    stop = true;
    await searcher;
    expect(searches).toBeGreaterThan(0);
    expect(job).toMatchObject({
      status: "succeeded",
      result: { documents: animals.length, embedding_model: "second" },
    });
    expect((await knowledge.collections.get(caller, repository, collection)).embedding_model).toBe("second");
    expect((await texts(place, "wren")).some((text) => text.includes("wren"))).toBe(true);
  });

  it("documents added, replaced and removed meanwhile are correct afterwards", async () => {
    const place = await filled();
    const { knowledge, caller, repository, collection } = place;
    const gone = (await knowledge.documents.list(caller, repository, collection, { q: "vole" })).items[0];
    const job = await knowledge.collections.reindex(caller, repository, collection, { embedding_model: "second" });
    const [added, replaced] = await Promise.all([
      upload(place, "lynx.txt", story("lynx")),
      upload(place, "newt.txt", story("salamander"), { replace: true }),
      knowledge.documents.delete(caller, repository, collection, gone?.document_id as string),
    ]);
    expect(await over(place, job)).toMatchObject({ status: "succeeded" });
    await until(async () => {
      const documents = await Promise.all(
        [added, replaced].map(({ document_id }) =>
          knowledge.documents.get(caller, repository, collection, document_id),
        ),
      );
      return documents.every(({ status }) => status === "indexed");
    });
    const found = async (word: string) =>
      (await texts(place, word, { mode: "keyword" })).filter((text) => text.includes(word)).length;
    expect(await found("lynx")).toBeGreaterThan(0);
    expect(await found("salamander")).toBeGreaterThan(0);
    expect(await found("newt")).toBe(0);
    expect(await found("vole")).toBe(0);
    expect(await found("heron")).toBeGreaterThan(0);
    const { told, counted } = await recount(place);
    expect(told).toEqual(counted);
  });

  it("a model that is not configured is refused, and nothing starts", async () => {
    const place = await newPlace(test);
    await expect(
      place.knowledge.collections.reindex(place.caller, place.repository, place.collection, {
        embedding_model: "third",
      }),
    ).rejects.toMatchObject({
      code: "NOT_FOUND",
      detail: expect.stringContaining("first, second") as string,
    });
  });
});
