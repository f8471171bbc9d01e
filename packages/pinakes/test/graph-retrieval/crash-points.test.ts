/**
 * A process that dies, or whose call fails, at any of its calls while documents with triples are added, replaced and removed: after
 * recovery the graph contains exactly what the live documents state, each triple with exactly their support.
 */
import { describe, expect, it } from "vitest";
import { indexingDeadMs } from "../../src/knowledge/ingest/watchdog.ts";
import { Crashes } from "../knowledge/support/crashes.ts";
import { Machine, type Process } from "../knowledge/support/machine.ts";
import { body, type Place } from "../knowledge/support/test-pinakes.ts";
import { until } from "../support/until.ts";
import type { FaultKind } from "../vectors/support/calls.ts";
import { actualSupports, expectedSupports, type GraphStores } from "./support/graph-oracle.ts";
import { forAllTests } from "../support/for-tests.ts";

const machine = forAllTests(() => Machine.open());
const crashes = forAllTests(() => new Crashes(machine, { graph: { extract: "structured", key: "name" } }));
const freshPlace = (): Promise<Place> => crashes.freshPlace();
const recover = (): Promise<void> => crashes.recover();

async function scenario(process: Process, { caller, repository, collection }: Place): Promise<void> {
  const { knowledge } = process;
  const send = (name: string, text: string, replace = false) =>
    knowledge.documents.upload(caller, repository, collection, { name, body: body(text), replace });
  const { document_id } = await send("a.csv", "name,city\nAda,London\nBob,Paris\n");
  await process.work();
  await send("b.csv", "name,city\nAda,London\n");
  await send("a.csv", "name,city\nAda,London\nBob,Oslo\n", true);
  await process.work();
  await knowledge.documents.delete(caller, repository, collection, document_id);
}

function stores(): GraphStores {
  return { items: machine.items, objects: machine.objects, triples: machine.triples, vectors: machine.vectors.vectors };
}

async function expectSound(place: Place, at: string): Promise<void> {
  expect(await actualSupports(stores(), place), at).toEqual(await expectedSupports(stores(), place));
}

async function faultAt(n: number, kind: FaultKind): Promise<string | undefined> {
  const place = await freshPlace();
  const name = await crashes.faultAt(n, kind, (process) => scenario(process, place));
  if (name === undefined) return undefined;
  await recover();
  await expectSound(place, `${kind} at call ${n}, ${name}`);
  return name;
}

/** A re-index into shorter chunks, with a fault at its n-th call. */
async function reindexFaultAt(n: number, kind: FaultKind): Promise<boolean> {
  const place = await freshPlace();
  const { caller, repository, collection } = place;
  const quiet = await machine.process();
  const rows = Array.from({ length: 12 }, (_, i) => `Person ${i},City ${i % 3}`).join("\n");
  await quiet.knowledge.documents.upload(caller, repository, collection, {
    name: "a.csv",
    body: body(`name,city\n${rows}\n`),
  });
  await quiet.work();
  await quiet.knowledge.collections.update(caller, repository, collection, {
    chunking_strategy: { type: "FIXED", unit: "char", chunk_size: 100, chunk_overlap: 0 },
  });
  const name = await crashes.faultAt(n, kind, async ({ knowledge }) => {
    const { job_id } = await knowledge.collections.reindex(caller, repository, collection);
    await until(async () =>
      ["succeeded", "failed"].includes((await quiet.knowledge.jobs.get(caller, job_id)).status) ? true : undefined,
    );
  });
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
    "R-TG-128 R-TG-131 %s: all support is of a single generation, the live one",
    async (kind) => {
      let n = 0;
      while (await reindexFaultAt(n, kind)) n += 1;
      expect(n).toBeGreaterThan(20);
    },
  );
});

describe("every call of ingesting, replacing and deleting documents with triples", () => {
  it.each(["crash-before", "crash-after", "error-before", "error-after"] as const)(
    "R-TG-129 R-TG-131 %s: the graph ends as the live documents state it",
    async (kind) => {
      const met = new Set<string>();
      for (let n = 0; ; n += 1) {
        const name = await faultAt(n, kind);
        if (name === undefined) break;
        met.add(name);
      }
      expect([...met]).toEqual(
        expect.arrayContaining(["triples.open", "triples.write", "triples.removeSource", "items.batch"]),
      );
    },
  );

  it("R-TG-129 what could not be removed before a collection went to the trash is removed after its restore", async () => {
    const place = await freshPlace();
    const { caller, repository, collection } = place;
    const process = await machine.process();
    const { document_id } = await process.knowledge.documents.upload(caller, repository, collection, {
      name: "a.csv",
      body: body("name,city\nAda,London\n"),
    });
    await process.work();
    process.calls.add({ at: (name) => name === "triples.removeSource", kind: "crash-before" });
    void process.knowledge.documents.delete(caller, repository, collection, document_id);
    await process.calls.died;
    const other = await machine.process();
    const { incarnation } = await other.knowledge.collections.get(caller, repository, collection);
    await other.knowledge.collections.delete(caller, repository, collection);
    await recover();
    // Nothing changes in the trash.
    expect((await machine.triples.usage(caller.scope, incarnation)).quads).toBeGreaterThan(0);
    await other.knowledge.collections.restore(caller, repository, collection);
    await recover();
    expect(await actualSupports(stores(), place)).toEqual([]);
  });

  it("R-TG-129 a worker that writes late, and dies: its message is redelivered, and removes what the delete could not know of", async () => {
    const place = await freshPlace();
    const { caller, repository, collection } = place;
    const slow = await machine.process();
    const written = Promise.withResolvers<void>();
    const held = Promise.withResolvers<void>();
    slow.calls.add({
      at: (name) => name === "triples.write",
      kind: "hold",
      until: held.promise,
      reached: written.resolve,
    });
    const { document_id } = await slow.knowledge.documents.upload(caller, repository, collection, {
      name: "a.csv",
      body: body("name,city\nAda,London\n"),
    });
    const working = slow.work();
    await written.promise;
    const other = await machine.process();
    await other.knowledge.documents.delete(caller, repository, collection, document_id);
    // The write succeeds, and the process dies with its response.
    slow.calls.add({ at: (name) => name !== "triples.write", kind: "crash-before", always: true });
    held.resolve();
    await slow.calls.died;
    void working;
    expect((await actualSupports(stores(), place)).length).toBeGreaterThan(0);
    await recover();
    await expectSound(place, "late write");
    expect(await actualSupports(stores(), place)).toEqual([]);
  });

  /** A document that is deleted or replaced exactly when a re-index stores part of its preparation, and dies. */
  async function overtaken(change: (place: Place, documentId: string) => Promise<unknown>): Promise<Place> {
    const write = "triples.write";
    const place = await freshPlace();
    const { caller, repository, collection } = place;
    const quiet = await machine.process();
    const { document_id } = await quiet.knowledge.documents.upload(caller, repository, collection, {
      name: "a.csv",
      body: body("name,city\nAda,London\n"),
    });
    await quiet.work();
    const slow = await machine.process();
    const reached = Promise.withResolvers<void>();
    const held = Promise.withResolvers<void>();
    slow.calls.add({ at: (name) => name === write, kind: "hold", until: held.promise, reached: reached.resolve });
    await slow.knowledge.collections.reindex(caller, repository, collection);
    await reached.promise;
    await change({ ...place, knowledge: quiet.knowledge }, document_id);
    // The write succeeds, and the process dies with its response.
    slow.calls.add({ at: (name) => name !== write, kind: "crash-before", always: true });
    held.resolve();
    await slow.calls.died;
    return place;
  }

  const preparations = async ({ caller, repository, collection }: Place) => {
    const { incarnation } = await (await machine.process()).knowledge.collections.get(caller, repository, collection);
    const range = { prefix: "preparing:" };
    return (
      await machine.items.query(caller.scope, "documents", {
        equals: { repository_id: repository, incarnation },
        range,
      })
    ).items;
  };

  it("R-TG-129 a re-index that writes late for a deleted document, and dies: the retried job removes it", async () => {
    const place = await overtaken(({ knowledge, caller, repository, collection }, id) =>
      knowledge.documents.delete(caller, repository, collection, id),
    );
    // The late triples exist, and no document record names them.
    expect((await actualSupports(stores(), place)).length).toBeGreaterThan(0);
    expect(await preparations(place)).toHaveLength(1);
    await recover();
    expect(await actualSupports(stores(), place)).toEqual([]);
    expect(await preparations(place)).toEqual([]);
  });

  it("R-TG-129 the same for a replaced document: only what the new version states remains, once", async () => {
    const place = await overtaken(async ({ knowledge, caller, repository, collection }) => {
      await knowledge.documents.upload(caller, repository, collection, {
        name: "a.csv",
        body: body("name,city\nAda,Oslo\n"),
        replace: true,
      });
    });
    await recover();
    await expectSound(place, "a re-index that was overtaken by a new version");
    expect((await actualSupports(stores(), place)).length).toBeGreaterThan(0);
    expect(await preparations(place)).toEqual([]);
  });

  it("R-TG-129 the same for a job cancelled meanwhile: the watchdog removes it, when the writer has been silent for long", async () => {
    const place = await overtaken(async ({ knowledge, caller, repository, collection }, id) => {
      const [job] = (await knowledge.jobs.list(caller, {})).items;
      await knowledge.jobs.cancel(caller, (job as { job_id: string }).job_id);
      await knowledge.documents.delete(caller, repository, collection, id);
    });
    const other = await machine.process();
    machine.now += indexingDeadMs - 1;
    await other.sweep();
    expect((await actualSupports(stores(), place)).length).toBeGreaterThan(0);
    machine.now += 1;
    await other.sweep();
    expect(await actualSupports(stores(), place)).toEqual([]);
    expect(await preparations(place)).toEqual([]);
    await other.close();
  });
});
