/**
 * After a soak, in one process: the background work finishes by itself, wherever processes were killed; then nothing is corrupt, there are
 * no leftovers, and the rows match the journals.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { ItemStore } from "../../../src/ports/item-store.ts";
import type { AppendInput } from "../../../src/vectors/index.ts";
import { Broken, checkState, collection, difference, draft, replay, scope } from "./drafts.ts";
import { readJournals, type LaneJournal } from "./journal.ts";
import { isBusy, report, runProcess, type Task } from "./process-kit.ts";
import { openPlace, soakPolicy, type OpenedPlace } from "./place.ts";

const settleMsMax = 600_000;

await runProcess(async (task) => {
  const opened = await openPlace(task.place);
  report({ ready: true });
  await settle(opened);
  await opened.close();
  // Two hours later, so that what was written by a clock an hour ahead is past its retention, too.
  const later = await openPlace(task.place, {
    skewMs: 7_200_000,
    policy: { ...soakPolicy, retentionMs: 0, appliedDeltaMs: 0 },
  });
  const collected = await until("the garbage is collected", later, async () => {
    const result = await later.vectors.collect(scope, collection);
    return result.outcome === "done" ? result : undefined;
  });
  const { findings, ...checked } = await later.vectors.fsck(scope, collection);
  if (!checked.ok || findings.length > 0)
    throw new Broken(
      `fsck after the drain: expected no findings, got ${JSON.stringify(findings.slice(0, 5), null, 1)}`,
    );
  if (checked.versions !== 1)
    throw new Broken(`after garbage collection there are ${checked.versions} versions; expected only the newest`);
  const { deltas, unacked } = await committed(
    task,
    later.items,
    (await later.vectors.stats(scope, collection)).lastSeq,
  );
  const rows = await Array.fromAsync(later.vectors.rows(scope, collection));
  checkState(rows);
  const different = difference(replay(deltas), rows);
  if (different.length > 0) throw new Broken(`the rows differ from the journals: ${different.slice(0, 5).join("; ")}`);
  report({
    counts: {
      deltas: deltas.length,
      unackedThere: unacked,
      rows: rows.length,
      objectsLeft: checked.objects,
      collected: collected.objects,
    },
  });
  await later.close();
});

/** By sweeps alone: wherever processes were killed, the work registry must lead to every pending delta. */
async function settle(opened: OpenedPlace): Promise<void> {
  await until("every delta is compacted by the sweeps", opened, async () => {
    await opened.sweep();
    return (await opened.vectors.stats(scope, collection)).pendingDeltas === 0 ? true : undefined;
  });
  await until("the garbage is collected after the sweeps", opened, async () => {
    await opened.sweep();
    return (await opened.vectors.collect(scope, collection)).outcome === "done" ? true : undefined;
  });
}

async function until<Result>(
  what: string,
  { vectors }: OpenedPlace,
  attempt: () => Promise<Result | undefined>,
): Promise<Result> {
  const deadline = performance.now() + settleMsMax;
  for (;;) {
    try {
      const result = await attempt();
      if (result !== undefined) return result;
    } catch (error) {
      if (!isBusy(error)) throw error;
    }
    if (performance.now() > deadline) {
      const stats = await vectors.stats(scope, collection);
      throw new Broken(
        `expected within ${settleMsMax} ms that ${what}; got ${JSON.stringify(stats)}, ${JSON.stringify(vectors.metrics())}`,
      );
    }
    await sleep(20);
  }
}

/**
 * All deltas of the log in its order: the acknowledged ones, and those that arrived without an acknowledgement. No seq is missing or used
 * twice.
 */
async function committed(
  task: Task,
  items: ItemStore,
  lastSeq: number,
): Promise<{ deltas: AppendInput[]; unacked: number }> {
  const bySeq = new Map<number, AppendInput>();
  const add = (seq: number, lane: number, n: number): void => {
    const delta = draft(task.seed, lane, n);
    const other = bySeq.get(seq);
    if (other !== undefined)
      throw new Broken(`seq ${seq} was acknowledged twice: for ${other.deltaId} and ${delta.deltaId}`);
    bySeq.set(seq, delta);
  };
  let unacked = 0;
  for (const { lane, sent, acked } of readJournals(task.journals)) {
    for (const [n, seq] of acked) add(seq, lane, n);
    for (const n of unackedOf({ lane, sent, acked })) {
      const id = `id.${draft(task.seed, lane, n).deltaId}`;
      const item = await items.read(scope, "vectors", { partition: [collection], id });
      if (item === undefined) continue;
      unacked += 1;
      add(item.document["seq"] as number, lane, n);
    }
  }
  const deltas = Array.from({ length: lastSeq }, (_, i) => {
    const delta = bySeq.get(i + 1);
    if (delta === undefined) throw new Broken(`the log has ${lastSeq} writes, and seq ${i + 1} is unknown`);
    return delta;
  });
  if (bySeq.size !== lastSeq)
    throw new Broken(`${bySeq.size} deltas were acknowledged or arrived, but the log has ${lastSeq}`);
  return { deltas, unacked };
}

function unackedOf({ sent, acked }: LaneJournal): number[] {
  return [...sent].filter((n) => !acked.has(n));
}
