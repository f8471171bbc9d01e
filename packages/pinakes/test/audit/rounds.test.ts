/** The background audit: bounded rounds over all workspaces, resumed by any process. */
import { randomUUID } from "node:crypto";
import { Readable } from "node:stream";
import { expect, it } from "vitest";
import { makeCaller } from "../../src/domain/caller.ts";
import { auditLimits, quarantineLimits, walkWorkspaces } from "../../src/knowledge/index.ts";
import { lifecycleLimits } from "../../src/lifecycle/index.ts";
import { metricsText } from "../../src/http/metrics.ts";
import { open } from "../../src/open.ts";
import { system, World, type Process } from "../lifecycle/support/world.ts";

const never = new AbortController().signal;

/** With the workspaces that have objects; none is registered. */
async function auditing(world: World): Promise<Process> {
  const book = { after: async () => undefined, has: async () => false };
  return world.process({ workspaces: walkWorkspaces({ book, objects: world.objects, system }) });
}

async function pass(world: World, process: Process): Promise<number> {
  const before = process.opened.audit.figures.lastPassAt;
  for (let rounds = 1; ; rounds += 1) {
    await process.opened.audit.round(never);
    if (process.opened.audit.figures.lastPassAt !== before) return rounds;
    expect(rounds, "a pass ends").toBeLessThan(100);
  }
}

it("R-TG-54 W13 covers every workspace, counts findings by kind, and removes only what was unknown for a day and then quarantined", async () => {
  await using world = await World.open();
  const process = await auditing(world);
  const other = makeCaller({ tenant: "acme-2", userId: "root", role: "admin" });
  await process.knowledge.repositories.create(other, { repository_id: "kb" });
  const places = [await world.fill(process, world.admin, "papers"), await world.fill(process, other, "papers")];
  const stray = randomUUID();
  const keys = [`knowledge/${places[1]?.incarnation}/x/1/content`, `knowledge/${stray}/x/1/content`];
  for (const key of keys) await world.objects.put(other.scope, key, Buffer.from("stray"));
  expect(process.opened.audit.figures).toEqual({ lastPassAt: undefined, found: {} });
  await pass(world, process);
  // Both are young.
  expect(process.opened.audit.figures).toEqual({ lastPassAt: world.now, found: {} });
  await process.opened.audit.round(never);
  world.now += auditLimits.passPauseMs;
  await pass(world, process);
  expect(process.opened.audit.figures.found).toEqual({ object_without_record: 1, unknown_incarnation: 1 });
  world.now += lifecycleLimits.orphanGraceMs;
  await pass(world, process);
  const { items } = await process.knowledge.quarantine.list(other);
  expect(items).toMatchObject([{ entry_id: `${stray}.objects`, kind: "collection", count: 1 }]);
  expect((await process.knowledge.quarantine.list(world.admin)).items).toEqual([]);
  expect(await world.objects.head(other.scope, keys[1] as string)).toBeDefined();
  world.now += quarantineLimits.retentionMs;
  await pass(world, process);
  expect(await world.objects.head(other.scope, keys[1] as string)).toBeUndefined();
  // Only requested audits repair.
  expect(await world.objects.head(other.scope, keys[0] as string)).toBeDefined();
  world.now += auditLimits.passPauseMs;
  await pass(world, process);
  expect(process.opened.audit.figures.found).toEqual({ object_without_record: 1 });
  await process.close();
});

it("covers users' files: records without bytes, and bytes without a record once no upload can be sending them", async () => {
  await using world = await World.open();
  const process = await auditing(world);
  const { files } = process.knowledge;
  const newFile = () => ({
    filename: "a.txt",
    body: Readable.from([Buffer.from("bytes")]),
    settings: async () => ({ purpose: "assistants" as const }),
  });
  const [kept, broken] = [await files.create(world.admin, newFile()), await files.create(world.admin, newFile())];
  const stray = `files/${kept.owner}/file-${"0".repeat(32)}/content`;
  await world.objects.put(world.admin.scope, stray, Buffer.from("left"));
  await world.objects.delete(world.admin.scope, [`files/${broken.owner}/${broken.id}/content`]);
  await pass(world, process);
  expect(process.opened.audit.figures.found).toEqual({ record_without_object: 1 });
  world.now += 3 * 86_400_000;
  await pass(world, process);
  expect(process.opened.audit.figures.found).toEqual({ record_without_object: 1, object_without_record: 1 });
  // Only requested audits repair.
  expect(await world.objects.head(world.admin.scope, stray)).toBeDefined();
  await process.close();
});

it("a round is bounded, and another process continues where the first stopped, but not while that one is active", async () => {
  await using world = await World.open();
  const first = await auditing(world);
  for (let i = 0; i < auditLimits.roundStepsMax; i += 1)
    await first.knowledge.collections.create(world.admin, "kb", { collection_id: `c${i}` });
  await world.objects.put(world.admin.scope, "mine", Buffer.from("a workspace with an object"));
  await first.opened.audit.round(never);
  expect(first.opened.audit.figures.lastPassAt).toBeUndefined();
  first.calls.names.length = 0;
  // It dies during a round.
  first.calls.add({ at: 12, kind: "crash-before" });
  void first.opened.audit.round(never);
  await first.calls.died;
  const second = await auditing(world);
  await second.opened.audit.round(never);
  const steps = second.calls.count("items.write audit");
  expect(steps).toBe(0);
  world.now += auditLimits.roundLeaseMs;
  await second.opened.audit.round(never);
  expect(second.opened.audit.figures.lastPassAt).toBe(world.now);
  expect(second.calls.count("items.write audit")).toBeGreaterThan(0);
  // 50 collections and a default one, most of which the first rounds had checked.
  expect(second.calls.count("items.write audit")).toBeLessThan(auditLimits.roundStepsMax);
  const third = await auditing(world);
  await third.opened.audit.round(never);
  expect(third.opened.audit.figures.lastPassAt).toBe(world.now);
  expect(third.calls.count("items.write audit")).toBe(0);
  await second.close();
  await third.close();
});

it("a failing step is retried, reported, and finally skipped; the others are checked nevertheless", async () => {
  await using world = await World.open();
  const process = await auditing(world);
  const bad = await world.fill(process, world.admin, "bad");
  const good = await world.fill(process, world.admin, "good");
  await world.objects.put(world.admin.scope, `knowledge/${good.incarnation}/x/1/content`, Buffer.from("stray"));
  world.now += auditLimits.objectYoungMs;
  process.calls.add({ at: (name) => name === `triples.match ${bad.incarnation}`, kind: "error-before", always: true });
  for (let tries = 0; tries < auditLimits.stepTriesMax; tries += 1)
    await expect(process.opened.audit.round(never)).rejects.toMatchObject({ code: "UNAVAILABLE" });
  await pass(world, process);
  expect(process.opened.audit.figures.found).toEqual({ object_without_record: 1 });
  expect(world.lines.filter((line) => line.includes("skipped after 3 failures"))).toHaveLength(1);
  await process.close();
});

it("an invalid position, such as of another version, costs one workspace and not the pass", async () => {
  await using world = await World.open();
  const process = await auditing(world);
  await world.fill(process, world.admin, "papers");
  await world.items.write(system.forTenant("pinakes.audit"), "audit", ["rounds"], {
    op: "create",
    document: {
      id: "state",
      part: "rounds",
      owner: "x",
      until: 0,
      place: { tenant: "acme", workspaces: "objects:t/acme0", stores: 9, repositories: "odd" },
      failures: 0,
      began_at: 0,
      found: {},
      last: null,
    },
  });
  for (let tries = 0; tries <= auditLimits.stepTriesMax; tries += 1)
    await expect(process.opened.audit.round(never)).rejects.toMatchObject({ code: "INVALID" });
  await pass(world, process);
  expect(process.opened.audit.figures.lastPassAt).toBe(world.now);
  await process.close();
});

it("registered workspaces come first, then those that only have objects, each once; the system's own never", async () => {
  await using world = await World.open();
  for (const tenant of ["acme", "acme-x", "b", "zeta", "pinakes.own"])
    await world.objects.put(system.forTenant(tenant), "k", Buffer.from("x"));
  const noted = ["b", "default"];
  const book = {
    after: async (id: string) => noted.find((one) => one > id),
    has: async (id: string) => noted.includes(id),
  };
  const walk = walkWorkspaces({ book, objects: world.objects, system });
  const found: string[] = [];
  for (let next = await walk(undefined); next !== undefined; next = await walk(next.position)) found.push(next.tenant);
  expect(found).toEqual(["b", "default", "acme-x", "acme", "zeta"]);
});

it("R-TG-109 metrics have findings by kind, the age of the last pass, and the lag of deletes with its limit; readiness warns beyond it", async () => {
  await using pinakes = await open({ items: "memory:", objects: "memory:", background: false, deletionLagSeconds: 60 });
  const text = () => metricsText(pinakes, Date.now());
  expect(text()).toContain('pinakes_audit_findings{kind="object_without_record"} 0');
  expect(text()).toContain("pinakes_deletion_lag_limit_seconds 60");
  expect(text()).not.toContain("pinakes_audit_last_pass_age_seconds");
  pinakes.lifecycle.metrics.unfinished = { running: 1, failed: 0, oldestMs: 60_000 };
  expect((await pinakes.ready()).warnings).toEqual({});
  expect(text()).toContain('pinakes_alarm_firing{alarm="deletion_lag"} 0');
  pinakes.lifecycle.metrics.unfinished = { running: 1, failed: 0, oldestMs: 61_000 };
  expect(await pinakes.ready()).toMatchObject({
    ready: true,
    warnings: { deletion_lag: expect.stringContaining("61 s; the limit is 60 s") },
  });
  expect(text()).toContain('pinakes_alarm_value{alarm="deletion_lag"} 61');
  expect(text()).toContain('pinakes_alarm_threshold{alarm="deletion_lag"} 60');
  expect(text()).toContain('pinakes_alarm_firing{alarm="deletion_lag"} 1');
  for (const deletionLagSeconds of [0, 1.5, 604_801])
    await expect(open({ items: "memory:", objects: "memory:", deletionLagSeconds })).rejects.toThrow(
      /deletionLagSeconds/,
    );
  await using edge = await open({
    items: "memory:",
    objects: "memory:",
    background: false,
    deletionLagSeconds: 604_800,
  });
  expect(edge.deletionLagSecondsMax).toBe(604_800);
});
