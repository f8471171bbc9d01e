/** Appending a delta (RFC 0001, "Append"). */
import { hasCode, PinakesError, invalid, show } from "../../domain/errors.ts";
import { vectorLimits } from "../limits.ts";
import type { BuiltDelta } from "../build/build-delta.ts";
import type { CollectionSite } from "../store/collection-site.ts";
import { itemIds, type DeltaId, type Head, type Log } from "../store/records.ts";
import { GroupCommit, Overtaken, diverged, otherContent, type Committed } from "./group-commit.ts";
import { checkRows, type Changes } from "./rows.ts";
import { encodeToken } from "./session-token.ts";
import type { VectorWork } from "./vector-work.ts";

export interface AppendInput extends Changes {
  /** Chosen by the caller, so that a repeat is recognised. Generated when absent. */
  readonly deltaId?: string | undefined;
}

export interface AppendResult {
  readonly deltaId: string;
  readonly seq: number;
  /** For a query that must see this write, in any process. */
  readonly session: string;
  /** True if this very delta had been appended before. */
  readonly repeated: boolean;
  /** Ids that occurred more than once in this delta; the last one won. */
  readonly duplicates: readonly string[];
}

const overtakenMax = 20;
const deltaIdPattern = new RegExp(`^[A-Za-z0-9._:@+-]{1,${vectorLimits.deltaIdCharsMax}}$`);

/** The appenders of a process: one group commit for each collection with writes. */
export class Appender {
  readonly #work: VectorWork;
  readonly #groups = new Map<string, GroupCommit>();

  constructor(work: VectorWork) {
    this.#work = work;
  }

  async append(site: CollectionSite, input: AppendInput): Promise<AppendResult> {
    const { deltaId = site.deps.uniqueName(), ...changes } = input;
    if (typeof deltaId !== "string" || !deltaIdPattern.test(deltaId))
      throw invalid(
        `deltaId: must be 1–${vectorLimits.deltaIdCharsMax} letters, digits or any of "._:@+-"; got ${show(deltaId)}.`,
      );
    const { fence, head, log } = await site.state();
    if (fence.status === "diverged") throw diverged(fence);
    const { rows, duplicates } = checkRows(changes, fence.settings);
    const built = await site.deps.builder.delta(site.collection, fence.settings, rows);
    const { seq, logId, repeated } = await this.#store(site, {
      deltaId,
      built,
      known: input.deltaId !== undefined,
      head,
      log,
    });
    return { deltaId, seq, session: encodeToken({ logId, seq }), repeated, duplicates };
  }

  async #store(
    site: CollectionSite,
    { deltaId, built, known, head, log }: { deltaId: string; built: BuiltDelta; known: boolean; head: Head; log: Log },
  ): Promise<Committed> {
    if (known) {
      const earlier = await site.read<DeltaId>(itemIds.deltaId(deltaId));
      if (earlier !== undefined && earlier.contentHash !== built.contentHash) throw otherContent(deltaId);
      if (earlier !== undefined) return { seq: earlier.seq, logId: log.logId, repeated: true };
    }
    checkPending(head, log);
    let { generation } = log;
    for (let attempt = 0; attempt < overtakenMax; attempt += 1) {
      const key = site.newKey("deltas", "seg");
      await site.deps.objects.put(site.scope, key, built.bytes);
      const { sha256, headBytes, rows, contentHash } = built;
      try {
        return await this.#commit(
          site,
          { deltaId, key, sha256, bytes: built.bytes.byteLength, headBytes, rows, contentHash },
          generation,
        );
      } catch (error) {
        // What was put is garbage now; if removing it fails, the next garbage collection does it.
        if (isRefused(error)) await site.deps.objects.delete(site.scope, [key]).catch(() => {});
        if (!(error instanceof Overtaken)) throw error;
        generation = (await site.state()).log.generation;
      }
    }
    throw new PinakesError("UNAVAILABLE", "Garbage was collected repeatedly during this append; try again.");
  }

  async #commit(
    site: CollectionSite,
    delta: Parameters<GroupCommit["commit"]>[0],
    generation: number,
  ): Promise<Committed> {
    const { name } = site;
    const group = this.#groups.get(name) ?? new GroupCommit(site, this.#work);
    this.#groups.set(name, group);
    try {
      return await group.commit(delta, generation);
    } finally {
      // An idle collection costs no memory. Settled on the next turn, because the flush ends after this promise.
      setImmediate(() => {
        if (group.idle && this.#groups.get(name) === group) this.#groups.delete(name);
      });
    }
  }
}

/**
 * Rejected for good. Otherwise the commit may have arrived, now or later, and the object must stay: also when the collection is in the
 * trash.
 */
function isRefused(error: unknown): boolean {
  return hasCode(error, "CONFLICT");
}

function checkPending(head: Head, log: Log): void {
  const deltas = log.nextSeq - 1 - head.appliedSeq;
  const bytes = log.bytes - head.appliedBytes;
  if (deltas < vectorLimits.pendingDeltasMax && bytes < vectorLimits.pendingBytesMax) return;
  throw new PinakesError(
    "THROTTLED",
    `${deltas} deltas (${bytes} bytes) wait to be compacted; at most ${vectorLimits.pendingDeltasMax} (${vectorLimits.pendingBytesMax}) may. Wait some seconds, then retry.`,
  );
}
