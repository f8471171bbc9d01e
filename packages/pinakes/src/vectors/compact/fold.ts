/** One fold: the next deltas of the log, and dead ones to be retried, become a segment. */
import { hasCode, PinakesError } from "../../domain/errors.ts";
import { vectorLimits } from "../limits.ts";
import type { MergeSource, Picks } from "../build/merge-segments.ts";
import { formatSum, RowSummer } from "../segment/row-sum.ts";
import { SegmentRows } from "../segment/segment-rows.ts";
import type { CollectionSite } from "../store/collection-site.ts";
import type { DeadDelta, Manifest } from "../store/manifest.ts";
import { openSegments, type OpenSegment } from "../store/open-segments.ts";
import { rowsInMemory } from "../store/rows-in-memory.ts";
import { itemIds, type DeadRequest, type Delta, type Head } from "../store/records.ts";
import { planFold, type FoldPlan, type OpenDelta } from "./fold-plan.ts";
import type { HeldLease } from "./lease.ts";
import { liveStats } from "./live-stats.ts";
import { Fenced, publish, type Publication } from "./publish.ts";
import { writeDeletions, writeSegment } from "./segment-writer.ts";

export type FoldStep =
  | { readonly published: Publication; readonly rowsWritten: number }
  | { readonly waiting: string }
  | undefined;

/** Undefined if nothing is pending. */
export async function foldOnce(site: CollectionSite, head: Head, lease: HeldLease): Promise<FoldStep> {
  const requests: DeadRequest[] = [];
  for await (const request of site.all<DeadRequest>("request.")) requests.push(request);
  const pending = await nextDeltas(site, head);
  if (pending.length === 0 && requests.length === 0) return undefined;
  const manifest = await manifestOf(site, head);
  const taken = await takeDeltas(site, manifest, pending, lease);
  const redriven = await takeRequested(site, manifest, requests);
  if (taken.last === undefined && redriven.settled.length === 0) {
    if (taken.waiting !== undefined) return { waiting: taken.waiting };
    await removeRequests(site, redriven.spent);
    return pending.length === 0 ? undefined : { waiting: "no delta could be read" };
  }
  const dead = [...manifest.dead.filter(({ seq }) => !redriven.settled.includes(seq)), ...taken.dead].toSorted(
    (a, b) => a.seq - b.seq,
  );
  const deltas = [...redriven.open, ...taken.open].toSorted((a, b) => a.seq - b.seq);
  const segments = await openSegments(site, manifest);
  const { keepsTombstone } = site.deps.policy;
  const deadSeqs = dead.map(({ seq }) => seq);
  const plan = planFold(deltas, segments, (seq) => keepsTombstone(seq, deadSeqs));
  const { entries, rowsWritten } = await write(site, manifest, { deltas, segments, plan });
  const appliedSeq = taken.last?.seq ?? manifest.appliedSeq;
  const published = await publish(site, head, lease, {
    ...kept(manifest),
    reason: "fold",
    appliedSeq,
    appliedBytes: manifest.appliedBytes + taken.bytes,
    applied: taken.applied,
    dead,
    segments: entries,
    stats: liveStats(entries),
  });
  await removeRequests(site, redriven.spent);
  return { published, rowsWritten };
}

/** What a new version inherits unless it changes it. */
export function kept({
  logId,
  settings,
  appliedSeq,
  appliedBytes,
  dead,
  discarded,
}: Manifest): Pick<Manifest, "logId" | "settings" | "appliedSeq" | "appliedBytes" | "applied" | "dead" | "discarded"> {
  return { logId, settings, appliedSeq, appliedBytes, applied: [], dead, discarded };
}

export async function manifestOf(site: CollectionSite, head: Head): Promise<Manifest> {
  const entry = await site.history(head.version);
  if (entry === undefined || entry.manifest.commitId !== head.commitId)
    throw new Fenced(`version ${head.version} is not the newest any more`);
  return entry.manifest;
}

/** Without a gap from the head on: a gap means that the head is stale. */
async function nextDeltas(site: CollectionSite, head: Head): Promise<Delta[]> {
  const all = await site.deltas(head.appliedSeq + 1, vectorLimits.foldDeltasMax);
  if (all.some((delta, i) => delta.seq !== head.appliedSeq + 1 + i)) throw new Fenced("the log has moved on");
  let bytes = 0;
  return all.filter((delta, i) => {
    bytes += delta.bytes;
    return i === 0 || bytes <= vectorLimits.foldBytesMax;
  });
}

interface Taken {
  readonly open: readonly OpenDelta[];
  readonly dead: readonly DeadDelta[];
  readonly last: Delta | undefined;
  readonly bytes: number;
  readonly applied: Manifest["applied"];
  readonly waiting?: string;
}

/** Up to the first that cannot be read and is not dead yet. */
async function takeDeltas(
  site: CollectionSite,
  manifest: Manifest,
  pending: readonly Delta[],
  lease: HeldLease,
): Promise<Taken> {
  const open: OpenDelta[] = [];
  const dead: DeadDelta[] = [];
  let last: Delta | undefined;
  let bytes = 0;
  const applied: Manifest["applied"] = [];
  const opened = await Promise.all(pending.map((delta) => openDelta(site, manifest, delta)));
  for (const [i, delta] of pending.entries()) {
    const outcome = opened[i] as OpenDelta | PinakesError;
    if (PinakesError.isInstance(outcome)) {
      // An error of the store does not count against the delta; corruption does.
      if (outcome.code !== "CORRUPT") return { open, dead, last, bytes, applied, waiting: outcome.detail };
      const failures = await countFailure(site, delta, outcome.detail, lease);
      if (failures < vectorLimits.deltaFailuresMax)
        return { open, dead, last, bytes, applied, waiting: `delta ${delta.seq}: ${outcome.detail}` };
      dead.push({ ...entryOf(delta), error: outcome.detail, at: site.deps.clock.now() });
    } else {
      open.push(outcome);
    }
    last = delta;
    bytes += delta.bytes;
    applied.push({ seq: delta.seq, deltaId: delta.deltaId, key: delta.key });
  }
  return { open, dead, last, bytes, applied };
}

function entryOf({ seq, deltaId, key, sha256, bytes, headBytes, rows }: Delta): Omit<DeadDelta, "error" | "at"> {
  return { seq, deltaId, key, sha256, bytes, headBytes, rows };
}

async function openDelta(
  site: CollectionSite,
  manifest: Manifest,
  delta: Delta | DeadDelta,
): Promise<OpenDelta | PinakesError> {
  try {
    const segment = await site.deps.files.open(site, delta);
    const { dims, metric } = segment.header;
    if (segment.header.kind !== "delta" || dims !== manifest.settings.dims || metric !== manifest.settings.metric)
      return new PinakesError(
        "CORRUPT",
        `it is a ${segment.header.kind} of ${dims} dimensions (${metric}), which does not fit the collection`,
      );
    return { seq: delta.seq, rows: new SegmentRows(segment, delta.seq) };
  } catch (error) {
    if (PinakesError.isInstance(error)) return error;
    throw error;
  }
}

/** Only by the holder of the lease, so that two do not count one failure twice. */
async function countFailure(site: CollectionSite, delta: Delta, error: string, lease: HeldLease): Promise<number> {
  try {
    await site.batch([
      { op: "check", id: itemIds.lease, where: { owner: lease.owner, epoch: lease.epoch } },
      {
        op: "patch",
        id: itemIds.delta(delta.seq),
        patch: [
          { op: "incr", path: "/failures", value: 1 },
          { op: "set", path: "/error", value: error },
        ],
      },
    ]);
  } catch (cause) {
    if (hasCode(cause, "PRECONDITION_FAILED", "NOT_FOUND")) throw new Fenced("another process holds the lease");
    throw cause;
  }
  return delta.failures + 1;
}

interface Requested {
  readonly open: readonly OpenDelta[];
  /** Seqs that are not dead any more after this fold. */
  readonly settled: readonly number[];
  /** All but those that could not be retried because of store errors. */
  readonly spent: readonly DeadRequest[];
}

async function takeRequested(
  site: CollectionSite,
  manifest: Manifest,
  requests: readonly DeadRequest[],
): Promise<Requested> {
  const open: OpenDelta[] = [];
  const settled: number[] = [];
  const spent: DeadRequest[] = [];
  for (const request of requests) {
    const dead = manifest.dead.find((delta) => delta.seq === request.seq);
    const outcome =
      dead === undefined || request.action === "discard" ? undefined : await openDelta(site, manifest, dead);
    if (PinakesError.isInstance(outcome) && outcome.code !== "CORRUPT") continue;
    spent.push(request);
    // Still corrupt: it stays dead.
    if (dead === undefined || PinakesError.isInstance(outcome)) continue;
    if (outcome !== undefined) open.push(outcome);
    settled.push(request.seq);
  }
  return { open, settled, spent };
}

async function removeRequests(site: CollectionSite, requests: readonly DeadRequest[]): Promise<void> {
  for (const { seq, nonce } of requests) {
    // Remaining requests are found again, and settled already; newer requests stay.
    await site.batch([{ op: "delete", id: itemIds.request(seq), where: { nonce } }]).catch(() => {});
  }
}

async function write(
  site: CollectionSite,
  manifest: Manifest,
  { deltas, segments, plan }: { deltas: readonly OpenDelta[]; segments: readonly OpenSegment[]; plan: FoldPlan },
): Promise<{ entries: Manifest["segments"]; rowsWritten: number }> {
  const { sources, picks } = await gather(site, manifest, deltas, plan);
  const output = await writeSegment(site, manifest.settings, sources, picks);
  const older = await writeDeletions(site, segments, plan.removed);
  const expected = expectedSum(sources, picks);
  if (output !== undefined && output.entry.sum !== expected)
    throw new PinakesError(
      "INTERNAL",
      `A fold wrote rows with the sum ${output.entry.sum} instead of ${expected}; nothing was published.`,
    );
  // A segment without live rows is removed by the next merge, not here: its tombstones may still be needed.
  return { entries: output === undefined ? older : [...older, output.entry], rowsWritten: picks.source.length };
}

/** The deltas, and a file for the patched rows of each seq. */
async function gather(
  site: CollectionSite,
  { settings }: Manifest,
  deltas: readonly OpenDelta[],
  plan: FoldPlan,
): Promise<{ sources: MergeSource[]; picks: Picks }> {
  const sources: MergeSource[] = deltas.map(({ rows, seq }) => ({ segment: rows.segment, deltaSeq: seq }));
  const source = plan.kept.map(({ delta }) => delta);
  const row = plan.kept.map((pick) => pick.row);
  for (const [seq, rows] of plan.patched) {
    for (let i = 0; i < rows.length; i += 1) {
      source.push(sources.length);
      row.push(i);
    }
    sources.push({ segment: (await rowsInMemory(site, settings, rows, seq)).segment, deltaSeq: seq });
  }
  return { sources, picks: { source: Uint32Array.from(source), row: Uint32Array.from(row) } };
}

export function expectedSum(sources: readonly MergeSource[], picks: Picks): string {
  const rows = sources.map(({ segment, deltaSeq }) => new SegmentRows(segment, deltaSeq));
  const summer = new RowSummer();
  for (const [i, source] of picks.source.entries()) {
    const from = rows[source] as SegmentRows;
    const row = picks.row[i] as number;
    if (from.isPut(row)) summer.add(from.hashes, row, from.seq(row));
  }
  return formatSum(summer.sum());
}
