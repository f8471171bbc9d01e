/** Views of collections (RFC 0001, "Read"): strong by default, of an earlier version on request, with the last one cached. */
import { PinakesError, invalid, show } from "../../domain/errors.ts";
import { decodeToken, staleToken } from "../log/session-token.ts";
import { MissingObject, type CollectionSite } from "../store/collection-site.ts";
import type { SegmentBytes } from "../segment-bytes.ts";
import { isDiscarded } from "../store/manifest.ts";
import type { Head, HistoryEntry, Log } from "../store/records.ts";
import { withoutHidden, type HiddenRows } from "./hidden-rows.ts";
import { extendView, openDeltas, openView, type View } from "./view.ts";

export interface ReadOptions {
  /** A token that an append returned: the read shows that write, or waits for it. */
  readonly session?: string | undefined;
  /** A version, or a time (epoch milliseconds or ISO 8601): the collection as it was then. */
  readonly asOf?: { readonly version: number } | { readonly time: number | string } | undefined;
  /** Accepts a cached view of at most this age in milliseconds, without asking the store. */
  readonly staleMs?: number | undefined;
  /** Rows that count as deleted in this read. */
  readonly hidden?: HiddenRows | undefined;
}

interface Cached {
  readonly view: View;
  readonly nextSeq: number;
  readonly logId: string;
  readonly readAt: number;
}

/** The state when a read began. */
interface Seen {
  readonly head: Head;
  readonly log: Log;
  readonly cached: Cached | undefined;
  readonly readAt: number;
}

const attemptsMax = 20;
const sessionPollMs = 20;

export class Reader {
  readonly #cached = new Map<string, Cached>();
  readonly #opening = new Map<string, Promise<Cached | undefined>>();
  readonly #viewsMax: number;

  constructor(viewsMax = 256) {
    this.#viewsMax = viewsMax;
  }

  async view(site: CollectionSite, options: ReadOptions = {}): Promise<View> {
    if (typeof options !== "object" || options === null)
      throw invalid(`The options of a read must be an object, got ${show(options)}.`);
    return withoutHidden(await this.#whole(site, options), options.hidden);
  }

  async #whole(site: CollectionSite, options: ReadOptions): Promise<View> {
    if (options.asOf !== undefined) return this.#earlier(site, options.asOf);
    const token = options.session === undefined ? undefined : decodeToken(options.session);
    const fresh = this.#fresh(site, options.staleMs);
    if (fresh !== undefined && (token === undefined || (token.logId === fresh.logId && token.seq <= fresh.view.seq)))
      return fresh.view;
    const deadline = site.deps.monotonic() + site.deps.policy.sessionWaitMs;
    for (;;) {
      const current = await this.#current(site);
      if (token === undefined) return current.view;
      if (token.logId !== current.logId || isDiscarded(current.view.manifest, token.seq)) throw staleToken();
      if (token.seq <= current.view.seq) return current.view;
      if (site.deps.monotonic() >= deadline)
        throw new PinakesError("UNAVAILABLE", "session: the write of this token is not visible yet; try again.");
      await site.deps.timers.pause(sessionPollMs);
    }
  }

  /** Forgets a collection: it was deleted. */
  forget(site: CollectionSite): void {
    this.#cached.delete(site.name);
  }

  /** Releases views that hold this file: it leaves memory. */
  drop(segment: SegmentBytes): void {
    for (const [name, { view }] of this.#cached)
      if (view.sources.some(({ rows }) => rows.segment === segment)) this.#cached.delete(name);
  }

  #fresh(site: CollectionSite, staleMs: number | undefined): Cached | undefined {
    if (staleMs === undefined) return undefined;
    const cached = this.#cached.get(site.name);
    return cached !== undefined && site.deps.monotonic() - cached.readAt <= staleMs ? cached : undefined;
  }

  async #current(site: CollectionSite): Promise<Cached> {
    let missing: MissingObject | undefined;
    for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
      const readAt = site.deps.monotonic();
      const { head, log } = await site.state();
      // They are read one after the other: a restore came in between.
      if (head.version < log.restored) continue;
      const cached = this.#cached.get(site.name);
      if (cached !== undefined && sameState(cached, head, log)) return this.#touch(site, { ...cached, readAt });
      try {
        const opened = await this.#open(site, { head, log, cached, readAt });
        if (opened !== undefined) return opened;
      } catch (error) {
        // A garbage collection may have removed files of the view; if nothing has changed, the object is lost.
        if (!(error instanceof MissingObject) || missing?.key === error.key) throw error;
        missing = error;
      }
    }
    throw new PinakesError("UNAVAILABLE", "The collection changed repeatedly during this read; try again.");
  }

  #touch(site: CollectionSite, cached: Cached): Cached {
    const { name } = site;
    this.#cached.delete(name);
    this.#cached.set(name, cached);
    if (this.#cached.size > this.#viewsMax) this.#cached.delete(this.#cached.keys().next().value as string);
    return cached;
  }

  /** Concurrent queries share the work. */
  async #open(site: CollectionSite, seen: Seen): Promise<Cached | undefined> {
    const { head, log } = seen;
    const name = `${site.name}/${head.commitId}/${log.nextSeq}`;
    const under = this.#opening.get(name);
    if (under !== undefined) return under;
    const opening = this.#build(site, seen);
    this.#opening.set(name, opening);
    try {
      const view = await opening;
      return view === undefined ? undefined : this.#touch(site, view);
    } finally {
      this.#opening.delete(name);
    }
  }

  /** Undefined if the head moved while the tail was read. */
  async #build(site: CollectionSite, { head, log, cached, readAt }: Seen): Promise<Cached | undefined> {
    const sameHead =
      cached !== undefined && cached.view.manifest.commitId === head.commitId && cached.logId === log.logId;
    const entry = sameHead ? undefined : await site.history(head.version);
    if (!sameHead && entry?.manifest.commitId !== head.commitId) return undefined;
    const from = sameHead ? cached.view.seq : head.appliedSeq;
    const wanted = log.nextSeq - 1 - from;
    // Exactly those: a later one may have been written after a restore, which discarded some of these.
    const tail = wanted <= 0 ? [] : await site.deltas(from + 1, wanted);
    if (tail.length < wanted || tail.some((delta, i) => delta.seq !== from + 1 + i)) return undefined;
    // In parallel: a cold open waits for its slowest file, not for one kind after the other.
    const [base, files] = await Promise.all([
      entry === undefined ? (cached as Cached).view : openView(site, entry.manifest),
      openDeltas(site, tail),
    ]);
    const view = tail.length === 0 ? base : await extendView(site, base, files);
    return { view, nextSeq: view.seq + 1, logId: log.logId, readAt };
  }

  async #earlier(site: CollectionSite, asOf: NonNullable<ReadOptions["asOf"]>): Promise<View> {
    await site.state(); // A deleted collection has no past either.
    const entry = await findVersion(site, asOf, "asOf");
    const gone = (): PinakesError =>
      new PinakesError(
        "NOT_FOUND",
        `asOf: the collection ${show(site.collection)} has no version ${show(asOf)} (any more).`,
      );
    if (entry === undefined) throw gone();
    try {
      return await openView(site, entry.manifest);
    } catch (error) {
      if (error instanceof MissingObject && (await site.history(entry.manifest.version)) === undefined) throw gone();
      throw error;
    }
  }
}

/** By its number, or by a time; `where` is for messages. */
export async function findVersion(
  site: CollectionSite,
  wanted: unknown,
  where: string,
): Promise<HistoryEntry | undefined> {
  if (typeof wanted === "object" && wanted !== null) {
    if ("version" in wanted) return site.history(checkVersion(wanted.version, where));
    if ("time" in wanted) return historyAt(site, checkTime(wanted.time, where));
  }
  throw invalid(`${where}: must be an object with a version or a time, got ${show(wanted)}.`);
}

/** The version that was the newest at that time. */
async function historyAt(site: CollectionSite, time: number): Promise<HistoryEntry | undefined> {
  let found: HistoryEntry | undefined;
  for await (const entry of site.histories()) {
    if (entry.committedAt > time) break;
    found = entry;
  }
  return found;
}

function sameState(cached: Cached, head: Head, log: Log): boolean {
  return cached.view.manifest.commitId === head.commitId && cached.logId === log.logId && cached.nextSeq >= log.nextSeq;
}

function checkVersion(version: unknown, where: string): number {
  if (!Number.isInteger(version) || (version as number) < 0)
    throw invalid(`${where}.version: must be a whole number, got ${show(version)}.`);
  return version as number;
}

function checkTime(time: unknown, where: string): number {
  const parsed = typeof time === "string" ? Date.parse(time) : time;
  if (typeof parsed !== "number" || !Number.isFinite(parsed))
    throw invalid(`${where}.time: must be a time such as 2030-01-01T00:00:00Z, got ${show(time)}.`);
  return parsed;
}
