/**
 * A process that writes until it is killed: several concurrent lanes, each delta with an id of its own. Unacknowledged deltas are sent
 * again under the same id. Each write is read back, with its session and without.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { hasCode } from "../../../src/domain/errors.ts";
import type { AppendResult, Vectors } from "../../../src/vectors/index.ts";
import { Random } from "../simulation/random.ts";
import { Broken, collection, draft, scope } from "./drafts.ts";
import { Journal, readJournal } from "./journal.ts";
import { isBusy, report, runProcess, type Task } from "./process-kit.ts";
import { openPlace } from "./place.ts";

const counts = { acks: 0, repeats: 0, resends: 0, sessionReads: 0, writesBusy: 0 };

await runProcess(async (task) => {
  const { vectors } = await openPlace(task.place, { skewMs: task.skewMs });
  report({ ready: true });
  await Promise.all(task.lanes.map((lane) => write(task, vectors, lane)));
});

async function write(task: Task, vectors: Vectors, lane: number): Promise<never> {
  const { sent, acked } = readJournal(task.journals, lane);
  const journal = new Journal(task.journals, lane);
  const random = new Random(task.seed + task.life * 31 + lane);
  const seqs = new Map(acked);
  for (let n = acked.size; ; n += 1) {
    const before = sent.has(n);
    if (!before) journal.sending(n);
    const { result, tries } = await send(vectors, task.seed, lane, n);
    if (result.repeated && !before && tries === 1)
      throw new Broken(`delta ${n} of lane ${lane} was never sent before, and is reported as a repeat`);
    journal.acknowledged(n, result.seq);
    seqs.set(n, result.seq);
    counts.acks += 1;
    if (result.repeated) counts.repeats += 1;
    if (random.chance(0.5)) await readBack(vectors, lane, n, result.session);
    if (random.chance(0.05)) await resend(task.seed, vectors, lane, random.int(0, n), seqs);
    report({ counts });
    await sleep(random.int(0, 15));
  }
}

async function send(
  vectors: Vectors,
  seed: number,
  lane: number,
  n: number,
): Promise<{ result: AppendResult; tries: number }> {
  for (let tries = 1; ; tries += 1) {
    try {
      return { result: await vectors.append(scope, collection, draft(seed, lane, n)), tries };
    } catch (error) {
      if (!isBusy(error)) throw error;
      counts.writesBusy += 1;
      await sleep(50);
    }
  }
}

/** No other writer changes this row, so it must show exactly this delta. */
async function readBack(vectors: Vectors, lane: number, n: number, session: string): Promise<void> {
  for (const options of [{ session }, {}]) {
    try {
      const [row] = await vectors.get(scope, collection, [`lane.${lane}`], options);
      if (row?.metadata["n"] !== n)
        throw new Broken(
          `a read ${"session" in options ? "with its session" : "after its acknowledgement"} shows ${JSON.stringify(row?.metadata)} instead of delta ${n} of lane ${lane}`,
        );
      counts.sessionReads += 1;
    } catch (error) {
      if (!isBusy(error)) throw error;
    }
  }
}

/** An acknowledged delta once more: the same seq, and other content is rejected. */
async function resend(
  seed: number,
  vectors: Vectors,
  lane: number,
  n: number,
  seqs: ReadonlyMap<number, number>,
): Promise<void> {
  const { result } = await send(vectors, seed, lane, n);
  if (!result.repeated || result.seq !== seqs.get(n))
    throw new Broken(
      `delta ${n} of lane ${lane} was acknowledged as ${seqs.get(n)}; sent again it became ${result.seq}, repeated: ${result.repeated}`,
    );
  counts.resends += 1;
  try {
    const other = await vectors.append(scope, collection, { deltaId: result.deltaId, delete: ["another"] });
    throw new Broken(`delta ${n} of lane ${lane} was accepted again with another content, as ${other.seq}`);
  } catch (error) {
    if (!isBusy(error) && !hasCode(error, "CONFLICT")) throw error;
  }
}
