/**
 * The compactor's lease (RFC 0001, "Lease"): for liveness, not for safety. Every publish is checked by its epoch, so a wrong guess about
 * time costs work and nothing else.
 */
import { hasCode } from "../../domain/errors.ts";
import type { CollectionSite } from "../store/collection-site.ts";
import { itemIds, type Lease } from "../store/records.ts";

interface Seen {
  readonly epoch: number;
  readonly beat: number;
  readonly since: number;
}

/** Other processes' leases as seen by this one. */
export class LeaseObserver {
  readonly #seen = new Map<string, Seen>();

  /** Undefined if another process holds it. */
  async acquire(site: CollectionSite, owner: string): Promise<HeldLease | undefined> {
    const lease = await site.lease();
    const { name } = site;
    if (lease.owner !== null && !this.#isAbandoned(name, lease, site)) return undefined;
    this.#seen.delete(name);
    const taken: Lease = { owner, epoch: lease.epoch + 1, beat: 0 };
    try {
      await site.batch([
        { op: "check", id: itemIds.fence, where: { status: "active" } },
        {
          op: "replace",
          document: site.document(itemIds.lease, taken),
          where: { epoch: lease.epoch, beat: lease.beat, owner: lease.owner },
        },
      ]);
    } catch (error) {
      if (!hasCode(error, "PRECONDITION_FAILED", "NOT_FOUND")) throw error;
      await site.state(); // A deleted collection is not busy: it throws.
      return undefined;
    }
    return new HeldLease(site, owner, taken.epoch);
  }

  /** There was no heartbeat for the whole ttl, while this process was watching. */
  #isAbandoned(name: string, { epoch, beat }: Lease, { deps }: CollectionSite): boolean {
    const now = deps.monotonic();
    const seen = this.#seen.get(name);
    if (seen === undefined || seen.epoch !== epoch || seen.beat !== beat) {
      this.#seen.set(name, { epoch, beat, since: now });
      return false;
    }
    return now - seen.since >= deps.policy.leaseMs;
  }
}

export class HeldLease {
  readonly owner: string;
  readonly epoch: number;
  readonly #site: CollectionSite;
  readonly #lost = new AbortController();
  readonly #stopBeating: () => void;

  constructor(site: CollectionSite, owner: string, epoch: number) {
    this.#site = site;
    this.owner = owner;
    this.epoch = epoch;
    this.#stopBeating = site.deps.timers.every(site.deps.policy.leaseMs / 3, () => this.beat());
  }

  /** Aborted as soon as a heartbeat finds that another process holds the lease. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  async beat(): Promise<void> {
    try {
      await this.#site.batch([
        {
          op: "patch",
          id: itemIds.lease,
          patch: [{ op: "incr", path: "/beat", value: 1 }],
          where: { owner: this.owner, epoch: this.epoch },
        },
      ]);
    } catch (error) {
      // Anything else is an error of the store: the job continues, and its publish is checked by the epoch.
      if (hasCode(error, "PRECONDITION_FAILED", "NOT_FOUND")) this.#lost.abort(error);
    }
  }

  /** Whether it is free, as far as is known. */
  async release(): Promise<boolean> {
    this.#stopBeating();
    const { epoch, owner } = this;
    try {
      await this.#site.batch([
        {
          op: "patch",
          id: itemIds.lease,
          patch: [{ op: "set", path: "/owner", value: null }],
          where: { owner, epoch },
        },
      ]);
      return true;
    } catch {
      return false; // Lost, or the store has errors: the lease expires.
    }
  }
}
