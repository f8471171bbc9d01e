/**
 * Watches everything that takes effect in the stores and reports violations (RFC 0001, "Invariants"). It knows nothing of the
 * implementation: only the operations that arrived, the rows that were appended, and what a correct collection may do.
 */
import type { JsonObject } from "../../../src/domain/json.ts";
import type { BatchResult, Operation } from "../../../src/ports/item-store.ts";
import type { View } from "../../../src/vectors/read/view.ts";
import type { Row } from "../../../src/vectors/row.ts";
import { keysOf, type Manifest } from "../../../src/vectors/store/manifest.ts";
import {
  itemIds,
  type Delta,
  type Head,
  type Lease,
  type Log,
  type Status,
} from "../../../src/vectors/store/records.ts";
import { applied, emptyModel, liveOf, modelText, viewText, type Model } from "./model.ts";

export interface KnownVersion {
  readonly manifest: Manifest;
  readonly key: string;
  readonly committedAt: number;
  readonly model: Model;
  /** Whether the history still has it. */
  kept: boolean;
}

interface Committed {
  readonly delta: Delta;
  readonly rows: readonly Row[];
}

export interface ReadStart {
  readonly ackedSeq: number;
  readonly version: number;
  readonly inactive: number;
  readonly damaged: boolean;
  readonly damages: number;
}

export interface OracleOptions {
  readonly now: () => number;
  readonly fail: (what: string) => void;
  readonly retentionMs: number;
  /** With clocks that differ the end of the retention is unknown. */
  readonly clocksAgree: boolean;
}

export class Oracle {
  readonly figures = {
    commits: 0,
    acknowledged: 0,
    repeated: 0,
    publishes: 0,
    merges: 0,
    restores: 0,
    reads: 0,
    earlierReads: 0,
    collected: 0,
    deaths: 0,
    redrives: 0,
    discards: 0,
  };
  readonly contents = new Map<string, readonly Row[]>();
  readonly committed = new Map<number, Committed>();
  readonly versions = new Map<number, KnownVersion>();
  readonly objects = new Set<string>();
  /** Objects that were corrupted on purpose. */
  readonly damaged = new Set<string>();
  readonly requested = new Map<number, "redrive" | "discard">();
  readonly work = new Set<string>();
  readonly tokens: { readonly seq: number; readonly session: string }[] = [];
  ackedSeq = 0;
  status: Status = "active";
  /** How often it stopped being active. */
  inactive = 0;
  damages = 0;
  /** Of a collection in the trash: when it is due. */
  purgeAt = Infinity;
  head: Head | undefined;
  log: Log | undefined;
  lease: Lease | undefined;
  readonly #everPut = new Set<string>();
  readonly #deltaIds = new Map<string, number>();
  readonly #options: OracleOptions;

  constructor(options: OracleOptions) {
    this.#options = options;
  }

  pending(): Delta[] {
    const from = this.head?.appliedSeq ?? 0;
    return [...this.committed.values()].flatMap(({ delta }) => (delta.seq > from ? [delta] : []));
  }

  isRetained(version: number): boolean {
    const next = this.versions.get(version + 1);
    return next === undefined || this.#options.now() - next.committedAt < this.#options.retentionMs;
  }

  acknowledge(seq: number, session: string, repeated: boolean, deltaId: string | undefined): void {
    const there = this.committed.get(seq);
    if (there === undefined)
      return this.#options.fail(`I1: an append was acknowledged with seq ${seq}, which was never committed`);
    if (deltaId !== undefined && there.delta.deltaId !== deltaId)
      this.#options.fail(`I1: the append acknowledged as ${seq} is a different one`);
    this.figures.acknowledged += 1;
    if (repeated) this.figures.repeated += 1;
    this.ackedSeq = Math.max(this.ackedSeq, seq);
    this.tokens.push({ seq, session });
  }

  // Objects

  put(key: string): void {
    if (this.#everPut.has(key) && !key.endsWith("/HEAD.json")) this.#options.fail(`the name ${key} was used twice`);
    this.#everPut.add(key);
    this.objects.add(key);
  }

  deleted(keys: readonly string[]): void {
    const needed = this.status === "purging" || this.status === "deleted" ? new Set() : this.#needed();
    for (const key of keys) {
      if (needed.has(key)) this.#options.fail(`I5: ${key} was deleted, and is still needed`);
      this.objects.delete(key);
      this.figures.collected += 1;
    }
  }

  #needed(): Set<string> {
    const needed = new Set<string>(this.pending().map(({ key }) => key));
    for (const { kept, manifest, key } of this.versions.values()) {
      if (!kept) continue;
      needed.add(key);
      for (const named of keysOf(manifest)) needed.add(named);
    }
    return needed;
  }

  // Items

  wrote(operation: Operation): void {
    const id =
      operation.op === "delete" || operation.op === "patch" || operation.op === "check"
        ? operation.id
        : String(operation.document["id"]);
    if (operation.op === "delete") this.work.delete(id);
    else this.work.add(id);
    this.#checkDirty();
  }

  batched(operations: readonly Operation[], { results }: BatchResult): void {
    let publishes: JsonObject | undefined;
    let history: JsonObject | undefined;
    const firstSeq = this.log?.nextSeq ?? 1;
    const commits: Delta[] = [];
    for (const [i, operation] of operations.entries()) {
      if (operation.op === "check") continue;
      const id = results[i]?.id ?? "";
      if (operation.op === "delete") {
        this.#removed(id);
        continue;
      }
      const document = operation.op === "patch" ? (results[i]?.document as JsonObject) : operation.document;
      if (id === itemIds.fence) {
        this.purgeAt = Number(document["purgeAt"] ?? Infinity);
        this.#fenced(document["status"] as Status);
      } else if (id === itemIds.log) this.#logged(document as unknown as Log);
      else if (id === itemIds.lease) this.#leased(document as unknown as Lease);
      else if (id === itemIds.head) publishes = document;
      else if (id.startsWith("history.")) history = document;
      else if (id.startsWith("delta.") && operation.op === "create") commits.push(document as unknown as Delta);
    }
    for (const [i, delta] of commits.entries()) this.#commit(delta, firstSeq + i);
    if (commits.length > 0 && this.log?.nextSeq !== firstSeq + commits.length)
      this.#options.fail(
        `R-CMP-05: ${commits.length} deltas from ${firstSeq} on, and the log says ${this.log?.nextSeq}`,
      );
    if (publishes !== undefined && history !== undefined)
      this.#publish(publishes as unknown as Head, JSON.parse(String(history["text"])) as Manifest);
    this.#checkDirty();
  }

  #removed(id: string): void {
    if (this.status === "purging" || this.status === "deleted") return;
    if (id.startsWith("delta.")) {
      const seq = Number(id.slice(6));
      if (seq > (this.head?.appliedSeq ?? 0))
        this.#options.fail(`I1: the log entry ${seq} was removed while it was pending`);
    } else if (id.startsWith("history.")) {
      const version = Number(id.slice(8));
      const known = this.versions.get(version);
      if (known === undefined || version === this.head?.version)
        return this.#options.fail(`I5: version ${version} was removed, and is the newest`);
      if (this.#options.clocksAgree && this.isRetained(version))
        this.#options.fail(`R-CMP-28: version ${version} was removed within its retention`);
      known.kept = false;
    } else if (!id.startsWith("request.")) {
      this.#options.fail(`${id} was removed`);
    }
  }

  #fenced(status: Status): void {
    if (status === "diverged")
      this.#options.fail("the collection was declared diverged, without a restore of its items");
    if (this.status === "purging" && status !== "deleted" && status !== "purging")
      this.#options.fail(`I12: purging became ${status}`);
    if (this.status === "active" && status !== "active") this.inactive += 1;
    this.status = status;
  }

  #logged(log: Log): void {
    if (
      this.log !== undefined &&
      (log.nextSeq < this.log.nextSeq || log.generation < this.log.generation || log.bytes < this.log.bytes)
    )
      this.#options.fail(`I4: the log went back: ${JSON.stringify(this.log)} → ${JSON.stringify(log)}`);
    this.log = log;
  }

  #leased(lease: Lease): void {
    if (this.lease !== undefined && lease.epoch < this.lease.epoch)
      this.#options.fail(`I4: the epoch went back from ${this.lease.epoch} to ${lease.epoch}`);
    this.lease = lease;
  }

  #commit(delta: Delta, expectedSeq: number): void {
    this.figures.commits += 1;
    const rows = this.contents.get(delta.contentHash);
    if (this.status !== "active")
      this.#options.fail(`I12: delta ${delta.seq} was committed while the collection was ${this.status}`);
    if (delta.seq !== expectedSeq) this.#options.fail(`R-CMP-05: delta ${delta.seq} instead of ${expectedSeq}`);
    if (rows === undefined) return this.#options.fail(`delta ${delta.seq} has content that was never written`);
    if (this.#deltaIds.has(delta.deltaId))
      this.#options.fail(
        `R-CMP-20: the delta id ${delta.deltaId} was committed as ${this.#deltaIds.get(delta.deltaId)} and ${delta.seq}`,
      );
    if (!this.objects.has(delta.key))
      this.#options.fail(`I5: delta ${delta.seq} was committed without its object ${delta.key}`);
    this.#deltaIds.set(delta.deltaId, delta.seq);
    this.committed.set(delta.seq, { delta, rows });
  }

  #publish(head: Head, manifest: Manifest): void {
    const before = this.head;
    const { fail } = this.#options;
    this.head = head;
    let model = emptyModel;
    if (before !== undefined) {
      this.figures.publishes += 1;
      const parent = this.versions.get(before.version) as KnownVersion;
      if (this.status !== "active")
        fail(`I12: version ${head.version} was published while the collection was ${this.status}`);
      if (manifest.epoch !== this.lease?.epoch)
        fail(`I9: epoch ${manifest.epoch} published version ${head.version} in epoch ${this.lease?.epoch}`);
      if (manifest.reason !== "restore" && manifest.writer !== this.lease?.owner)
        fail(`I9: ${manifest.writer} published while ${this.lease?.owner} has the lease`);
      if (head.version !== before.version + 1) fail(`I4: version ${head.version} after ${before.version}`);
      if (head.appliedSeq < before.appliedSeq) fail(`I4: applied up to ${head.appliedSeq} after ${before.appliedSeq}`);
      if (manifest.parent?.version !== before.version || manifest.parent.sha256 !== before.sha256)
        fail(`I7: version ${head.version} does not follow the one before`);
      model = this.#next(parent, manifest);
    }
    for (const key of [head.key, ...keysOf(manifest)])
      if (!this.objects.has(key)) fail(`I5: version ${head.version} was published without ${key}`);
    if (manifest.stats.live !== liveOf(model))
      fail(`I2: version ${head.version} says that ${manifest.stats.live} rows are live instead of ${liveOf(model)}`);
    this.versions.set(head.version, { manifest, key: head.key, committedAt: head.committedAt, model, kept: true });
  }

  #next(parent: KnownVersion, manifest: Manifest): Model {
    const { fail } = this.#options;
    if (manifest.reason === "restore") return this.#restored(manifest);
    if (JSON.stringify(manifest.discarded) !== JSON.stringify(parent.manifest.discarded))
      fail(`I6: a ${manifest.reason} changed what is discarded`);
    if (manifest.reason === "merge") {
      this.figures.merges += 1;
      if (manifest.appliedSeq !== parent.manifest.appliedSeq || manifest.applied.length > 0)
        fail("I6: a merge applied something");
      if (JSON.stringify(manifest.dead) !== JSON.stringify(parent.manifest.dead))
        fail("I6: a merge changed what is dead");
      return parent.model;
    }
    const dead = new Set(manifest.dead.map(({ seq }) => seq));
    let { model } = parent;
    for (const { seq } of parent.manifest.dead.filter((delta) => !dead.has(delta.seq)).sort((a, b) => a.seq - b.seq)) {
      const action = this.requested.get(seq);
      if (action === undefined) fail(`I6: dead delta ${seq} went without a request`);
      else this.figures[`${action}s`] += 1;
      if (action === "redrive") model = applied(model, seq, this.#rowsOf(seq));
    }
    let expected = parent.manifest.appliedSeq;
    for (const { seq, key, deltaId } of manifest.applied) {
      expected += 1;
      const there = this.committed.get(seq);
      if (seq !== expected || there?.delta.key !== key || there.delta.deltaId !== deltaId)
        fail(`I6: version ${manifest.version} applied ${seq} (${deltaId}) instead of ${expected}`);
      if (!dead.has(seq)) {
        model = applied(model, seq, this.#rowsOf(seq));
        continue;
      }
      this.figures.deaths += 1;
      if (!this.damaged.has(key)) fail(`I6: delta ${seq} was given up, and is not damaged`);
    }
    if (expected !== manifest.appliedSeq)
      fail(`I6: version ${manifest.version} says it applied up to ${manifest.appliedSeq}, and names up to ${expected}`);
    return model;
  }

  #restored(manifest: Manifest): Model {
    this.figures.restores += 1;
    // What was committed during the restore comes after it, by its seq.
    if (manifest.appliedSeq > (this.log?.nextSeq ?? 0) - 1)
      this.#options.fail("I6: a restore discarded what was not written yet");
    const files = JSON.stringify([manifest.segments, manifest.dead]);
    const source = [...this.versions.values()].find(
      (version) => version.kept && JSON.stringify([version.manifest.segments, version.manifest.dead]) === files,
    );
    if (source === undefined) {
      this.#options.fail(`version ${manifest.version} restores a version that does not exist`);
      return emptyModel;
    }
    return source.model;
  }

  #rowsOf(seq: number): readonly Row[] {
    return this.committed.get(seq)?.rows ?? [];
  }

  /** Pending deltas are found again: by `dirty`, and an entry in the registry. */
  #checkDirty(): void {
    if (this.status !== "active" || this.log === undefined || this.head === undefined) return;
    if (this.log.nextSeq - 1 > this.head.appliedSeq && !this.log.dirty)
      this.#options.fail("R-CMP-11: deltas are pending, and the log is not dirty");
    if (this.log.dirty && ![...this.work].some((id) => id.startsWith("compact:")))
      this.#options.fail("R-CMP-11: the log is dirty, without an entry in the registry");
  }

  // Reads

  beginRead(): ReadStart {
    return {
      ackedSeq: this.ackedSeq,
      version: this.head?.version ?? 0,
      inactive: this.inactive + (this.status === "active" ? 0 : -1),
      damaged: this.#damagedPending(),
      damages: this.damages,
    };
  }

  /** A returned view: a state that the collection had, and none from before the read began. */
  checkView(view: View, start: ReadStart, earlier: number | undefined): void {
    this.figures.reads += 1;
    const { fail } = this.#options;
    const version = this.versions.get(view.manifest.version);
    if (version === undefined || version.manifest.commitId !== view.manifest.commitId)
      return fail(`I3: a view of version ${view.manifest.version}, which was never published`);
    if (earlier === undefined) {
      if (view.seq < start.ackedSeq)
        fail(`I11: a read shows writes up to ${view.seq}, and ${start.ackedSeq} was acknowledged before it began`);
      if (view.manifest.version < start.version)
        fail(`I11: a read shows version ${view.manifest.version}, and ${start.version} was there before it began`);
    } else {
      this.figures.earlierReads += 1;
      if (view.manifest.version !== earlier || view.seq !== view.manifest.appliedSeq)
        fail(`I3: asked for version ${earlier}, got ${view.manifest.version} and writes up to ${view.seq}`);
    }
    let { model } = version;
    for (let seq = view.manifest.appliedSeq + 1; seq <= view.seq; seq += 1) {
      if (!this.committed.has(seq))
        return fail(`I2: a view shows writes up to ${view.seq}, and ${seq} was never committed`);
      model = applied(model, seq, this.#rowsOf(seq));
    }
    const expected = modelText(model);
    const found = viewText(view);
    if (found !== expected)
      fail(
        `I2: version ${view.manifest.version} with writes up to ${view.seq} shows\n${found}\ninstead of\n${expected}`,
      );
  }

  /** Whether a read may fail with this code. */
  mayFail(code: string, start: ReadStart): boolean {
    if (code === "NOT_FOUND") return this.inactive > start.inactive;
    if (code === "CORRUPT") return start.damaged || this.#damagedPending() || this.damages > start.damages;
    return false;
  }

  isDiscarded(seq: number): boolean {
    return [...this.versions.values()].some(({ manifest }) =>
      manifest.discarded.some(([from, to]) => seq >= from && seq <= to),
    );
  }

  #damagedPending(): boolean {
    return this.pending().some(({ key }) => this.damaged.has(key));
  }
}
