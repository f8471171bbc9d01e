/** While a repository is being deleted, no write is acknowledged that the delete removes, wherever the writer was when it was requested. */
import { describe, expect, it } from "vitest";
import { itemIds } from "../../src/knowledge/records/records.ts";
import { Machine, type Process } from "./support/machine.ts";
import { body } from "./support/test-pinakes.ts";
import { until } from "../support/until.ts";
import { forAllTests } from "../support/for-tests.ts";

const machine = forAllTests(() => Machine.open());
const quiet = forAllTests(() => machine.process());

type Write = (process: Process, repository: string) => Promise<unknown>;

const writes: Readonly<Record<string, Write>> = {
  upload: ({ knowledge }, repository) =>
    knowledge.documents.upload(machine.admin, repository, "papers", {
      name: "new.txt",
      body: body("words about otters"),
    }),
  "upload, replacing": ({ knowledge }, repository) =>
    knowledge.documents.upload(machine.admin, repository, "papers", {
      name: "old.txt",
      body: body("other words"),
      replace: true,
    }),
  rows: ({ knowledge }, repository) =>
    knowledge.rows.upsert(machine.admin, repository, "papers", { items: [{ id: "r", vector: [1, 2, 3] }] }),
  triples: ({ knowledge }, repository) =>
    knowledge.graph.loadTriples(machine.admin, repository, "papers", {
      format: "ntriples",
      body: body("<urn:a> <urn:b> <urn:c> .\n"),
    }),
  sparql: ({ knowledge }, repository) =>
    knowledge.graph.sparql(machine.admin, repository, "papers", { update: "INSERT DATA { <urn:a> <urn:b> <urn:c> }" }),
};

async function made(repository: string): Promise<void> {
  const { knowledge } = quiet;
  await knowledge.repositories.create(machine.admin, { repository_id: repository, auto_create: true });
  await knowledge.collections.create(machine.admin, repository, { collection_id: "papers" });
  await knowledge.documents.upload(machine.admin, repository, "papers", { name: "old.txt", body: body("old words") });
}

const gone = (job_id: string) =>
  until(async () =>
    (await quiet.knowledge.jobs.get(machine.admin, job_id)).status === "succeeded" ? true : undefined,
  );

/** A process that pauses at its n-th call from now on. */
async function sleeper(n: number): Promise<{ process: Process; asleep: Promise<void>; wake: () => void }> {
  const process = await machine.process();
  const [asleep, awake] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  process.calls.add({
    at: process.calls.names.length + n,
    kind: "hold",
    until: awake.promise,
    reached: asleep.resolve,
  });
  return { process, asleep: asleep.promise, wake: awake.resolve };
}

describe("a delete of the repository during a write", () => {
  it.each(Object.entries(writes))(
    "%s: at every call of the writer it is refused, or was acknowledged before the delete was requested",
    async (name, write) => {
      let refused = 0;
      for (let n = 0; ; n += 1) {
        const repository = `${name.replaceAll(/\W+/g, "-")}-${n}`;
        await made(repository);
        const { process, asleep, wake } = await sleeper(n);
        const writing = write(process, repository).then(
          () => "taken",
          (error: { code?: string }) => error.code,
        );
        const first = await Promise.race([writing, asleep.then(() => "asleep")]);
        const { job_id } = await quiet.knowledge.repositories.delete(machine.admin, repository, repository);
        // In every other case the delete ends before the writer continues.
        if (n % 2 === 0) await gone(job_id);
        wake();
        const told = await writing;
        const at = `${n} ${process.calls.names.at(-1)}`;
        if (first === "asleep") expect(["CONFLICT", "NOT_FOUND"], at).toContain(told);
        else expect(told).toBe("taken");
        await gone(job_id);
        await process.close();
        if (first !== "asleep") break;
        refused += 1;
      }
      expect(refused).toBeGreaterThan(4);
    },
  );

  it("refuses every kind of write with CONFLICT while it is being deleted, and a new one with the same id accepts all of them", async () => {
    await made("closing");
    const { knowledge } = quiet;
    // The state while other collections are deleted first.
    const set = { op: "set", path: "/status", value: "DELETE_IN_PROGRESS" } as const;
    await machine.items.write(machine.admin.scope, "collections", ["closing"], {
      op: "patch",
      id: itemIds.repository,
      patch: [set],
    });
    const refused = async (what: Promise<unknown>) => expect(what).rejects.toMatchObject({ code: "CONFLICT" });
    await refused(knowledge.collections.create(machine.admin, "closing", { collection_id: "more" }));
    const at = [machine.admin, "closing", "papers"] as const;
    await refused(knowledge.documents.upload(...at, { name: "new.txt", body: body("words") }));
    await refused(knowledge.documents.upload(...at, { name: "old.txt", body: body("words"), replace: true }));
    await refused(knowledge.documents.checkUpload(...at));
    await refused(knowledge.documents.uploadMany(...at, (take) => take({ name: "new.txt", body: body("x") })));
    await refused(knowledge.grants.upload(...at, { name: "new.txt" }));
    await refused(knowledge.rows.upsert(...at, { items: [{ id: "r", vector: [1, 2, 3] }] }));
    await refused(knowledge.graph.sparql(...at, { update: "INSERT DATA { <urn:a> <urn:b> <urn:c> }" }));
    await refused(knowledge.collections.reindex(...at));
    await refused(knowledge.collections.update(...at, { description: "new" }));
    await refused(knowledge.collections.archive(...at));
    await refused(knowledge.pipelines.create(...at, { trigger: "schedule", source: "file:/tmp" }));
    // Reads continue, and removals are not refused.
    expect((await knowledge.documents.list(...at)).items).toHaveLength(1);
    const { job_id } = await knowledge.repositories.delete(machine.admin, "closing", "closing");
    await gone(job_id);
    await made("closing");
    for (const write of Object.values(writes)) await write(quiet, "closing");
  });
});
