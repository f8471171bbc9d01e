/** Scenarios of the fault matrix: each runs with a fault at every one of its calls. */
import { vectorLimits } from "../../../src/vectors/limits.ts";
import { vectorsContainer } from "../../../src/vectors/store/records.ts";
import { scope, type Machine, type Process } from "./machine.ts";
import { line } from "./state.ts";

export interface Scenario {
  readonly name: string;
  prepare(process: Process): Promise<void>;
  act(process: Process): Promise<unknown>;
  /** The rows after it succeeded. */
  readonly expected: readonly string[];
  /** The rows before it succeeded, if that is allowed until the caller repeats it. */
  readonly before?: readonly string[];
  /** The caller repeats it, in another process. Absent: the background finishes it by itself. */
  readonly again?: (process: Process) => Promise<unknown>;
}

const vector = (x: number): number[] => [x, 1, 0];
export const put = (
  id: string,
  x: number,
  metadata: Record<string, number> = {},
): { id: string; vector: number[]; metadata: Record<string, number> } => ({
  id,
  vector: vector(x),
  metadata,
});
export const row = (id: string, x: number, metadata: Record<string, number> = {}): string =>
  line(id, vector(x), undefined, metadata);

async function create({ vectors }: Process): Promise<void> {
  await vectors.create(scope, "c", { dims: 3, metric: "dot" });
}

const compact = async ({ vectors }: Process): Promise<unknown> => vectors.compact(scope, "c");

const oneSegment = async (process: Process): Promise<void> => {
  await create(process);
  await process.vectors.append(scope, "c", { upsert: [put("a", 1, { n: 1 }), put("b", 2), put("x", 3)] });
  await compact(process);
};
const oneSegmentRows = [row("a", 1, { n: 1 }), row("b", 2), row("x", 3)];

const changes = {
  deltaId: "d",
  upsert: [put("b", 20), put("y", 4)],
  patch: [{ id: "a", metadata: { m: 2 } }],
  delete: ["x"],
};
const changedRows = [row("a", 1, { m: 2, n: 1 }), row("b", 20), row("y", 4)];

export const appendScenario: Scenario = {
  name: "append",
  prepare: oneSegment,
  act: ({ vectors }) => vectors.append(scope, "c", changes),
  before: oneSegmentRows,
  again: ({ vectors }) => vectors.append(scope, "c", changes),
  expected: changedRows,
};

export const foldScenario: Scenario = {
  name: "fold",
  prepare: async (process) => {
    await oneSegment(process);
    await process.vectors.append(scope, "c", { upsert: [put("b", 19), put("z", 9)] });
    await process.vectors.append(scope, "c", { delete: ["z"] });
    await process.vectors.append(scope, "c", changes);
  },
  act: compact,
  expected: changedRows,
};

/** Nothing was compacted before: only this run registers the work. */
export const firstFoldScenario: Scenario = {
  name: "first fold",
  prepare: async (process) => {
    await create(process);
    await process.vectors.append(scope, "c", { upsert: [put("a", 1), put("b", 2)] });
  },
  act: compact,
  expected: [row("a", 1), row("b", 2)],
};

/** The fourth small segment makes the level full. */
export const mergeScenario: Scenario = {
  name: "fold and merge",
  prepare: async (process) => {
    await create(process);
    for (const i of [1, 2, 3]) {
      await process.vectors.append(scope, "c", { upsert: [put(`r${i}`, i), put("same", i)] });
      await compact(process);
    }
    await process.vectors.append(scope, "c", { upsert: [put("r4", 4), put("same", 4)], delete: ["r1"] });
  },
  act: compact,
  expected: [row("r2", 2), row("r3", 3), row("r4", 4), row("same", 4)],
};

export const collectScenario: Scenario = {
  name: "collect",
  prepare: async (process) => {
    await mergeScenario.prepare(process);
    await compact(process);
    await process.machine.objects.put(scope, "vectors/c/segments/nobody-knows-it.seg", Buffer.from("garbage"));
    await process.vectors.append(scope, "c", { upsert: [put("pending", 5)] });
  },
  act: ({ vectors }) => vectors.collect(scope, "c"),
  expected: [row("pending", 5), ...mergeScenario.expected],
};

export const restoreScenario: Scenario = {
  name: "restore",
  prepare: async (process) => {
    await oneSegment(process);
    await process.vectors.append(scope, "c", changes);
    await compact(process);
    await process.vectors.append(scope, "c", { upsert: [put("pending", 5)] });
  },
  act: ({ vectors }) => vectors.restore(scope, "c", { version: 1 }),
  before: [...changedRows, row("pending", 5)].sort(),
  // The version may have been removed with the retention of zero; whether it was done was checked before.
  again: async ({ vectors }) => {
    const { version } = (await vectors.history(scope, "c")).find(
      ({ live, appliedSeq }) => live === 3 && appliedSeq === 1,
    ) ?? { version: 1 };
    await vectors.restore(scope, "c", { version });
  },
  expected: oneSegmentRows,
};

export const redriveScenario: Scenario = {
  name: "redrive",
  prepare: async (process) => {
    await deadDelta(process, { upsert: [put("lost", 7), put("b", 1)], delete: ["x"] });
    await process.vectors.append(scope, "c", { upsert: [put("b", 2), put("a", 3)], delete: ["gone"] });
    await compact(process);
  },
  act: redrive,
  before: [row("a", 3), row("b", 2), row("x", 3)],
  again: redrive,
  expected: [row("a", 3), row("b", 2), row("lost", 7)],
};

async function redrive({ vectors }: Process): Promise<void> {
  for (const { seq } of await vectors.dead.list(scope, "c")) await vectors.dead.redrive(scope, "c", seq);
  await vectors.compact(scope, "c");
}

/** Appends a delta that dies because its object is corrupt, and restores the object afterwards. */
export async function deadDelta(process: Process, input: Parameters<Process["vectors"]["append"]>[2]): Promise<number> {
  await oneSegment(process);
  const { machine, vectors } = process;
  const there = new Set(await machine.keys("vectors/c/deltas/"));
  const { seq } = await vectors.append(scope, "c", input);
  const key = (await machine.keys("vectors/c/deltas/")).find((name) => !there.has(name)) as string;
  const whole = (await machine.objects.get(scope, key)) as Uint8Array;
  await machine.objects.put(
    scope,
    key,
    whole.map((byte, i) => (i === whole.length - 1 ? byte ^ 1 : byte)),
  );
  for (let i = 0; i < vectorLimits.deltaFailuresMax; i += 1) await compact(process);
  await machine.objects.put(scope, key, whole);
  return seq;
}

export const repairScenario: Scenario = {
  name: "repair after the loss of all items",
  prepare: async (process) => {
    await oneSegment(process);
    await process.vectors.append(scope, "c", changes);
    await compact(process);
    await loseItems(process.machine);
  },
  act: ({ vectors }) => vectors.repair(scope, "c"),
  again: ({ vectors }) => vectors.repair(scope, "c"),
  expected: changedRows,
};

export async function loseItems({ items }: Machine, collection = "c"): Promise<void> {
  for (;;) if ((await items.deletePartition(scope, vectorsContainer.name, [collection])).done) return;
}

export const pendingRepairScenario: Scenario = {
  name: "repair with pending deltas",
  prepare: foldScenario.prepare,
  act: ({ vectors }) => vectors.repair(scope, "c"),
  again: ({ vectors }) => vectors.repair(scope, "c"),
  expected: changedRows,
};
