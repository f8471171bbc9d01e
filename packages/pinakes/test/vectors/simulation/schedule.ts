/** One schedule from one seed: set up, run, drain, check. */
import { collectGarbage } from "../../../src/vectors/maintenance/collect.ts";
import { fsck } from "../../../src/vectors/maintenance/fsck.ts";
import { purgeCollection, undeleteCollection } from "../../../src/vectors/maintenance/remove.ts";
import { Compactor } from "../../../src/vectors/compact/compactor.ts";
import { checkSettings, createCollection } from "../../../src/vectors/log/create.ts";
import { Reader } from "../../../src/vectors/read/reader.ts";
import { VectorWorker } from "../../../src/vectors/worker.ts";
import type { Mutant } from "./mutant.ts";
import {
  codeOf,
  collector,
  compactor,
  reader,
  remover,
  restorer,
  sweeper,
  vandal,
  writer,
  type Job,
  type Setting,
} from "./processes.ts";
import type { Profile } from "./profiles.ts";
import { Random } from "./random.ts";
import { leaseMs, newProcess, Scheduler } from "./scheduler.ts";
import { World, type Place } from "./world.ts";

export interface ScheduleResult {
  readonly violation: string | undefined;
  readonly fingerprint: number;
  readonly trace: readonly string[];
  readonly figures: Readonly<Record<string, number>>;
}

const settings = checkSettings({ dims: 2, language: "none" });
const hourMs = 3_600_000;
const dayMs = 86_400_000;

export async function runSchedule(
  profile: Profile,
  seed: number,
  options: { mutant?: Mutant | undefined; trace?: boolean } = {},
): Promise<ScheduleResult> {
  const random = new Random(seed);
  const scheduler = new Scheduler(random, profile.faults);
  if (options.trace === true) scheduler.trace = [];
  const world = await World.open({
    scheduler,
    retentionMs: random.int(...profile.retentionMs),
    appliedDeltaMs: random.int(0, 300),
    clocksAgree: !profile.skew,
    weakReads: random.chance(0.4),
    mutant: options.mutant,
  });
  const setting: Setting = { world, random, profile, figures: { fenced: 0, busy: 0, waiting: 0 } };
  await createCollection(world.place(newProcess("create", 0)).site, settings);
  startAll(setting);
  await scheduler.run();
  const { oracle } = world;
  try {
    if (scheduler.violation === undefined) await finish(world);
  } catch (error) {
    scheduler.fail(`after the schedule: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  }
  const { steps, crashes, stalls, errors, violation, fingerprint, trace = [] } = scheduler;
  return {
    violation,
    fingerprint,
    trace,
    figures: { steps, crashes, stalls, errors, ...setting.figures, ...oracle.figures },
  };
}

function startAll(setting: Setting): void {
  const { world, random, profile } = setting;
  const { scheduler } = world;
  const jobs = new Map<string, Job>();
  const add = (name: string, count: number, make: (index: number) => Job): void => {
    for (let i = 0; i < count; i += 1) jobs.set(`${name}${i}`, make(i));
  };
  add("writer", profile.writers, (index) => writer(index, setting));
  add("compactor", profile.compactors, () => compactor(setting));
  add("sweeper", profile.sweepers, () => sweeper(setting));
  add("collector", profile.collectors, () => collector(setting));
  add("reader", profile.readers, () => reader(setting));
  add("restorer", random.int(Math.min(1, profile.restores), profile.restores), () => restorer(setting));
  add("vandal", random.int(Math.min(1, profile.damages), profile.damages), () => vandal(setting));
  add("remover", profile.deletion === "never" ? 0 : 1, () => remover(setting));
  const start = (name: string, job: Job): void => {
    const skewMs = profile.skew ? random.int(-hourMs, hourMs) : 0;
    scheduler.start(name, skewMs, (process) => job(setting, world.place(process)));
  };
  // A crashed process is restarted, most of the time: as a new process that knows only the remaining work.
  scheduler.onCrash = ({ name }) => {
    if (!random.chance(0.8)) return;
    const next = `${name}'`;
    const job = jobs.get(name.replaceAll("'", ""));
    if (job !== undefined) start(next, job);
  };
  for (const [name, job] of jobs) start(name, job);
}

/** Everything that is pending is applied, garbage is collected, and then nothing is missing and nothing left over. */
async function finish(world: World): Promise<void> {
  const { oracle, scheduler } = world;
  const place = world.place(newProcess("finish", 0));
  if (oracle.status === "trashed")
    await (oracle.purgeAt <= scheduler.now ? sweepAway(world, place) : undeleteCollection(place.site, place.work));
  if (oracle.status !== "active") return finishPurge(world, place);
  await drain(world, place);
  for (let i = 0; i < 2; i += 1) {
    scheduler.now += 2 * hourMs + 10_000;
    await collect(world, place);
  }
  const report = await fsck(place.site);
  if (report.findings.length > 0) scheduler.fail(`I5–I8, I10: fsck says ${JSON.stringify(report.findings)}`);
  const start = oracle.beginRead();
  const view = await new Reader().view(place.site);
  oracle.checkView(view, start, undefined);
  if (view.seq !== (oracle.log?.nextSeq ?? 0) - 1 || view.manifest.appliedSeq !== view.seq)
    scheduler.fail(`I6: after the drain ${view.seq} is shown and ${view.manifest.appliedSeq} applied`);
}

/** It is due: the registry knows. */
async function sweepAway({ oracle, scheduler }: World, { site, work, process }: Place): Promise<void> {
  scheduler.now += 2 * hourMs; // Clocks differ by less.
  await new VectorWorker(site.deps, work, new Compactor(process.name, work), async () => {}).sweep();
  if (oracle.status !== "deleted")
    scheduler.fail(
      `I12: the collection is in the trash and due, and no process purges it (${[...oracle.work].join(", ")})`,
    );
}

/** As the sweep does it: only while the registry says that there is work. */
async function drain(world: World, { site, work, process }: Place): Promise<void> {
  const { oracle, scheduler } = world;
  const worker = new Compactor(process.name, work);
  for (let i = 0; [...oracle.work].some((id) => id.startsWith("compact:")); i += 1) {
    if (i >= 20) return scheduler.fail("the compactor does not come to an end");
    const { outcome } = await worker.run(site);
    if (outcome === "busy" && i > 0) scheduler.fail("R-CMP-12: an expired lease was not taken over");
    scheduler.now += leaseMs;
  }
}

async function collect(world: World, place: Place): Promise<void> {
  const { scheduler } = world;
  const worker = new Compactor(place.process.name, place.work);
  for (let i = 0; i < 4; i += 1) {
    if ((await collectGarbage(place.site)).outcome === "done") return;
    // A compactor died with the lease and left no work: the next compactor frees it.
    await worker.run(place.site);
    scheduler.now += leaseMs;
  }
  scheduler.fail("garbage cannot be collected");
}

async function finishPurge(world: World, { site, work }: Place): Promise<void> {
  const { oracle, scheduler } = world;
  for (let sweep = 0; sweep < 2; sweep += 1) {
    await purgeCollection(site, work);
    scheduler.now += 2 * dayMs;
  }
  const objects = await world.listAll();
  const items = await world.listItems();
  if (objects.length > 0 || items.join(",") !== "fence")
    scheduler.fail(`I12: after the purge there are ${[...objects, ...items].join(", ")}`);
  if ([...oracle.work].some((id) => id.startsWith("purge:"))) scheduler.fail("I12: the purge is never over");
  const code = await new Reader().view(site).then(() => "read", codeOf);
  if (code !== "NOT_FOUND") scheduler.fail(`I12: a read after the purge ends with ${code}`);
}
