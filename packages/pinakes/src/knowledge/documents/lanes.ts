/**
 * Fair queueing of ingestion: every workspace has a lane, a queue of its own, and a free worker takes its next document from the lane with
 * the fewest in progress; among equals, from the one served longest ago. A workspace alone gets all workers, and with others its fair
 * share, however many documents it uploads.
 *
 * Lanes are discovered from the registry of unfinished work, which names a workspace before its first message is sent; messages sent by
 * this process are known at once. A lane without messages is polled with exponential backoff, so idle lanes cost little.
 */
import { hash } from "node:crypto";

/** The queue that all workspaces shared before there were lanes; what remains in it is a lane, too. */
export const sharedQueue = "documents";
/** Maximum age of the list of lanes, and so the delay until messages of another process are found. */
const listMsMax = 2_000;
const pauseMsFirst = 50;
const pauseMsMax = 5_000;

/** A hash, because tenant names may be longer than queue names. */
export function laneOf(tenant: string): string {
  return `${sharedQueue}-${hash("sha256", tenant, "hex").slice(0, 32)}`;
}

export interface Lane {
  readonly queue: string;
  /** Documents in progress, including interrupted ones that have not ended yet. */
  held: number;
  /** Those that have a slot. */
  running: number;
  /** Sequence number of the last service. */
  turn: number;
  /** Not polled before this time, as it was empty. */
  emptyUntil: number;
  /** 0: it was not empty at the last poll. */
  pauseMs: number;
}

export class Lanes {
  readonly #registered: () => AsyncIterable<string>;
  readonly #now: () => number;
  readonly #lanes = new Map<string, Lane>();
  #turns = 0;
  #listedAt = -Infinity;
  #rings = 0;
  #wake: () => void = () => {};

  /** `registered`: the tenants with unfinished documents. `now`: any monotonic time in milliseconds. */
  constructor(registered: () => AsyncIterable<string>, now: () => number = () => performance.now()) {
    this.#registered = registered;
    this.#now = now;
  }

  /** Incremented by everything that is worth another poll. */
  get rings(): number {
    return this.#rings;
  }

  /** A message is ready now, or after `inMs`. */
  expect(queue: string, inMs = 0): void {
    const lane = this.#lane(queue);
    lane.emptyUntil = Math.min(lane.emptyUntil, this.#now() + inMs);
    if (inMs === 0) lane.emptyUntil = lane.pauseMs = 0;
    this.ring();
  }

  ring(): void {
    this.#rings += 1;
    this.#wake();
  }

  /** Reloads an expired list of lanes. `anew`: reload it now, and poll every lane. */
  async refresh(anew = false): Promise<void> {
    const now = this.#now();
    if (!anew && now - this.#listedAt < listMsMax) return;
    const found = new Set([sharedQueue]);
    for await (const tenant of this.#registered()) found.add(laneOf(tenant));
    this.#listedAt = now;
    for (const queue of found) this.#lane(queue);
    for (const [queue, lane] of this.#lanes) {
      if (anew) lane.emptyUntil = lane.pauseMs = 0;
      // A lane that was not empty at the last poll is kept until a poll finds it empty.
      else if (!found.has(queue) && lane.held === 0 && lane.pauseMs > 0) this.#lanes.delete(queue);
    }
  }

  /** The lane to serve next, among those that are due and may have one more. */
  next(mayHave: (lane: Lane) => boolean): Lane | undefined {
    const now = this.#now();
    let best: Lane | undefined;
    for (const lane of this.#lanes.values()) {
      if (lane.emptyUntil > now || !mayHave(lane)) continue;
      if (best === undefined || lane.held < best.held || (lane.held === best.held && lane.turn < best.turn))
        best = lane;
    }
    return best;
  }

  /** The most slots used by any lane. */
  get mostRunning(): number {
    let most = 0;
    for (const { running } of this.#lanes.values()) most = Math.max(most, running);
    return most;
  }

  served(lane: Lane): void {
    this.#turns += 1;
    lane.turn = this.#turns;
    lane.pauseMs = 0;
  }

  foundEmpty(lane: Lane): void {
    lane.pauseMs = Math.min(pauseMsMax, Math.max(pauseMsFirst, lane.pauseMs * 2));
    lane.emptyUntil = this.#now() + lane.pauseMs;
  }

  /** Returns when something rings after `seen`, a lane or the list is due, `msMax` has passed, or the signal aborts. */
  async pause(seen: number, msMax: number, signal: AbortSignal): Promise<void> {
    if (seen !== this.#rings || signal.aborted) return;
    const now = this.#now();
    let due = Math.min(now + msMax, now + pauseMsMax);
    for (const { emptyUntil } of this.#lanes.values()) if (emptyUntil > now) due = Math.min(due, emptyUntil);
    await new Promise<void>((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        signal.removeEventListener("abort", end);
        this.#wake = () => {};
        resolve();
      };
      const timer = setTimeout(end, Math.max(1, due - now));
      signal.addEventListener("abort", end, { once: true });
      this.#wake = end;
    });
  }

  #lane(queue: string): Lane {
    const known = this.#lanes.get(queue);
    if (known !== undefined) return known;
    const lane: Lane = { queue, held: 0, running: 0, turn: 0, emptyUntil: 0, pauseMs: 0 };
    this.#lanes.set(queue, lane);
    return lane;
  }
}
