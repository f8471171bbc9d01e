/**
 * A process that reads until it is killed. Each answer must be of one state; that state must show everything acknowledged before the read
 * began, and never be older than what this process has seen.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Vectors } from "../../../src/vectors/index.ts";
import { Random } from "../simulation/random.ts";
import {
  Broken,
  checkGroup,
  checkState,
  collection,
  groupIds,
  groupRows,
  groups,
  scope,
  type PlainRow,
} from "./drafts.ts";
import { lastAcked } from "./journal.ts";
import { isBusy, report, runProcess } from "./process-kit.ts";
import { openPlace } from "./place.ts";

const counts = { reads: 0, readsBusy: 0 };
const seen = { version: 0, seq: 0, lanes: new Map<number, number>() };

await runProcess(async ({ place, skewMs, seed, life, journals }) => {
  const { vectors } = await openPlace(place, { skewMs });
  const random = new Random(seed + life);
  report({ ready: true });
  for (;;) {
    try {
      await random.pick([wholeRows, wholeGet, wholeQuery, oneGroup, countGroup, history])(vectors, random, journals);
      counts.reads += 1;
    } catch (error) {
      if (!isBusy(error)) throw error;
      counts.readsBusy += 1;
    }
    report({ counts });
    await sleep(random.int(0, 10));
  }
});

async function wholeRows(vectors: Vectors, _: Random, journals: string): Promise<void> {
  const acked = lastAcked(journals);
  checkWhole(await Array.fromAsync(vectors.rows(scope, collection)), acked);
}

async function wholeGet(vectors: Vectors, _: Random, journals: string): Promise<void> {
  const acked = lastAcked(journals);
  const ids = Array.from({ length: groups }, (_unused, group) => groupIds(group)).flat();
  const rows = await vectors.get(scope, collection, [...ids, ...[...acked.keys()].map((lane) => `lane.${lane}`)]);
  // A lane whose first delta is not acknowledged yet has marks and was not read: its marks cannot be compared.
  checkLanes(lanesOf(rows.flatMap((row) => row ?? [])), acked);
  for (let group = 0; group < groups; group += 1)
    checkGroup(
      group,
      rows.slice(group * groupRows, (group + 1) * groupRows).flatMap((row) => row ?? []),
    );
}

async function wholeQuery(vectors: Vectors, random: Random, journals: string): Promise<void> {
  const acked = lastAcked(journals);
  const vector = Array.from({ length: 8 }, () => random.next() + 0.1);
  const { hits, version, seq } = await vectors.query(scope, collection, {
    vector,
    limit: 1_000,
    recall: 1,
    includeVectors: true,
  });
  moveOn(version, seq);
  checkWhole(
    hits.map((hit) => ({ ...hit, vector: hit.vector ?? [] })),
    acked,
  );
}

async function oneGroup(vectors: Vectors, random: Random): Promise<void> {
  const group = random.int(0, groups - 1);
  const vector = [group + 1, 1, 1, 1, 1, 2, 3, 4];
  const { hits, version, seq } = await vectors.query(scope, collection, {
    vector,
    text: "mark",
    filter: { group },
    limit: 100,
    includeVectors: true,
  });
  moveOn(version, seq);
  checkGroup(
    group,
    hits.map((hit) => ({ ...hit, vector: hit.vector ?? [] })),
  );
}

async function countGroup(vectors: Vectors, random: Random): Promise<void> {
  const group = random.int(0, groups - 1);
  const count = await vectors.count(scope, collection, { filter: { group } });
  if (count !== 0 && count !== groupRows)
    throw new Broken(`torn read: group ${group} counts ${count} rows; expected none or ${groupRows}`);
}

async function history(vectors: Vectors): Promise<void> {
  const versions = await vectors.history(scope, collection);
  for (const [i, entry] of versions.entries()) {
    const before = versions[i - 1];
    if (
      before !== undefined &&
      (entry.version <= before.version || entry.epoch < before.epoch || entry.appliedSeq < before.appliedSeq)
    )
      throw new Broken(`the history goes back: ${JSON.stringify(before)} then ${JSON.stringify(entry)}`);
  }
}

function checkWhole(rows: readonly PlainRow[], acked: ReadonlyMap<number, number>): void {
  checkLanes(checkState(rows), acked);
}

function lanesOf(rows: readonly PlainRow[]): Map<number, number> {
  return new Map(
    rows
      .filter(({ metadata }) => metadata["kind"] === "lane")
      .map(({ metadata }) => [metadata["lane"] as number, metadata["n"] as number]),
  );
}

function checkLanes(lanes: ReadonlyMap<number, number>, acked: ReadonlyMap<number, number>): void {
  for (const [lane, n] of acked) {
    const shown = lanes.get(lane) ?? -1;
    if (shown < n)
      throw new Broken(`delta ${n} of lane ${lane} was acknowledged before the read began; the read shows ${shown}`);
  }
  for (const [lane, n] of lanes) {
    const before = seen.lanes.get(lane) ?? -1;
    if (n < before) throw new Broken(`lane ${lane} went back from ${before} to ${n}`);
    seen.lanes.set(lane, n);
  }
}

function moveOn(version: number, seq: number): void {
  if (version < seen.version || seq < seen.seq)
    throw new Broken(`a read showed version ${version}, seq ${seq} after version ${seen.version}, seq ${seen.seq}`);
  Object.assign(seen, { version, seq });
}
