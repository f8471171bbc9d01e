/**
 * Real processes that are killed and stopped: at chosen calls, with a known outcome; and at random for some seconds, on both stacks (`npm
 * run soak` does that for any duration).
 */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it } from "vitest";
import { temporaryFolder } from "../support/temporary-folder.ts";
import type { CollectResult, CompactionResult } from "../../src/vectors/index.ts";
import { difference, checkState, collection, draft, replay, scope, settings } from "./soak/drafts.ts";
import type { PausedTask } from "./soak/paused-process.ts";
import { openPlace, soakPolicy, type OpenedPlace, type StackPlace } from "./soak/place.ts";
import { runSoak } from "./soak/run-soak.ts";
import { startStack, type Stack } from "./soak/stack.ts";

const seed = 20_260_101;
/** The default duration on each stack; `npm run test:long` asks for more. */
const soakSeconds = Number(process.env["SOAK_SECONDS"] ?? 8);
const hourMs = 3_600_000;
const drafts = [draft(seed, 0, 0), draft(seed, 1, 0), draft(seed, 1, 1), draft(seed, 2, 0), draft(seed, 2, 1)];
const later = draft(seed, 3, 0);

interface Ended {
  readonly result: CompactionResult;
  readonly collected?: CollectResult;
  readonly pid: number;
}

/** A compactor in a process of its own, which stops at a call and waits there. */
class Paused {
  readonly process: ChildProcess;
  readonly #lines: AsyncIterator<string>;

  constructor(task: PausedTask) {
    const program = fileURLToPath(new URL("./soak/paused-process.ts", import.meta.url));
    const env = { ...process.env, NODE_COMPILE_CACHE: compiled };
    this.process = spawn(process.execPath, [program, JSON.stringify(task)], {
      stdio: ["pipe", "pipe", "inherit"],
      env,
    });
    running.add(this.process);
    this.#lines = createInterface({ input: this.process.stdout as NodeJS.ReadableStream })[Symbol.asyncIterator]();
  }

  async reached(): Promise<string> {
    return (await this.#next<{ at: string }>()).at;
  }

  async stop(): Promise<void> {
    this.process.kill("SIGSTOP");
    // "T": it is stopped. Without procfs, assume that the signal worked.
    const state = (): string =>
      process.platform === "linux"
        ? (/\) (\w)/.exec(readFileSync(`/proc/${this.process.pid}/stat`, "utf8"))?.[1] ?? "")
        : "T";
    while (state() !== "T") await sleep(5);
  }

  goOn(): void {
    this.process.stdin?.write("go on\n");
    this.process.kill("SIGCONT");
  }

  async kill(): Promise<void> {
    const gone = once(this.process, "exit");
    this.process.kill("SIGKILL");
    await gone;
  }

  async ended(): Promise<Ended> {
    return this.#next<Ended>();
  }

  async #next<Message>(): Promise<Message> {
    const { value, done } = await this.#lines.next();
    if (done === true) throw new Error("The process ended before it said what was expected.");
    return JSON.parse(value) as Message;
  }
}

/** Compiled once for all processes of this file. */
const compiled = temporaryFolder("compiled");

const running = new Set<ChildProcess>();
const stacks = new Set<Stack>();
afterEach(async () => {
  for (const child of running) child.kill("SIGKILL");
  running.clear();
  for (const stack of stacks) await stack.stop();
  stacks.clear();
});

/** One segment, and four deltas that are not folded yet and change some of its rows. */
async function prepared(): Promise<StackPlace> {
  const stack = await startStack("sqlite");
  stacks.add(stack);
  const opened = await openPlace(stack.place);
  await opened.vectors.create(scope, collection, settings);
  await opened.vectors.append(scope, collection, drafts[0] as (typeof drafts)[number]);
  expect(await opened.vectors.compact(scope, collection)).toMatchObject({ outcome: "done", folds: 1 });
  for (const delta of drafts.slice(1)) await opened.vectors.append(scope, collection, delta);
  await opened.close();
  return stack.place;
}

/** The rows are those of the deltas, nothing is corrupt, and after garbage collection nothing is left over. */
async function expectRight(place: StackPlace, deltas: typeof drafts): Promise<void> {
  const opened = await openPlace(place, {
    skewMs: 2 * hourMs,
    policy: { ...soakPolicy, leaseMs: 50, retentionMs: 0, appliedDeltaMs: 0 },
  });
  const rows = await Array.fromAsync(opened.vectors.rows(scope, collection));
  checkState(rows);
  expect(difference(replay(deltas), rows)).toEqual([]);
  await untilDone(opened);
  expect((await opened.vectors.collect(scope, collection)).outcome).toBe("done");
  expect(await opened.vectors.fsck(scope, collection)).toMatchObject({ ok: true, findings: [], versions: 1 });
  expect(difference(replay(deltas), await Array.fromAsync(opened.vectors.rows(scope, collection)))).toEqual([]);
  expect(await opened.vectors.stats(scope, collection)).toMatchObject({ pendingDeltas: 0, lastSeq: deltas.length });
  await opened.close();
}

/** As the background does it: repeatedly, until the lease of a killed process has expired. */
async function untilDone({ vectors }: OpenedPlace): Promise<void> {
  while ((await vectors.compact(scope, collection)).outcome !== "done") await sleep(10);
}

interface Overtaken {
  readonly call: string;
  /** The clock errors of the stopped one and of its successor. */
  readonly skewMs: number;
  readonly successorSkewMs: number;
}

async function overtake({ call, skewMs, successorSkewMs }: Overtaken): Promise<void> {
  const place = await prepared();
  // Its own heartbeat is every 20 minutes, so that it is not stopped inside of a transaction, which would block all others.
  const stalled = new Paused({ place, call, skewMs, leaseMs: hourMs, collect: false });
  expect(await stalled.reached()).toBe(call);
  await stalled.stop();
  const successor = new Paused({ place, call: "none", skewMs: successorSkewMs, leaseMs: 100, collect: true });
  const other = await successor.ended();
  expect(other.result).toMatchObject({ outcome: "done", folds: 1 });
  expect(other.collected).toMatchObject({ outcome: "done" });
  const opened = await openPlace(place);
  // Something that it could still publish, if it were allowed to.
  await opened.vectors.append(scope, collection, later);
  const before = await opened.vectors.stats(scope, collection);
  stalled.goOn();
  const { result, pid } = await stalled.ended();
  expect(result).toMatchObject({ outcome: "fenced", folds: 0, merges: 0 });
  expect(await opened.vectors.stats(scope, collection)).toMatchObject({
    version: before.version,
    appliedSeq: before.appliedSeq,
    lease: before.lease,
    status: "active",
  });
  const writers = (await opened.vectors.history(scope, collection)).map(({ writer }) => writer);
  expect(writers.filter((writer) => writer.includes(`.${pid}.`))).toEqual([]);
  await opened.close();
  await expectRight(place, [...drafts, later]);
}

describe("a compactor that is stopped", () => {
  for (const call of [
    "before get HEAD.json",
    "before get deltas",
    "before put segments",
    "after put deletions",
    "after put manifests",
  ]) {
    it(`R-CMP-14 stopped (SIGSTOP) ${call} and overtaken, it never publishes when it continues (SIGCONT)`, async () => {
      await overtake({ call, skewMs: 0, successorSkewMs: 0 });
    });
  }

  it("R-CMP-14 overtaken by one that has not published yet, it is fenced by its epoch alone", async () => {
    const place = await prepared();
    const stalled = new Paused({ place, call: "after put manifests", skewMs: 0, leaseMs: hourMs, collect: false });
    await stalled.reached();
    await stalled.stop();
    const successor = new Paused({ place, call: "before put segments", skewMs: 0, leaseMs: 100, collect: false });
    await successor.reached();
    stalled.goOn();
    expect((await stalled.ended()).result).toMatchObject({ outcome: "fenced", folds: 0 });
    successor.goOn();
    const { result, pid } = await successor.ended();
    expect(result).toMatchObject({ outcome: "done", folds: 1 });
    const opened = await openPlace(place);
    const newest = (await opened.vectors.history(scope, collection)).at(-1);
    expect(newest?.writer).toContain(`.${pid}.`);
    await opened.close();
    await expectRight(place, drafts);
  });

  for (const [name, skewMs] of [
    ["ahead", hourMs],
    ["behind", -hourMs],
  ] as const) {
    it(`R-CMP-15 with a clock an hour ${name}, and its successor's as much the other way, it is fenced nevertheless`, async () => {
      await overtake({ call: "after put manifests", skewMs, successorSkewMs: -skewMs });
    });
  }
});

describe("a compactor that is killed", () => {
  const calls = [
    "before put segments",
    "after put deletions",
    "after put manifests",
    "before put HEAD.json",
    "after put HEAD.json",
    "after list",
    "before delete",
  ];
  for (const call of calls) {
    it(`R-CMP-19 killed (kill -9) ${call}, the next run completes its work`, async () => {
      const place = await prepared();
      const victim = new Paused({ place, call, skewMs: 0, leaseMs: 100, collect: true });
      expect(await victim.reached()).toBe(call);
      await victim.kill();
      await expectRight(place, drafts);
    });
  }
});

describe("the soak", () => {
  for (const stack of ["sqlite", "postgres"] as const) {
    const name = stack === "sqlite" ? "a folder and SQLite" : "S3 and PostgreSQL";
    it(
      `R-CMP-19 R-CMP-15 on ${name}: processes with wrong clocks, killed and stopped at random, lose nothing and leave nothing`,
      { timeout: 1_800_000 },
      async () => {
        const figures = await runSoak({ stack, seconds: soakSeconds, seed: 7 });
        expect(figures["kills"]).toBeGreaterThanOrEqual(4);
        expect(figures["stops"]).toBeGreaterThanOrEqual(3);
        expect(figures["deltas"]).toBeGreaterThanOrEqual(40);
      },
    );
  }
});
