/**
 * A process that dies, or whose call fails, at any of its calls while documents with triples come, change and go: when another process is
 * through, the graph holds exactly what the documents that are shown state, and each triple exactly their support.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Machine, type Process } from "../knowledge/support/machine.ts";
import { body, type Place } from "../knowledge/support/test-pinakes.ts";
import { until } from "../knowledge/support/until.ts";
import type { FaultKind } from "../vectors/support/calls.ts";
import { actualSupports, expectedSupports, type GraphStores } from "./support/graph-oracle.ts";

const minute = 60_000;
let machine: Machine;
let places = 0;
beforeAll(async () => {
  machine = await Machine.open();
});
afterAll(() => machine[Symbol.asyncDispose]());

async function freshPlace(): Promise<Place> {
  const { knowledge } = await machine.process();
  const caller = machine.admin;
  if (places === 0) await knowledge.createRepository(caller, { repository_id: "crashes", graph: { extract: "structured", key: "name" } });
  places += 1;
  const { collection_id } = await knowledge.createCollection(caller, "crashes", { name: `C ${places}` });
  return { knowledge, caller, repository: "crashes", collection: collection_id };
}

async function scenario(process: Process, { caller, repository, collection }: Place): Promise<void> {
  const { knowledge } = process;
  const send = (name: string, text: string, replace = false) => knowledge.upload(caller, repository, collection, { name, body: body(text), replace });
  const { document_id } = await send("a.csv", "name,city\nAda,London\nBob,Paris\n");
  await process.work();
  await send("b.csv", "name,city\nAda,London\n");
  await send("a.csv", "name,city\nAda,London\nBob,Oslo\n", true);
  await process.work();
  await knowledge.deleteDocument(caller, repository, collection, document_id);
}

async function recover(): Promise<void> {
  const other = await machine.process();
  for (let round = 0; round < 8; round += 1) {
    machine.now += round === 0 ? 2.1 * minute : 11 * minute;
    await other.sweep();
    await other.work();
  }
  await other.close();
}

function stores(): GraphStores {
  return { items: machine.items, objects: machine.objects, triples: machine.triples, vectors: machine.vectors.vectors };
}

async function expectSound(place: Place, at: string): Promise<void> {
  expect(await actualSupports(stores(), place), at).toEqual(await expectedSupports(stores(), place));
}

async function faultAt(n: number, kind: FaultKind): Promise<string | undefined> {
  const place = await freshPlace();
  const process = await machine.process();
  process.calls.add({ at: n, kind });
  const outcome = scenario(process, place).then(
    () => "done",
    () => "error",
  );
  await Promise.race([outcome, process.calls.died]);
  const name = process.calls.names[n];
  if (name === undefined) return undefined;
  if (!process.calls.dead) await process.close();
  await recover();
  await expectSound(place, `${kind} at call ${n}, ${name}`);
  return name;
}

/** A re-index into shorter passages, with a fault at its n-th call. */
async function reindexFaultAt(n: number, kind: FaultKind): Promise<boolean> {
  const place = await freshPlace();
  const { caller, repository, collection } = place;
  const quiet = await machine.process();
  const rows = Array.from({ length: 12 }, (_, i) => `Person ${i},City ${i % 3}`).join("\n");
  await quiet.knowledge.upload(caller, repository, collection, { name: "a.csv", body: body(`name,city\n${rows}\n`) });
  await quiet.work();
  await quiet.knowledge.updateCollection(caller, repository, collection, {
    chunking_strategy: { type: "FIXED", unit: "char", chunk_size: 100, chunk_overlap: 0 },
  });
  const process = await machine.process();
  process.calls.add({ at: n, kind });
  const reindex = async (): Promise<void> => {
    const { job_id } = await process.knowledge.reindexCollection(caller, repository, collection);
    await until(async () => (["succeeded", "failed"].includes((await quiet.knowledge.jobs.get(caller, job_id)).status) ? true : undefined));
  };
  await Promise.race([reindex().catch(() => {}), process.calls.died]);
  const name = process.calls.names[n];
  if (!process.calls.dead) await process.close();
  await recover();
  const at = `${kind} at call ${n} of a re-index, ${name}`;
  await expectSound(place, at);
  const supports = await actualSupports(stores(), place);
  expect(supports.length, at).toBeGreaterThan(0);
  // One generation, whichever it is.
  expect(new Set(supports.map((line) => /(\d+) #\d+$/.exec(line)?.[1])).size, at).toBe(1);
  return name !== undefined;
}

describe("every call of a re-index of documents with triples", () => {
  it.each(["crash-before", "crash-after"] as const)(
    "R-TG-128 R-TG-131 %s: the support is that of one generation, the one that is shown",
    async (kind) => {
      let n = 0;
      while (await reindexFaultAt(n, kind)) n += 1;
      expect(n).toBeGreaterThan(20);
    },
    300_000,
  );
});

describe("every call of ingesting, replacing and deleting documents with triples", () => {
  it.each(["crash-before", "crash-after", "error-before", "error-after"] as const)(
    "R-TG-129 R-TG-131 %s: the graph ends as the documents that are shown state it",
    async (kind) => {
      const met = new Set<string>();
      for (let n = 0; ; n += 1) {
        const name = await faultAt(n, kind);
        if (name === undefined) break;
        met.add(name);
      }
      expect([...met]).toEqual(expect.arrayContaining(["triples.open", "triples.write", "triples.removeSource", "items.batch"]));
    },
    300_000,
  );

  it("R-TG-129 what could not be removed before a collection went into the trash is removed when it is restored", async () => {
    const place = await freshPlace();
    const { caller, repository, collection } = place;
    const process = await machine.process();
    const { document_id } = await process.knowledge.upload(caller, repository, collection, { name: "a.csv", body: body("name,city\nAda,London\n") });
    await process.work();
    process.calls.add({ at: (name) => name === "triples.removeSource", kind: "crash-before" });
    void process.knowledge.deleteDocument(caller, repository, collection, document_id);
    await process.calls.died;
    const other = await machine.process();
    const { incarnation } = await other.knowledge.collection(caller, repository, collection);
    await other.knowledge.deleteCollection(caller, repository, collection);
    await recover();
    // In the trash nothing changes.
    expect((await machine.triples.usage(caller.scope, incarnation)).quads).toBeGreaterThan(0);
    await other.knowledge.restoreCollection(caller, repository, collection);
    await recover();
    expect(await actualSupports(stores(), place)).toEqual([]);
  });

  it("R-TG-129 a worker that writes late, and dies: its message comes again, and takes back what the delete could not know of", async () => {
    const place = await freshPlace();
    const { caller, repository, collection } = place;
    const slow = await machine.process();
    const written = Promise.withResolvers<void>();
    const held = Promise.withResolvers<void>();
    slow.calls.add({ at: (name) => name === "triples.write", kind: "hold", until: held.promise, reached: written.resolve });
    const { document_id } = await slow.knowledge.upload(caller, repository, collection, { name: "a.csv", body: body("name,city\nAda,London\n") });
    const working = slow.work();
    await written.promise;
    const other = await machine.process();
    await other.knowledge.deleteDocument(caller, repository, collection, document_id);
    // The write gets through, and with its answer the process is gone.
    slow.calls.add({ at: (name) => name !== "triples.write", kind: "crash-before", always: true });
    held.resolve();
    await slow.calls.died;
    void working;
    expect((await actualSupports(stores(), place)).length).toBeGreaterThan(0);
    await recover();
    await expectSound(place, "late write");
    expect(await actualSupports(stores(), place)).toEqual([]);
  });
});
