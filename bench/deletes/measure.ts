/** The permanent delete of the big collection, with reads of the other one before, during and after. */
import { setTimeout as sleep } from "node:timers/promises";
import { quantile } from "../lib/measure.ts";
import type { Row } from "../lib/report.ts";
import { collectionPath, fill, type Filled } from "./fill.ts";
import { leftovers, sum, type Leftovers } from "./leftovers.ts";
import { readKinds, Reads, together, type Times } from "./reads.ts";
import { startServer, type DeletesServer, type Engine } from "./server.ts";

const readsBefore = 1_500;
const readsDuringMin = 60;
const lookMs = 200;
const slowerMax = 2;

interface StoreReport {
  readonly store: string;
  readonly deleted: number;
  readonly remaining: number;
  readonly duration_ms: number;
  readonly attempts: number;
}

interface Operation {
  readonly status: "running" | "failed" | "done";
  readonly stores: readonly StoreReport[];
}

export async function deleteRows(engine: Engine): Promise<readonly Row[]> {
  await using server = await startServer(engine);
  const filled = await fill(server);
  const held = await leftovers(server, filled.incarnation);
  const empty = Object.entries(held).find(([, rows]) => rows === 0);
  if (empty !== undefined)
    throw new Error(`The collection has nothing in "${empty[0]}", so its delete would prove nothing.`);
  const reads = new Reads(server, filled);
  await reads.warm();
  const before = await reads.run((begun) => begun >= readsBefore);
  const { operation, ms, times } = await purge(server, reads);
  // The rest follows after it, so that quiet reads are as many as those during the delete.
  const after = await reads.run((begun) => begun >= count(times) - readsBefore);
  const left = await leftovers(server, filled.incarnation);
  return [
    ...endRows(engine, filled, { operation, ms, held, left }),
    ...readRows(engine, together(before, after), times),
  ];
}

async function purge(server: DeletesServer, reads: Reads): Promise<{ operation: Operation; ms: number; times: Times }> {
  const began = performance.now();
  const { job_id } = await server.call<{ job_id: string }>("DELETE", `${collectionPath("big")}?purge=true&confirm=big`);
  let ms: number | undefined;
  const ending = ended(server, job_id).finally(() => (ms = performance.now() - began));
  // Some of each kind, even if the delete is faster than that: there must be something to compare.
  const [operation, times] = await Promise.all([
    ending,
    reads.run((begun) => ms !== undefined && begun >= readsDuringMin),
  ]);
  return { operation, ms: ms ?? Number.NaN, times };
}

async function ended(server: DeletesServer, operationId: string): Promise<Operation> {
  for (;;) {
    const operation = await server.call<Operation>("GET", `/v1/operations/${operationId}`);
    if (operation.status === "failed") throw new Error(`The delete failed: ${JSON.stringify(operation.stores)}`);
    if (operation.status === "done") return operation;
    await sleep(lookMs);
  }
}

interface End {
  readonly operation: Operation;
  readonly ms: number;
  readonly held: Leftovers;
  readonly left: Leftovers;
}

function endRows(engine: Engine, filled: Filled, { operation, ms, held, left }: End): readonly Row[] {
  const remaining = operation.stores.reduce((total, store) => total + store.remaining, 0);
  const told = operation.stores.map(
    ({ store, deleted, duration_ms, attempts }) =>
      `${store} ${deleted} in ${(duration_ms / 1_000).toFixed(1)} s, asked ${attempts}×`,
  );
  return [
    {
      name: `rows left in all stores, ${engine}`,
      value: sum(left) + remaining,
      unit: "rows",
      bar: { atMost: 0 },
      note: `of ${filled.chunks} chunks: ${named(held)}; counted in tables and folders: ${named(left)}; told: ${remaining}`,
    },
    { name: `the delete, ${engine}`, value: ms / 1_000, unit: "s", bar: null, note: told.join("; ") },
  ];
}

export function readRows(engine: Engine, quiet: Times, during: Times): readonly Row[] {
  return readKinds.flatMap((kind) =>
    [0.5, 0.95].map((share): Row => {
      const [a, b] = [quantile(quiet[kind], share), quantile(during[kind], share)];
      return {
        name: `${kind} of another collection, p${share * 100}, during ÷ quiet, ${engine}`,
        value: b / a,
        unit: "ratio",
        bar: { atMost: slowerMax },
        note: `${b.toFixed(2)} ms (longest ${Math.max(...during[kind]).toFixed(0)}, ${during[kind].length} reads) against ${a.toFixed(2)} ms (longest ${Math.max(...quiet[kind]).toFixed(0)}, ${quiet[kind].length} reads)`,
      };
    }),
  );
}

export function count(times: Times): number {
  return readKinds.reduce((total, kind) => total + times[kind].length, 0);
}

function named(rows: Leftovers): string {
  return Object.entries(rows)
    .map(([store, n]) => `${store} ${n}`)
    .join(", ");
}
