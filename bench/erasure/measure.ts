/** The erasure of one user out of many, with reads of others before, during and after. */
import { setTimeout as sleep } from "node:timers/promises";
import { count, readRows } from "../deletes/measure.ts";
import { Reads, together } from "../deletes/reads.ts";
import { startServer, type DeletesServer, type Engine } from "../deletes/server.ts";
import type { Row } from "../lib/report.ts";
import { documents, fillForErasure, memories, request } from "./fill.ts";

const readsBefore = 1_500;
const readsDuringMin = 60;
const lookMs = 200;
/** "Minutes". */
const secondsMax = 600;

interface Erasure {
  readonly erasure_id: string;
  readonly state: string;
  readonly error: string | null;
  readonly attempts: number;
  readonly stores: readonly { readonly store: string; readonly deleted: number; readonly anonymised: number }[];
}

export async function erasureRows(engine: Engine): Promise<readonly Row[]> {
  await using server = await startServer(engine);
  const reads = new Reads(server, await fillForErasure(server));
  await reads.warm();
  const before = await reads.run((begun) => begun >= readsBefore);
  const began = performance.now();
  const { erasure_id } = await server.call<Erasure>("POST", "/v1/erasures", request);
  let ms: number | undefined;
  const ending = ended(server, erasure_id).finally(() => (ms = performance.now() - began));
  const [erasure, times] = await Promise.all([
    ending,
    reads.run((begun) => ms !== undefined && begun >= readsDuringMin),
  ]);
  // The rest follows after it, so that quiet reads are as many as those during the erasure.
  const after = await reads.run((begun) => begun >= count(times) - readsBefore);
  const verified = await server.call<{ remaining: number }>("POST", `/v1/erasures/${erasure_id}:verify`, request);
  const gone = erasure.stores.filter(({ deleted }) => deleted > 0).map(({ store, deleted }) => `${store} ${deleted}`);
  return [
    {
      name: `left of an erased user in all stores, ${engine}`,
      value: verified.remaining,
      unit: "rows",
      bar: { atMost: 0 },
      note: `counted again; ${gone.join(", ")}`,
    },
    {
      name: `one of 100 users erased, ${engine}`,
      value: (ms ?? Number.NaN) / 1_000,
      unit: "s",
      bar: { atMost: secondsMax },
      note: `of ${memories} memories and ${documents} documents; ${erasure.attempts} attempt(s)`,
    },
    ...readRows(engine, together(before, after), times),
  ];
}

async function ended(server: DeletesServer, erasureId: string): Promise<Erasure> {
  for (;;) {
    const erasure = await server.call<Erasure>("GET", `/v1/erasures/${erasureId}`);
    if (erasure.state === "done_live") return erasure;
    if (erasure.state === "held") throw new Error("A legal hold stopped the erasure.");
    await sleep(lookMs);
  }
}
