/**
 * Concurrency limits for queries, searches, answers, exports and evaluation runs; each kind has its own slots. A query takes a slot before
 * it starts and releases it when it ends; without a free slot it waits, and when too many wait already it is rejected with a retryable
 * error. This bounds the work of one process.
 *
 * Fairness: a tenant holds at most its share of the slots and of the memory, which is less than all; among waiting queries the tenant with
 * the fewest slots goes first, then the one that has waited longest.
 *
 * Memory is an estimate in bytes that queries report. It is summed here over all of them, and a query that would pass a bound is rejected.
 */
import { PinakesError } from "./errors.ts";

export interface QueryBounds {
  readonly placesMax: number;
  readonly placesPerTenantMax: number;
  readonly waitingPerTenantMax: number;
  readonly memoryBytesMax: number;
  readonly memoryPerTenantBytesMax: number;
}

/** The slots of one process, by kind of work. */
export interface Slots {
  /** SPARQL, SQL, and aggregates of metrics and tool invocations. */
  readonly queries: QuerySlots;
  readonly searches: QuerySlots;
  /** From the end of their search to their last sentence. */
  readonly answers: QuerySlots;
  readonly exports: QuerySlots;
  readonly evaluations: QuerySlots;
}

export interface QuerySlot {
  /** Adds to the memory of the query; throws, and adds nothing, if there is not enough left. */
  hold(bytes: number): void;
  release(bytes: number): void;
  /** Releases the slot and its memory. Idempotent. */
  leave(): void;
}

/** 429, with the time after which a retry may succeed. */
export class QueriesThrottled extends PinakesError {
  readonly retryAfterMs: number;

  constructor(detail: string, retryAfterMs: number) {
    super("THROTTLED", detail);
    this.retryAfterMs = retryAfterMs;
  }
}

const retryAfterMs = 1_000;

interface Tenant {
  places: number;
  bytes: number;
  waiting: number;
}

interface Waiting {
  readonly tenant: string;
  readonly go: () => void;
}

export class QuerySlots {
  readonly #bounds: QueryBounds;
  readonly #patience: () => AbortSignal;
  readonly #called: string;
  /** Queries that hold a slot or wait for one. */
  readonly #tenants = new Map<string, Tenant>();
  /** In order of arrival. */
  readonly #waiting = new Set<Waiting>();
  #places = 0;
  #bytes = 0;

  /**
   * `patience` creates a signal for each waiting query that aborts when it has waited long enough. `called` is the plural used in messages.
   */
  constructor(bounds: QueryBounds, patience: () => AbortSignal, called = "queries") {
    this.#bounds = bounds;
    this.#patience = patience;
    this.#called = called;
  }

  /** Current use, for metrics and tests. */
  get usage(): { readonly places: number; readonly waiting: number; readonly bytes: number } {
    return { places: this.#places, waiting: this.#waiting.size, bytes: this.#bytes };
  }

  /** Waits for a slot; rejects if the wait is too long or the signal aborts. */
  async enter(tenant: string, signal?: AbortSignal): Promise<QuerySlot> {
    const state = this.#tenants.get(tenant) ?? { places: 0, bytes: 0, waiting: 0 };
    this.#tenants.set(tenant, state);
    if (this.#isFree(state)) {
      this.#count(state, 1);
      return this.#place(tenant, state);
    }
    if (state.waiting >= this.#bounds.waitingPerTenantMax) {
      this.#forget(tenant, state);
      throw new QueriesThrottled(
        `At most ${this.#bounds.placesPerTenantMax} ${this.#called} of this workspace run at once, and ${state.waiting} wait already; send fewer at once, and this one again later.`,
        retryAfterMs,
      );
    }
    const patience = this.#patience();
    await this.#wait(tenant, state, signal === undefined ? patience : AbortSignal.any([signal, patience]));
    return this.#place(tenant, state);
  }

  /** Runs `work` in a slot from beginning to end. */
  async within<T>(tenant: string, run: (place: QuerySlot) => Promise<T>, signal?: AbortSignal): Promise<T> {
    const place = await this.enter(tenant, signal);
    try {
      return await run(place);
    } finally {
      place.leave();
    }
  }

  /** Holds a slot from the first requested element until the last one, an error, or the end of iteration. */
  async *stream<T>(
    tenant: string,
    open: () => AsyncIterable<T> | Promise<AsyncIterable<T>>,
    signal?: AbortSignal,
  ): AsyncGenerator<T, void, void> {
    const place = await this.enter(tenant, signal);
    try {
      yield* await open();
    } finally {
      place.leave();
    }
  }

  #isFree(state: Tenant): boolean {
    return this.#places < this.#bounds.placesMax && state.places < this.#bounds.placesPerTenantMax;
  }

  #count(state: Tenant, places: 1 | -1): void {
    state.places += places;
    this.#places += places;
  }

  async #wait(tenant: string, state: Tenant, signal: AbortSignal): Promise<void> {
    const turn = Promise.withResolvers<void>();
    const waiting: Waiting = {
      tenant,
      // The slot is counted synchronously, before another query can take it.
      go: () => {
        this.#count(state, 1);
        turn.resolve();
      },
    };
    const stop = (): void => {
      if (!this.#waiting.delete(waiting)) return;
      turn.reject(
        new QueriesThrottled(
          `The ${this.#called} ahead of this one take long, so it did not get its turn; send it again later.`,
          retryAfterMs,
        ),
      );
    };
    state.waiting += 1;
    this.#waiting.add(waiting);
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
    try {
      await turn.promise;
    } finally {
      signal.removeEventListener("abort", stop);
      state.waiting -= 1;
      this.#forget(tenant, state);
    }
  }

  #place(tenant: string, state: Tenant): QuerySlot {
    let held = 0;
    let left = false;
    const release = (bytes: number): void => {
      held -= bytes;
      state.bytes -= bytes;
      this.#bytes -= bytes;
    };
    return {
      hold: (bytes) => {
        if (left) return;
        this.#checkMemory(state, bytes);
        release(-bytes);
      },
      release: (bytes) => {
        if (!left) release(bytes);
      },
      leave: () => {
        if (left) return;
        left = true;
        release(held);
        this.#count(state, -1);
        this.#forget(tenant, state);
        this.#next();
      },
    };
  }

  #checkMemory(state: Tenant, bytes: number): void {
    const { memoryBytesMax, memoryPerTenantBytesMax } = this.#bounds;
    if (state.bytes + bytes > memoryPerTenantBytesMax)
      throw new QueriesThrottled(
        `The queries of this workspace use more than ${memoryPerTenantBytesMax} bytes of memory together; send fewer at once.`,
        retryAfterMs,
      );
    if (this.#bytes + bytes > memoryBytesMax)
      throw new QueriesThrottled(
        `All queries together use more than ${memoryBytesMax} bytes of memory; send this one again later.`,
        retryAfterMs,
      );
  }

  #next(): void {
    let best: Waiting | undefined;
    let fewest = Infinity;
    for (const waiting of this.#waiting) {
      const state = this.#tenants.get(waiting.tenant) as Tenant;
      if (!this.#isFree(state) || state.places >= fewest) continue;
      best = waiting;
      fewest = state.places;
    }
    if (best === undefined) return;
    this.#waiting.delete(best);
    best.go();
  }

  #forget(tenant: string, { places, waiting }: Tenant): void {
    if (places === 0 && waiting === 0) this.#tenants.delete(tenant);
  }
}
