/** Compacting one collection (RFC 0001, "Compact"): fold pending deltas, merge segments, publish each step. */
import { hasCode, PinakesError } from "../../domain/errors.ts";
import { succeeds } from "../../runtime/expected-errors.ts";
import type { RegisteredVectorWork, VectorWork } from "../log/vector-work.ts";
import { MissingObject, type CollectionSite } from "../store/collection-site.ts";
import { itemIds, type Fence, type Head, type Log } from "../store/records.ts";
import { foldOnce, kept, manifestOf } from "./fold.ts";
import { LeaseObserver, type HeldLease } from "./lease.ts";
import { openSegments } from "../store/open-segments.ts";
import { liveStats } from "./live-stats.ts";
import { chooseDead, chooseMerge } from "./merge-policy.ts";
import { writeSegment } from "./segment-writer.ts";
import { Fenced, readMirror, writeMirror, publish, type Publication } from "./publish.ts";

export interface CompactionResult {
  /** busy: another compactor is working. fenced: another one took over. waiting: a delta could not be read and will be retried. */
  readonly outcome: "done" | "busy" | "fenced" | "waiting" | "stopped";
  readonly folds: number;
  readonly merges: number;
  /** Rows written into segments, by folds and merges. */
  readonly rowsWritten: number;
  /** Why it waits or was fenced. */
  readonly reason?: string;
}

/** `all`: into as few segments as the caps allow. `dead`: also every segment with a row that does not count any more. */
type Merging = "worthwhile" | "all" | "dead";

export interface CompactionOptions {
  readonly signal?: AbortSignal | undefined;
  readonly merge?: Merging | undefined;
}

const crowdedSegments = 16;

export class Compactor {
  readonly owner: string;
  readonly #work: VectorWork;
  readonly #leases = new LeaseObserver();

  constructor(owner: string, work: VectorWork) {
    this.owner = owner;
    this.#work = work;
  }

  async run(site: CollectionSite, options: CompactionOptions = {}): Promise<CompactionResult> {
    const lease = await this.#leases.acquire(site, this.owner);
    if (lease === undefined) return { outcome: "busy", folds: 0, merges: 0, rowsWritten: 0 };
    const counts = { folds: 0, merges: 0, rowsWritten: 0 };
    let settled: RegisteredVectorWork | undefined;
    try {
      const { entry, ...ended } = await this.#steps(site, lease, counts, options);
      settled = entry;
      return { ...ended, ...counts };
    } catch (error) {
      if (error instanceof Fenced) return { outcome: "fenced", reason: error.message, ...counts };
      if (error instanceof MissingObject && (await hasMoved(site, lease)))
        return { outcome: "fenced", reason: error.message, ...counts };
      throw error;
    } finally {
      const released = await lease.release();
      // Last of all: while the lease is taken there must be another run, or garbage would never be collected.
      if (settled !== undefined && released) await this.#work.remove(settled);
    }
  }

  async #steps(
    site: CollectionSite,
    lease: HeldLease,
    counts: { folds: number; merges: number; rowsWritten: number },
    { signal, merge = "worthwhile" }: CompactionOptions,
  ): Promise<Pick<CompactionResult, "outcome" | "reason"> & { readonly entry?: RegisteredVectorWork }> {
    const { tenant, collection } = site;
    const entry = await this.#work.read({ kind: "compact", tenant, key: collection });
    const { log, ...state } = await site.state();
    let { head } = state;
    await refuseDivergence(site, head);
    let segments = 0;
    // What is pending now, and no more: a run that continued as long as others write would never let garbage be collected.
    const enough = log.nextSeq - 1;
    let looked = false;
    for (;;) {
      if (signal?.aborted === true) return { outcome: "stopped" };
      if (lease.lost.aborted) return { outcome: "fenced", reason: "another process holds the lease" };
      // Folding comes first, but under a steady stream of deltas it would never end: then merging has its turn.
      const early = segments >= crowdedSegments ? await mergeOnce(site, head, lease) : undefined;
      const folded =
        early === undefined && (!looked || head.appliedSeq < enough) ? await foldOnce(site, head, lease) : undefined;
      looked ||= early === undefined;
      if (folded !== undefined && "waiting" in folded) return { outcome: "waiting", reason: folded.waiting };
      const step = early ?? folded ?? (await mergeOnce(site, head, lease, merge));
      if (step === undefined) {
        if (await this.#rest(site, head)) break;
        if (head.appliedSeq >= enough) return { outcome: "done" }; // Another write came meanwhile. The entry stays, and another run follows.
        continue;
      }
      if (folded === undefined) counts.merges += 1;
      else counts.folds += 1;
      counts.rowsWritten += step.rowsWritten;
      head = step.published.head;
      segments = step.published.manifest.segments.length;
      await this.#ensureCollected(site);
    }
    if (entry === undefined) return { outcome: "done" };
    await this.#ensureCollected(site); // The publisher may have died before it reported.
    return { outcome: "done", entry };
  }

  /** Superseded files become garbage later. An existing entry is early enough: a busy collection would be listed all the time. */
  async #ensureCollected({ tenant, collection, deps }: CollectionSite): Promise<void> {
    const collect = { kind: "collect", tenant, key: collection } as const;
    if ((await this.#work.read(collect)) !== undefined) return;
    await this.#work.put({ ...collect, due_at: deps.clock.now() + deps.policy.collectAfterMs });
  }

  /**
   * Reports that nothing is pending, unless there was a concurrent write. `rests` changes, so that a writer that registered before this and
   * commits after it must register again: its entry is about to be removed.
   */
  async #rest(site: CollectionSite, head: Head): Promise<boolean> {
    const patch = [
      { op: "set" as const, path: "/dirty", value: false },
      { op: "incr" as const, path: "/rests", value: 1 },
    ];
    return succeeds(
      site.batch([{ op: "patch", id: itemIds.log, patch, where: { nextSeq: head.appliedSeq + 1 } }]),
      "PRECONDITION_FAILED",
    );
  }
}

/** Whether an object is missing because this compactor is no longer the active one. */
async function hasMoved(site: CollectionSite, lease: HeldLease): Promise<boolean> {
  return (await site.lease()).epoch !== lease.epoch;
}

/** A mirror that is ahead of the head means that the items were restored to an older state: continuing would lose what came after. */
async function refuseDivergence(site: CollectionSite, head: Head): Promise<void> {
  const log = await site.read<Log>(itemIds.log);
  const mirror = await readMirror(site);
  const reason =
    log !== undefined && log.nextSeq <= head.appliedSeq
      ? `its head knows the log up to ${head.appliedSeq}, but the log ends before ${log.nextSeq}`
      : mirror !== undefined && mirror.version > head.version
        ? `its bucket has version ${mirror.version}, but its items end at version ${head.version}; were they restored from a backup?`
        : undefined;
  if (reason === undefined) {
    // The publisher may have died before it wrote the mirror.
    if (head.version > 0 && mirror?.commitId !== head.commitId) await writeMirror(site, head);
    return;
  }
  // A superseded compactor sees the mirror of its successor: that is no divergence.
  const { fence, head: newest } = await site.state();
  if (newest.commitId !== head.commitId) throw new Fenced(`version ${head.version} is not the newest any more`);
  if (fence.status === "active") await markDiverged(site, head, { ...fence, status: "diverged", reason });
  throw new PinakesError(
    "CORRUPT",
    `The vectors of collection "${site.collection}" have diverged: ${reason} Repair them from the bucket.`,
  );
}

/** Only while the head is the one that was compared. */
async function markDiverged(site: CollectionSite, head: Head, marked: Fence): Promise<void> {
  try {
    await site.batch([
      { op: "check", id: itemIds.head, where: { commitId: head.commitId } },
      { op: "replace", document: site.document(itemIds.fence, marked), where: { status: "active" } },
    ]);
  } catch (error) {
    if (hasCode(error, "PRECONDITION_FAILED", "NOT_FOUND")) throw new Fenced("the collection has moved on");
    throw error;
  }
}

/**
 * One merge: several segments become one with their live rows. The live rows do not change, and that is checked. Undefined if no merge is
 * worthwhile.
 */
async function mergeOnce(
  site: CollectionSite,
  head: Head,
  lease: HeldLease,
  merge: Merging = "worthwhile",
): Promise<{ published: Publication; rowsWritten: number } | undefined> {
  const manifest = await manifestOf(site, head);
  const dead = merge === "dead" ? chooseDead(manifest.segments, manifest.dead.length > 0) : [];
  const chosen = dead.length > 0 ? dead : chooseMerge(manifest.segments, merge === "all");
  if (chosen.length === 0) return undefined;
  const opened = await openSegments(site, {
    ...manifest,
    segments: chosen.map((i) => manifest.segments[i] as (typeof manifest.segments)[number]),
  });
  const { keepsTombstone } = site.deps.policy;
  const deadSeqs = manifest.dead.map(({ seq }) => seq);
  const source: number[] = [];
  const row: number[] = [];
  for (const [index, { rows, deleted }] of opened.entries()) {
    for (let r = 0; r < rows.rows; r += 1) {
      if (deleted?.has(r) ?? false) continue;
      if (!rows.isPut(r) && !keepsTombstone(rows.seq(r), deadSeqs)) continue;
      source.push(index);
      row.push(r);
    }
  }
  const sources = opened.map(({ rows }) => ({ segment: rows.segment }));
  const output = await writeSegment(site, manifest.settings, sources, {
    source: Uint32Array.from(source),
    row: Uint32Array.from(row),
  });
  const rest = manifest.segments.filter((_, i) => !chosen.includes(i));
  const segments = output === undefined ? rest : [...rest, output.entry];
  const stats = liveStats(segments);
  if (stats.live !== manifest.stats.live || stats.liveSum !== manifest.stats.liveSum)
    throw new PinakesError(
      "INTERNAL",
      `A merge changed the live rows (${manifest.stats.live} rows, sum ${manifest.stats.liveSum} → ${stats.live}, ${stats.liveSum}); nothing was published.`,
    );
  const published = await publish(site, head, lease, { ...kept(manifest), reason: "merge", segments, stats });
  return { published, rowsWritten: source.length };
}
