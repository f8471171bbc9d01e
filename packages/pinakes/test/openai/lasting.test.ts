/** What lasts for OpenAI's client: the largest batch of files, and stores that expire when nobody uses them. */
import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { useServers } from "../support/servers.ts";
import { until } from "../support/until.ts";
import { all, openAiWorld, soon, textFile, type OpenAiWorld } from "./support/openai-world.ts";

const { postgres } = useServers();
const dayMs = 86_400_000;
/** BATCH_FILES: 2,000, the most, in `npm run test:long`. */
const batchFiles = Number(process.env["BATCH_FILES"] ?? 60);

describe.each([
  ["SQLite", () => ({})],
  ["PostgreSQL", () => ({ items: postgres(), objects: "memory:" })],
])("stores that expire on %s", (_, options) => {
  let world: OpenAiWorld;
  let ann: OpenAI;
  beforeAll(async () => {
    world = await openAiWorld({ ...options(), sweepMs: 50 });
    ann = await world.client("w1", "ann");
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  it("an unused store expires: it says so, cannot be searched or filled, and can be used again", async () => {
    const after = { anchor: "last_active_at" as const, days: 2 };
    const store = await ann.vectorStores.create({ name: "Short", expires_after: after });
    const kept = await ann.vectorStores.create({ name: "Kept" });
    const file = await ann.files.create({
      file: textFile("a.txt", "The pump starts at 4 bar."),
      purpose: "assistants",
    });
    for (const { id } of [store, kept]) await ann.vectorStores.files.createAndPoll(id, { file_id: file.id }, soon);
    expect((await ann.vectorStores.retrieve(store.id)).status).toBe("completed");
    world.server.later(2.5 * dayMs);
    const expired = await until(async () => {
      const now = await ann.vectorStores.retrieve(store.id);
      return now.status === "expired" && now.file_counts.total === 0 ? now : undefined;
    });
    expect(expired).toMatchObject({ expires_after: after, file_counts: { total: 0 } });
    await expect(ann.vectorStores.search(store.id, { query: "pump" })).rejects.toThrow(/has expired/);
    await expect(ann.vectorStores.files.create(store.id, { file_id: file.id })).rejects.toBeInstanceOf(
      OpenAI.BadRequestError,
    );
    expect(await ann.vectorStores.retrieve(kept.id)).toMatchObject({ status: "completed", file_counts: { total: 1 } });
    expect((await ann.files.retrieve(file.id)).id).toBe(file.id);
    const again = await ann.vectorStores.update(store.id, { expires_after: null });
    expect(again.status).toBe("completed");
    await ann.vectorStores.files.createAndPoll(store.id, { file_id: file.id }, soon);
    expect((await ann.vectorStores.search(store.id, { query: "pump" })).data).toHaveLength(1);
  });
});

describe.each([
  ["SQLite", () => ({})],
  ["PostgreSQL", () => ({ items: postgres(), objects: "memory:" })],
])("a batch on %s", (_, options) => {
  it("that is cancelled attaches none of the files that are not indexed yet, and says so of each", async () => {
    // Nothing is indexed on this server: the batch is in progress until it is cancelled.
    await using world = await openAiWorld({ ...options(), background: false });
    const ann = await world.client("cancelling", "ann");
    const store = await ann.vectorStores.create({ name: "Cancelled" });
    const ids: string[] = [];
    for (const name of ["a.txt", "b.txt", "c.txt"])
      ids.push((await ann.files.create({ file: textFile(name, `Words of ${name}.`), purpose: "assistants" })).id);
    const batches = ann.vectorStores.fileBatches;
    const of = { vector_store_id: store.id };
    const { id, ...begun } = await batches.create(store.id, { file_ids: ids });
    expect(begun).toMatchObject({ status: "in_progress", file_counts: { in_progress: 3, cancelled: 0, total: 3 } });
    expect(await batches.cancel(id, of)).toMatchObject({ id, status: "cancelled", file_counts: { total: 3 } });
    // A file that was being attached meanwhile is taken back.
    const counts = { in_progress: 0, completed: 0, failed: 0, cancelled: 3, total: 3 };
    await expect.poll(async () => (await ann.vectorStores.retrieve(store.id)).file_counts).toEqual(counts);
    expect(await batches.poll(store.id, id, soon)).toMatchObject({ status: "cancelled" });
    // The status is decided at once; the batch counts its files when the last of them is settled.
    await expect.poll(async () => (await batches.retrieve(id, of)).file_counts).toEqual(counts);
    expect(
      (await all(batches.listFiles(id, { ...of, filter: "cancelled", order: "asc" }))).map((one) => one.id),
    ).toEqual(ids);
    expect((await ann.vectorStores.files.retrieve(ids[0] as string, of)).status).toBe("cancelled");
    expect((await ann.vectorStores.search(store.id, { query: "words" })).data).toEqual([]);
    expect((await ann.files.retrieve(ids[0] as string)).id).toBe(ids[0]);
    // Another user of the workspace cannot cancel what it does not see.
    const ben = await world.client("cancelling", "ben");
    await expect(ben.vectorStores.fileBatches.cancel(id, of)).rejects.toBeInstanceOf(OpenAI.NotFoundError);
  });
});

describe("a large batch", () => {
  it(`has ${batchFiles} files, each with its own result`, async () => {
    await using world = await openAiWorld();
    const ann = await world.client("w1", "ann");
    const store = await ann.vectorStores.create({ name: "Large" });
    const ids: string[] = [];
    let next = 0;
    await Promise.all(
      Array.from({ length: 8 }, async () => {
        for (let i = next++; i < batchFiles; i = next++)
          ids.push((await ann.files.create({ file: textFile(`f${i}.txt`, `n ${i}`), purpose: "assistants" })).id);
      }),
    );
    const batch = await ann.vectorStores.fileBatches.createAndPoll(store.id, { file_ids: ids }, soon);
    expect(batch).toMatchObject({ status: "completed", file_counts: { completed: batchFiles, total: batchFiles } });
    const listed = await all(ann.vectorStores.files.list(store.id, { limit: 100 }));
    expect(listed.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
    expect((await ann.vectorStores.retrieve(store.id)).file_counts).toMatchObject({ total: batchFiles, failed: 0 });
  });
});
