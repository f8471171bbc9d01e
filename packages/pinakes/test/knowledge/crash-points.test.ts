/**
 * A process that dies, or whose call fails, at any of its calls: another process completes the work, or says why it cannot. Nothing stays
 * uploading, pending or indexing, the counters are exact, and no byte or chunk is orphaned.
 */
import { describe, expect, it } from "vitest";
import type { FaultKind } from "../vectors/support/calls.ts";
import { Crashes } from "./support/crashes.ts";
import { Machine, type Process } from "./support/machine.ts";
import { body, recount, texts, walk, type Place } from "./support/test-pinakes.ts";
import { forAllTests } from "../support/for-tests.ts";

const machine = forAllTests(() => Machine.open());
const crashes = forAllTests(() => new Crashes(machine));

const editions = ["the first edition speaks of apples", "the second edition speaks of pears"];

/** The process's actions; `said` grows with every acknowledged call. */
async function scenario(process: Process, { caller, repository, collection }: Place, said: string[]): Promise<void> {
  const { knowledge } = process;
  const send = (name: string, text: string, replace = false) =>
    knowledge.documents.upload(caller, repository, collection, { name, body: body(text), replace });
  await send("book.txt", editions[0] as string);
  said.push("first");
  await process.work();
  await send("book.txt", editions[1] as string, true);
  said.push("second");
  const { document_id } = await send("gone.txt", "a leaflet about plums");
  await process.work();
  await knowledge.documents.delete(caller, repository, collection, document_id);
  said.push("deleted");
  await send("bad.pdf", "%PDF-1.4 nonsense");
  said.push("bad");
  await process.work();
  said.push("all");
}

async function expectSound(place: Place, said: readonly string[], at: string): Promise<void> {
  const { caller, repository, collection } = place;
  const { knowledge } = await machine.process();
  const here = { ...place, knowledge };
  const documents = await walk((cursor) => knowledge.documents.list(caller, repository, collection, { cursor }));
  const kept = new Set<string>();
  for (const { name, status, error, document_id, version } of documents) {
    expect(["indexed", "failed"], `${at}: ${name} is ${status}`).toContain(status);
    expect(error === null, `${at}: ${name} ${status} ${error}`).toBe(status === "indexed");
    for (const one of await knowledge.documents.versions(caller, repository, collection, document_id))
      for (const part of ["content", "text"]) kept.add(`${document_id}/${one.version}/${part}`);
    if (name === "book.txt" && said.includes("second"))
      expect({ status, version }, at).toEqual({ status: "indexed", version: 2 });
    else if (name === "book.txt" && said.includes("first")) expect(["indexed", "failed"], at).toContain(status);
    if (name === "bad.pdf") expect(status, at).toBe("failed");
  }
  const has = (name: string) => documents.some((document) => document.name === name);
  if (said.includes("first")) expect(has("book.txt"), at).toBe(true);
  if (said.includes("deleted")) expect(has("gone.txt"), at).toBe(false);
  if (said.includes("bad")) expect(has("bad.pdf"), at).toBe(true);
  // An acknowledged book is found, in one edition: the newest one that succeeded.
  const found = (await texts(here, "edition apples pears")).filter((text) => text.includes("edition"));
  if (said.includes("second")) expect(found, at).toEqual([editions[1]]);
  else if (said.includes("first")) expect(found.length, at).toBe(1);
  else expect(found.length, at).toBeLessThanOrEqual(1);
  const { told, counted } = await recount(here);
  expect(told, at).toEqual(counted);
  const { incarnation, chunk_count } = await knowledge.collections.get(caller, repository, collection);
  const { keys } = await machine.objects.list(caller.scope, `knowledge/${incarnation}/`);
  expect(
    keys.map(({ key }) => key.split("/").slice(2).join("/")).filter((key) => !kept.has(key)),
    at,
  ).toEqual([]);
  const rows = await machine.vectors.vectors.count(caller.scope, `${incarnation}.1`).catch(() => 0);
  expect(rows, at).toBe(chunk_count);
}

/** One run with a fault at the n-th call; false if there is no such call. */
async function faultAt(n: number, kind: FaultKind): Promise<boolean> {
  const place = await crashes.freshPlace();
  const said: string[] = [];
  const name = await crashes.faultAt(n, kind, (process) => scenario(process, place, said));
  if (name === undefined) return false;
  await crashes.recover();
  await expectSound(place, said, `${kind} at call ${n}, ${name}, after ${said.join(", ") || "nothing"}`);
  return true;
}

describe("every call of uploading, indexing, replacing and deleting", () => {
  it.each(["crash-before", "crash-after", "error-before", "error-after"] as const)(
    "R-KB-25 R-KB-13 R-KB-04 %s: another process completes it or says why not; counters, bytes and chunks are exact",
    async (kind) => {
      let n = 0;
      while (await faultAt(n, kind)) n += 1;
      // The run covered all of it.
      expect(n).toBeGreaterThan(60);
    },
  );

  it("R-KB-24 R-KB-38 a document's status makes only valid transitions, whatever happened", () => {
    const allowed = [
      "nothing → uploading",
      "uploading → pending",
      "uploading → failed",
      "pending → indexing",
      "indexing → indexed",
      "indexing → failed",
    ];
    // Sent again, with replace, at any time.
    const again = ["indexed → uploading", "failed → uploading", "pending → uploading", "indexing → uploading"];
    expect([...machine.moves].filter((move) => ![...allowed, ...again].includes(move))).toEqual([]);
    for (const move of allowed) expect(machine.moves).toContain(move);
  });
});

describe("each step of a document", () => {
  it("R-KB-24 is visible to another process with the very next read, long before 10 seconds are over", async () => {
    const place = await crashes.freshPlace();
    const { caller, repository, collection } = place;
    const [process, other] = [await machine.process(), await machine.process()];
    const seen: string[] = [];
    machine.onMove = async (id, status) => {
      const { name, status: read } = await other.knowledge.documents.get(
        caller,
        repository,
        collection,
        id.replace(/^document:/, ""),
      );
      seen.push(`${name} ${read}`);
      expect(read).toBe(status);
    };
    try {
      await scenario(process, place, []);
    } finally {
      machine.onMove = undefined;
    }
    const steps = (name: string, last: string) =>
      ["uploading", "pending", "indexing", last].map((status) => `${name} ${status}`);
    const book = steps("book.txt", "indexed");
    expect(seen.filter((one) => one.startsWith("book"))).toEqual([...book, ...book]);
    expect(seen.filter((one) => one.startsWith("bad"))).toEqual(steps("bad.pdf", "failed"));
  });
});

/** Deletes a collection with a document, and restores it. */
async function deleteAndRestore(
  { knowledge }: Process,
  { caller, repository, collection }: Place,
  said: string[],
): Promise<void> {
  await knowledge.collections.delete(caller, repository, collection);
  said.push("deleted");
  await knowledge.collections.restore(caller, repository, collection);
  said.push("restored");
}

async function deletingFaultAt(n: number, kind: FaultKind): Promise<boolean> {
  const place = await crashes.freshPlace();
  const quiet = await machine.process();
  await quiet.knowledge.documents.upload(place.caller, place.repository, place.collection, {
    name: "book.txt",
    body: body(editions[0] as string),
  });
  await quiet.work();
  const said: string[] = [];
  const name = await crashes.faultAt(n, kind, (process) => deleteAndRestore(process, place, said));
  if (name === undefined) return false;
  await crashes.recover();
  const at = `${kind} at call ${n}, ${name}, after ${said.join(", ") || "nothing"}`;
  const { knowledge } = await machine.process();
  const { caller, repository, collection } = place;
  const { status } = await knowledge.collections.get(caller, repository, collection, { deleted: true });
  expect(["ACTIVE", "DELETED"], at).toContain(status);
  if (said.includes("restored")) expect(status, at).toBe("ACTIVE");
  const { items: jobs } = await knowledge.jobs.list(caller, { limit: 100 });
  const unfinished = jobs.filter(
    (job) => job.collection_id === collection && (job.status === "queued" || job.status === "running"),
  );
  expect(unfinished, at).toEqual([]);
  if (status === "DELETED") await knowledge.collections.restore(caller, repository, collection);
  await expectSound({ ...place, knowledge }, ["first"], at);
  const count = await machine.items.read(caller.scope, "collections", { partition: [repository], id: "count" });
  expect(count?.document["collections"], at).toBe(
    await knowledge.collections.count(caller, { repositoryId: repository }),
  );
  return true;
}

describe("every call of deleting a collection and restoring it", () => {
  it.each(["crash-before", "crash-after", "error-before", "error-after"] as const)(
    "R-LISA-52 %s: it is either deleted or not, and complete after a restore; no job hangs",
    async (kind) => {
      let n = 0;
      while (await deletingFaultAt(n, kind)) n += 1;
      expect(n).toBeGreaterThan(20);
    },
  );
});
