/** The processes of a schedule. Each continues where it can and accepts only the errors that its faults explain. */
import { PinakesError } from "../../../src/domain/errors.ts";
import { collectGarbage } from "../../../src/vectors/maintenance/collect.ts";
import { requestDead } from "../../../src/vectors/maintenance/dead-letters.ts";
import { purgeCollection, trashCollection, undeleteCollection } from "../../../src/vectors/maintenance/remove.ts";
import { restoreVersion } from "../../../src/vectors/maintenance/restore.ts";
import { Compactor } from "../../../src/vectors/compact/compactor.ts";
import { Appender } from "../../../src/vectors/log/append.ts";
import type { Changes } from "../../../src/vectors/log/rows.ts";
import { Reader } from "../../../src/vectors/read/reader.ts";
import { VectorWorker } from "../../../src/vectors/worker.ts";
import { isDiscarded } from "../../../src/vectors/store/manifest.ts";
import { itemIds } from "../../../src/vectors/store/records.ts";
import type { Profile } from "./profiles.ts";
import type { Random } from "./random.ts";
import { leaseMs } from "./scheduler.ts";
import type { Place, World } from "./world.ts";

export interface Setting {
  readonly world: World;
  readonly random: Random;
  readonly profile: Profile;
  readonly figures: { fenced: number; busy: number; waiting: number };
}

/** A process: works until it is done. Its remaining work is stored outside, so that another can continue after a crash. */
export type Job = (setting: Setting, place: Place) => Promise<void>;

interface Draft {
  readonly deltaId: string;
  readonly changes: Changes;
}

export function writer(index: number, { random, profile }: Setting): Job {
  const drafts = Array.from({ length: random.int(...profile.appends) }, (_, n): Draft => ({
    deltaId: `d${index}.${n}`,
    changes: randomChanges(random, profile.ids, index * 10 + n),
  }));
  const named = random.chance(0.7);
  return async (setting, place) => {
    const appender = new Appender(place.work);
    const together = random.chance(0.2) ? drafts.splice(0) : [];
    await Promise.all(together.map((draft) => append(setting, place, appender, draft, true)));
    while (drafts.length > 0) {
      // Removed only when it is done: the successor after a crash sends it again, under the same id.
      await append(setting, place, appender, drafts[0] as Draft, named || place.process.name.includes("'"));
      drafts.shift();
      if (random.chance(0.3)) await place.site.deps.timers.pause(10);
    }
  };
}

async function append(
  { world }: Setting,
  { site, process }: Place,
  appender: Appender,
  { deltaId, changes }: Draft,
  named: boolean,
): Promise<void> {
  for (let attempt = 0; attempt < 4; attempt += 1) {
    try {
      const { seq, session, repeated } = await appender.append(site, { ...changes, ...(named ? { deltaId } : {}) });
      world.oracle.acknowledge(seq, session, repeated, named ? deltaId : undefined);
      return;
    } catch (error) {
      if (codeOf(error) === "NOT_FOUND" && world.oracle.inactive > 0) await world.scheduler.pause(process, 50);
      else if (codeOf(error) !== "UNAVAILABLE" || !process.disturbed) throw error;
      if (!named) return; // It is unknown whether it arrived, and without an id it must not be repeated.
    }
  }
}

function randomChanges(random: Random, ids: number, value: number): Changes {
  const id = (): string => `r${random.int(1, ids)}`;
  const first = id();
  const drawn = random.next();
  if (drawn < 0.2) return { delete: [first] };
  if (drawn < 0.4)
    return { patch: [{ id: first, metadata: random.chance(0.3) ? { a: null, p: value } : { a: value } }] };
  const upsert = [{ id: first, vector: [value, 1], metadata: { a: value } }];
  const second = id();
  if (second === first || random.chance(0.6)) return { upsert };
  return random.chance(0.5)
    ? { upsert: [...upsert, { id: second, vector: [value, 2] }] }
    : { upsert, delete: [second] };
}

export function compactor({ random, profile }: Setting): Job {
  let runs = random.int(...profile.runs);
  return async ({ world, figures }, { site, work, process }) => {
    const worker = new Compactor(process.name, work);
    // A little later than the writers, so that there is work.
    await world.scheduler.pause(process, random.int(0, 400));
    for (let patience = 4; runs > 0; runs -= 1) {
      try {
        const { outcome } = await worker.run(site, {
          merge: random.chance(0.3) ? "all" : random.chance(0.1) ? "dead" : "worthwhile",
        });
        if (outcome !== "done" && outcome !== "stopped") figures[outcome] += 1;
        // The lease is taken: come back when it may have expired.
        if (outcome === "busy" && (patience -= 1) > 0) runs += 1;
        await world.scheduler.pause(
          process,
          outcome === "busy" ? random.int(leaseMs / 3, leaseMs) : random.int(0, 300),
        );
      } catch (error) {
        if (!explained(world, process, error)) throw error;
      }
    }
  };
}

/** The background work of a real process: whatever the registry says is due. */
export function sweeper({ random }: Setting): Job {
  let sweeps = random.int(2, 4);
  return async ({ world }, { site, work, process }) => {
    const worker = new VectorWorker(site.deps, work, new Compactor(process.name, work), async () => {});
    for (; sweeps > 0; sweeps -= 1) {
      await world.scheduler.pause(process, random.int(0, 500));
      try {
        await worker.sweep();
      } catch (error) {
        const moved = codeOf(error) === "PRECONDITION_FAILED" && world.oracle.inactive > 0;
        if (!moved && !explained(world, process, error)) throw error;
      }
    }
  };
}

export function collector({ random }: Setting): Job {
  let runs = random.int(1, 3);
  return async ({ world }, { site, process }) => {
    for (; runs > 0; runs -= 1) {
      await world.scheduler.pause(process, random.int(0, 500));
      try {
        await collectGarbage(site);
      } catch (error) {
        if (!explained(world, process, error)) throw error;
      }
    }
  };
}

export function reader({ random, profile }: Setting): Job {
  let reads = random.int(...profile.reads);
  return async ({ world }, { site, process }) => {
    const views = new Reader();
    for (; reads > 0; reads -= 1) {
      await world.scheduler.pause(process, random.int(0, 200));
      if (random.chance(0.3)) await readEarlier(world, random, views, { site, process });
      else await readNewest(world, random, views, { site, process });
    }
  };
}

async function readNewest(
  { oracle }: World,
  random: Random,
  views: Reader,
  { site, process }: Pick<Place, "site" | "process">,
): Promise<void> {
  const token = oracle.tokens.length > 0 && random.chance(0.4) ? random.pick(oracle.tokens) : undefined;
  const start = oracle.beginRead();
  try {
    const view = await views.view(site, token === undefined ? {} : { session: token.session });
    if (token !== undefined && view.seq < token.seq)
      throw new Error(`I11: a read with the token of ${token.seq} shows writes up to ${view.seq}`);
    if (token !== undefined && isDiscarded(view.manifest, token.seq))
      throw new Error(`I11: a read with the token of ${token.seq} does not say that it was discarded`);
    oracle.checkView(view, start, undefined);
  } catch (error) {
    const code = codeOf(error);
    if (code === "CONFLICT" && token !== undefined && oracle.isDiscarded(token.seq)) return;
    if (!oracle.mayFail(code, start) && !(code === "UNAVAILABLE" && process.disturbed)) throw error;
  }
}

/** Within its retention an earlier version can be read, whatever is collected meanwhile (R-CMP-28). */
async function readEarlier(
  { oracle, scheduler }: World,
  random: Random,
  views: Reader,
  { site, process }: Pick<Place, "site" | "process">,
): Promise<void> {
  const known = [...oracle.versions.values()].filter(
    ({ kept, manifest }) => kept && oracle.isRetained(manifest.version),
  );
  if (known.length === 0) return;
  const { version } = random.pick(known).manifest;
  const start = oracle.beginRead();
  try {
    oracle.checkView(await views.view(site, { asOf: { version } }), start, version);
  } catch (error) {
    const code = codeOf(error);
    const gone = code === "NOT_FOUND" && (!oracle.isRetained(version) || oracle.versions.get(version)?.kept === false);
    if (gone || oracle.mayFail(code, start) || (code === "UNAVAILABLE" && process.disturbed)) return;
    throw new Error(`R-CMP-28: version ${version} at ${scheduler.now}: ${String(error)}`, { cause: error });
  }
}

export function restorer({ random }: Setting): Job {
  let done = false;
  return async ({ world }, { site, process }) => {
    await world.scheduler.pause(process, random.int(100, 1_200));
    const known = [...world.oracle.versions.values()].filter(({ kept }) => kept);
    if (done || known.length === 0) return;
    done = true;
    try {
      await restoreVersion(site, { version: random.pick(known).manifest.version });
    } catch (error) {
      // The version was removed before it could be restored.
      if (codeOf(error) !== "NOT_FOUND" && !explained(world, process, error)) throw error;
    }
  };
}

/** Corrupts a pending delta's object, so that it dies; later restores it and redrives it, or discards it. */
export function vandal({ random }: Setting): Job {
  const state: { key?: string; seq?: number; original?: Uint8Array } = {};
  const action = random.chance(0.75) ? "redrive" : "discard"; // Once: a second request, after a crash, is the same.
  return async ({ world }, place) => {
    const { scheduler, oracle } = world;
    for (let tries = 0; tries < 40 && state.key === undefined; tries += 1) {
      await scheduler.pause(place.process, random.int(5, 40));
      const pending = oracle.pending().filter(({ key }) => !oracle.damaged.has(key));
      if (pending.length === 0 || oracle.status !== "active") continue;
      const { key, seq } = random.pick(pending);
      await scheduler.surely(place.process, `damage delta ${seq}`, () =>
        damage(world, state, { key, seq }, random.int(3, 4)),
      );
    }
    for (let tries = 0; tries < 30 && state.seq !== undefined; tries += 1) {
      await scheduler.pause(place.process, random.int(50, 200));
      if (oracle.versions.get(oracle.head?.version ?? 0)?.manifest.dead.some(({ seq }) => seq === state.seq) !== true)
        continue;
      await settleDead(world, place, state, action);
      return;
    }
  };
}

async function damage(
  world: World,
  state: { key?: string; seq?: number; original?: Uint8Array },
  { key, seq }: { key: string; seq: number },
  failures: number,
): Promise<void> {
  if (world.oracle.damaged.has(key)) return; // Another process was faster.
  const original = await world.rawObject(key);
  if (original === undefined || world.oracle.pending().every((delta) => delta.key !== key)) return;
  const bytes = original.slice();
  bytes[bytes.length - 1] = (bytes[bytes.length - 1] as number) ^ 0xff;
  world.oracle.damaged.add(key);
  world.oracle.damages += 1;
  await world.overwrite(key, bytes);
  await world.setFailures(itemIds.delta(seq), failures); // It has been retried before: the schedule is short.
  Object.assign(state, { key, seq, original });
}

async function settleDead(
  world: World,
  { site, work, process }: Place,
  { key, seq, original }: { key?: string; seq?: number; original?: Uint8Array },
  action: "redrive" | "discard",
): Promise<void> {
  if (key === undefined || seq === undefined || original === undefined) return;
  world.oracle.requested.set(seq, action);
  if (action === "redrive")
    await world.scheduler.surely(process, `heal delta ${seq}`, () => world.overwrite(key, original));
  try {
    await requestDead(site, work, seq, action);
  } catch (error) {
    // A restore removed it, or the collection was just put into the trash.
    if (codeOf(error) === "NOT_FOUND" || (codeOf(error) === "PRECONDITION_FAILED" && world.oracle.inactive > 0)) return;
    if (!explained(world, process, error)) throw error;
  }
}

export function remover({ random, profile }: Setting): Job {
  const purges = profile.deletion === "purged" || (profile.deletion === "any" && random.chance(0.6));
  const undoes = !purges || random.chance(0.3);
  return async ({ world }, { site, work, process }) => {
    const { scheduler } = world;
    const steps = [
      ...(undoes
        ? [() => trashCollection(site, work, scheduler.now + 1_000_000), () => undeleteCollection(site, work)]
        : []),
      ...(purges ? [() => trashCollection(site, work, scheduler.now), () => purgeCollection(site, work)] : []),
    ];
    for (const step of steps) {
      await scheduler.pause(process, random.int(20, 500));
      await retried(world, process, step);
    }
  };
}

async function retried(world: World, process: Place["process"], step: () => Promise<unknown>): Promise<void> {
  for (let attempt = 0; attempt < 6; attempt += 1) {
    try {
      await step();
      return;
    } catch (error) {
      // Done before, by an attempt whose answer was lost; or a lease or status that changed.
      if (["NOT_FOUND", "CONFLICT", "PRECONDITION_FAILED"].includes(codeOf(error))) continue;
      if (!explained(world, process, error)) throw error;
    }
  }
}

function explained({ oracle }: World, process: Place["process"], error: unknown): boolean {
  const code = codeOf(error);
  return (code === "UNAVAILABLE" && process.disturbed) || (code === "NOT_FOUND" && oracle.inactive > 0);
}

export function codeOf(error: unknown): string {
  return PinakesError.isInstance(error) ? error.code : "";
}
