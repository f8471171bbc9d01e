/**
 * What may belong to work in progress is reported only when nothing is in progress, or after it was seen long before; and limits of
 * reports.
 */
import { randomUUID } from "node:crypto";
import { expect, it } from "vitest";
import { auditLimits } from "../../src/knowledge/index.ts";
import { laneOf } from "../../src/knowledge/documents/lanes.ts";
import { system, World, type Process } from "../lifecycle/support/world.ts";
import { fsck, kinds } from "./support/fsck.ts";

/** Leases the message of a document, like a worker. */
async function hold(world: World, { queue }: Process): Promise<string> {
  const [message] = await queue.receive(system.forTenant("pinakes.knowledge"), laneOf("acme"), {
    max: 1,
    owner: "worker",
    leaseMs: 3_600_000,
    waitMs: 0,
  });
  expect(world.now).toBeGreaterThan(0);
  return message?.receipt as string;
}

it("rows and triples that no record names wait while a document is being ingested, and are found after ten minutes", async () => {
  await using world = await World.open();
  const process = await world.process();
  const { incarnation } = await world.fill(process, world.admin, "papers");
  const { scope } = world.admin;
  await world.vectors.vectors.create(scope, `${incarnation}.1`, { dims: 2 });
  await world.vectors.vectors.append(scope, `${incarnation}.1`, {
    upsert: [{ id: `${randomUUID()}.1.0`, vector: [1, 2] }],
  });
  const source = { source: `${randomUUID()}.1.1`, part: 0 };
  await world.triples.write(scope, incarnation, {
    insert: [{ s: "<urn:left>", p: "<urn:p>", o: "<urn:o>", g: "" }],
    source,
  });
  const receipt = await hold(world, process);
  expect(await fsck(world, process, { repair: true })).toMatchObject({ found: 0, waiting: 2 });
  world.now += auditLimits.suspectMs - 1;
  expect(await fsck(world, process, { repair: true })).toMatchObject({ found: 0, waiting: 2 });
  world.now += 1;
  expect(kinds(await fsck(world, process))).toEqual(["triples_without_support_source", "vectors_without_document"]);
  // With no work in progress it is certain at once.
  await process.queue.done(system.forTenant("pinakes.knowledge"), receipt);
  expect(kinds(await fsck(world, process, { repair: true }))).toEqual([
    "triples_without_support_source repaired",
    "vectors_without_document repaired",
  ]);
  expect(await fsck(world, process, { deep: true })).toMatchObject({ found: 0, waiting: 0 });
  await process.close();
});

it("an object is young until it is an hour old, to the millisecond", async () => {
  await using world = await World.open();
  const process = await world.process();
  const { incarnation } = await world.fill(process, world.admin, "papers");
  await world.objects.put(world.admin.scope, `knowledge/${incarnation}/x/1/content`, Buffer.from("stray"));
  world.now += auditLimits.objectYoungMs - 1;
  expect(await fsck(world, process)).toMatchObject({ found: 0, waiting: 1 });
  world.now += 1;
  expect(await fsck(world, process)).toMatchObject({ found: 1, waiting: 0 });
  await process.close();
});

it("a job lists the first 100 findings; the file has 10,000, all are counted, and it expires after 90 days", async () => {
  await using world = await World.open();
  const process = await world.process();
  const { knowledge } = process;
  const { incarnation } = await world.fill(process, world.admin, "papers");
  const { scope } = world.admin;
  const stray = async (from: number, to: number) => {
    for (let i = from; i < to; i += 1)
      await world.objects.put(
        scope,
        `knowledge/${incarnation}/${String(i).padStart(6, "0")}/1/content`,
        Buffer.from("x"),
      );
    world.now += auditLimits.objectYoungMs;
  };
  await stray(0, auditLimits.findingsInJobMax);
  expect(await fsck(world, process)).toMatchObject({ found: auditLimits.findingsInJobMax, truncated: false });
  await stray(auditLimits.findingsInJobMax, auditLimits.findingsInJobMax + 1);
  const files = async () => (await world.objects.list(scope, "audits/")).keys.length;
  expect(await files()).toBe(0);
  const over = await fsck(world, process);
  expect(over).toMatchObject({ found: auditLimits.findingsInJobMax + 1, truncated: true });
  expect(over.findings).toHaveLength(auditLimits.findingsInJobMax);
  expect(await files()).toBe(1);
  await stray(auditLimits.findingsInJobMax + 1, auditLimits.findingsKeptMax + 1);
  const { job_id } = await knowledge.audit.fsck(world.admin);
  await expect.poll(async () => (await knowledge.jobs.get(world.admin, job_id)).status).toBe("succeeded");
  expect((await knowledge.jobs.get(world.admin, job_id)).result).toMatchObject({
    found: auditLimits.findingsKeptMax + 1,
    truncated: true,
  });
  expect(await knowledge.audit.findings(world.admin, job_id)).toHaveLength(auditLimits.findingsKeptMax);
  world.now += auditLimits.reportMsMax;
  await fsck(world, process, { repair: true, force_missing: true });
  expect(await files()).toBe(2);
  world.now += 1;
  await fsck(world, process);
  expect(await files()).toBe(1);
  await process.close();
});

it("only admins audit; the requested target must exist", async () => {
  await using world = await World.open();
  const process = await world.process();
  const { knowledge } = process;
  await world.fill(process, world.admin, "papers", { files: 0, rows: 0 });
  const { makeCaller } = await import("../../src/domain/caller.ts");
  for (const role of ["user", "repository_admin"] as const) {
    const caller = makeCaller({ tenant: "acme", userId: "u", role });
    await expect(knowledge.audit.fsck(caller)).rejects.toMatchObject({ code: "FORBIDDEN" });
    await expect(knowledge.audit.findings(caller, "x")).rejects.toMatchObject({ code: "FORBIDDEN" });
  }
  await expect(knowledge.audit.fsck(world.admin, { repository: "nowhere" })).rejects.toMatchObject({
    code: "NOT_FOUND",
  });
  await expect(knowledge.audit.fsck(world.admin, { repository: "kb", collection: "nowhere" })).rejects.toMatchObject({
    code: "NOT_FOUND",
  });
  await expect(knowledge.audit.fsck(world.admin, { collection: "papers" })).rejects.toMatchObject({ code: "INVALID" });
  await expect(knowledge.audit.findings(world.admin, randomUUID())).rejects.toMatchObject({ code: "NOT_FOUND" });
  const { checked } = await fsck(world, process, { repository: "kb", collection: "papers" });
  expect(checked).toMatchObject({ collections: 1, lives: 0 });
  await process.close();
});
