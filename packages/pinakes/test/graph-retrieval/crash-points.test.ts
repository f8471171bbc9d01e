/**
 * A process that dies, or whose call fails, at any of its calls while documents with triples come, change and go: when another process is
 * through, the graph holds exactly what the documents that are shown state, and each triple exactly their support.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Machine, type Process } from "../knowledge/support/machine.ts";
import { body, type Place } from "../knowledge/support/test-pinakes.ts";
import type { FaultKind } from "../vectors/support/calls.ts";
import { actualSupports, expectedSupports } from "./support/graph-oracle.ts";

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

async function expectSound(place: Place, at: string): Promise<void> {
  const stores = { items: machine.items, objects: machine.objects, triples: machine.triples, vectors: machine.vectors.vectors };
  expect(await actualSupports(stores, place), at).toEqual(await expectedSupports(stores, place));
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
    expect((await actualSupports({ items: machine.items, objects: machine.objects, triples: machine.triples, vectors: machine.vectors.vectors }, place)).length).toBeGreaterThan(0);
    await recover();
    await expectSound(place, "late write");
    expect(await actualSupports({ items: machine.items, objects: machine.objects, triples: machine.triples, vectors: machine.vectors.vectors }, place)).toEqual([]);
  });
});
