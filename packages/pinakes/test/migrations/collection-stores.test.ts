/** `migrate-collection` and the stores of the old incarnation: after an overtaken switch that died, after a late re-index. */
import { expect, it } from "vitest";
import { CollectionPartition } from "../../src/knowledge/records/collection-partition.ts";
import { trashMs } from "../../src/knowledge/limits.ts";
import { storeSpareMs } from "../../src/knowledge/deletion/delete-collection.ts";
import { itemIds, type IndexedVersion } from "../../src/knowledge/records/records.ts";
import { until } from "../support/until.ts";
import { contentsOf, plant } from "./support/planted-collection.ts";
import { quietWorld } from "./support/quiet-world.ts";

const { world, quiet } = await quietWorld();
let names = 0;

interface Planted {
  readonly from: string;
  readonly repository: string;
  readonly partition: CollectionPartition;
  readonly id: string;
}

/** To its own repository, to stay within the limit of collections. */
async function planted(
  prepare: (partition: CollectionPartition, from: string) => Promise<void> = async () => {},
): Promise<Planted> {
  const from = `c${(names += 1)}`;
  const repository = `r${names}`;
  await quiet.knowledge.repositories.create(world.admin, { repository_id: repository });
  const { incarnation } = await plant(world, quiet, from);
  const partition = new CollectionPartition(world.items, world.admin.scope, {
    repository_id: "kb",
    collection_id: from,
    incarnation,
  });
  await prepare(partition, from);
  const { migration_id: id } = await quiet.plan({
    kind: "collection",
    repository: "kb",
    collection: from,
    to: { repository },
  });
  return { from, repository, partition, id };
}

const contents = async (repository: string, collection: string) =>
  JSON.stringify(await contentsOf(world, repository, collection));

it("R-TG-63 R-TG-99 a switch overtaken by a rollback that died at any later call: the sweep opens the stores of the old one again", async () => {
  let died = 0;
  for (let k = 0; ; k += 1) {
    const { from, id } = await planted();
    const before = await contents("kb", from);
    await quiet.run(id, "copy", "validate");
    const other = await world.process();
    const [reached, overtaken] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let hidden = false;
    // The old one is hidden, and its stores are about to be closed.
    other.calls.add({
      at: (name) => (hidden ||= name === "items.batch collections") && name === "items.write knowledge-work",
      kind: "hold",
      until: overtaken.promise,
      reached: reached.resolve,
    });
    await other.migrations.cutover(world.admin, id);
    const switching = other.drive(id).then(
      () => "over" as const,
      () => "over" as const,
    );
    await reached.promise;
    // A paused process keeps its lease for a while.
    world.now += 120_000;
    expect(await quiet.run(id, "rollback")).toMatchObject({ state: "rolled_back", error: null });
    const at = other.calls.names.length + k;
    other.calls.add({ at, kind: "crash-before" });
    overtaken.resolve();
    const ended = await Promise.race([switching, other.calls.died]);
    const what = `${k} ${other.calls.names[at] ?? "none"}`;
    world.now += 120_000;
    await quiet.sweep();
    world.now += trashMs + storeSpareMs;
    await world.vectors.sweep();
    expect(await contents("kb", from), what).toBe(before);
    await quiet.knowledge.rows.upsert(world.admin, "kb", from, { items: [{ id: "new", vector: [1, 1, 1] }] });
    await quiet.knowledge.graph.sparql(world.admin, "kb", from, {
      update: "INSERT DATA { <http://x/s> <http://x/p> <http://x/o> }",
    });
    await quiet.knowledge.collections.delete(world.admin, "kb", from);
    if (ended === "over") break;
    died += 1;
  }
  expect(died).toBeGreaterThan(9);
});

/** A re-index that has switched, to another model, but not settled. */
async function switchedOnly(partition: CollectionPartition, from: string): Promise<void> {
  const { vectors } = world.vectors;
  await vectors.create(partition.scope, partition.vectors(2), { dims: 4 });
  for (const id of [`${from}-one`, `${from}-two`]) {
    const found = await partition.read(id);
    const prepared = { ...(found?.record.live as IndexedVersion), generation: 2, chunk_count: 3 };
    await partition.write([
      {
        op: "replace",
        document: partition.document(itemIds.document(id), { ...found?.record, prepared }),
        ifMatch: found?.etag as string,
      },
    ]);
    const metadata = { document_id: id, catalog_id: from, user_id: "root", run: 1 };
    const upsert = [0, 1, 2].map((chunk) => ({
      id: `${id}.1.${chunk}`,
      vector: Float32Array.of(1, chunk, 1, 0.5),
      text: "x",
      metadata: { ...metadata, chunk },
    }));
    await vectors.append(partition.scope, partition.vectors(2), { upsert });
  }
  const fence = await partition.fence();
  const document = partition.document(itemIds.fence, {
    ...fence?.record,
    generation: 2,
    embedding_model: "another",
    next: null,
  });
  await partition.clean([{ op: "replace", document, ifMatch: fence?.etag as string }]);
}

/** The n-th call of the job; the request reads the collection once before it. */
function ofJob(n: number): (name: string) => boolean {
  let [reads, calls] = [0, -1];
  return (name) => {
    if (name === "items.readMany collections") reads += 1;
    return reads > 1 && (calls += 1) === n;
  };
}

async function expectSettled({ repository, from }: Planted, what: string): Promise<void> {
  const { incarnation, embedding_model } = await quiet.knowledge.collections.get(world.admin, repository, from);
  expect(embedding_model, what).toBe("another");
  const partition = new CollectionPartition(world.items, world.admin.scope, {
    repository_id: repository,
    collection_id: from,
    incarnation,
  });
  for (const id of [`${from}-one`, `${from}-two`])
    expect((await partition.read(id))?.record, what).toMatchObject({
      live: { generation: 2, chunk_count: 3 },
      prepared: null,
    });
  expect((await partition.stats())?.record.chunk_count, what).toBe(6);
}

it("R-TG-63 R-TG-98 a re-index that pauses at any call before it starts writes nothing to the held one; what the previous one left is settled before the copy", async () => {
  let slept = 0;
  for (let n = 0; ; n += 1) {
    const made = await planted(switchedOnly);
    const { from, id, partition } = made;
    const other = await world.process();
    const [reached, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    other.calls.add({ at: ofJob(n), kind: "hold", until: held.promise, reached: reached.resolve });
    const { job_id } = await other.knowledge.collections.reindex(world.admin, "kb", from, {});
    await reached.promise;
    const what = `${n} ${other.calls.names.at(-1) as string}`;
    const begun = ((await partition.fence())?.record.next ?? null) !== null;
    if (begun) {
      held.resolve();
      await other.close();
      break;
    }
    expect(await quiet.run(id, "copy"), what).toMatchObject({ state: "copied", error: null });
    const copied = await contents("kb", from);
    held.resolve();
    const job = await until(async () => {
      const found = await quiet.knowledge.jobs.get(world.admin, job_id);
      return found.error === null ? undefined : found;
    });
    expect(job, what).toMatchObject({
      status: "running",
      error: expect.stringContaining("in its new location") as string,
    });
    expect(await contents("kb", from), what).toBe(copied);
    expect(await quiet.run(id, "validate", "cutover"), what).toMatchObject({ state: "switched", error: null });
    await expectSettled(made, what);
    await other.close();
    slept += 1;
  }
  expect(slept).toBeGreaterThan(10);
});

it("R-TG-63 R-TG-98 a re-index that runs after the collection has moved has failed, and what it would have settled is settled in its new location", async () => {
  const made = await planted(switchedOnly);
  const other = await world.process();
  const [reached, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  other.calls.add({ at: ofJob(0), kind: "hold", until: held.promise, reached: reached.resolve });
  const { job_id } = await other.knowledge.collections.reindex(world.admin, "kb", made.from, {});
  await reached.promise;
  expect(await quiet.run(made.id, "copy", "validate", "cutover")).toMatchObject({ state: "switched", error: null });
  held.resolve();
  const job = await until(async () => {
    const found = await quiet.knowledge.jobs.get(world.admin, job_id);
    return found.status === "failed" ? found : undefined;
  });
  expect(job.error).toContain("no active collection");
  await expectSettled(made, "late");
  await other.close();
});
