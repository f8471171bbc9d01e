/** Reads, acquires, renews and releases the lease of a workflow. */
import type { Lease, LeaseHolder } from "@pinakes/client";
import { PinakesError } from "../../domain/errors.ts";
import type { Scope } from "../../domain/scope.ts";
import type { Clock } from "../../ports/clock.ts";
import type { StateDependencies } from "../dependencies.ts";
import type { Changes } from "./change-workflow.ts";
import {
  checkLeaseSeconds,
  checkOwner,
  checkToken,
  heldBy,
  holderOf,
  isHeld,
  LeaseHeld,
  leaseOf,
  released,
  renewed,
  requireToken,
  viewOf,
  type LeaseRecord,
} from "./lease.ts";
import { noWorkflow, type Partitions } from "./partitions.ts";

const anyToken = true;

export class Leases {
  readonly #clock: Clock;
  readonly #partitions: Partitions;
  readonly #changes: Changes;

  constructor({ clock }: StateDependencies, partitions: Partitions, changes: Changes) {
    this.#clock = clock;
    this.#partitions = partitions;
    this.#changes = changes;
  }

  async acquire(
    scope: Scope,
    workflowId: string,
    options: { readonly owner: string; readonly leaseSeconds?: number | undefined },
  ): Promise<Lease> {
    const take = this.taking(options.owner, options.leaseSeconds, undefined);
    const { lease } = await this.#changes.run(scope, workflowId, { anyToken }, (current) => ({
      lease: take(current.lease, current.now),
    }));
    return viewOf(lease);
  }

  /**
   * How this owner acquires it: if free or expired, with a new token; also from itself, because a restarted worker does not know its
   * token. A caller with the current token keeps it.
   */
  taking(
    owner: string,
    leaseSeconds: number | undefined,
    fencingToken: number | undefined,
  ): (lease: LeaseRecord, now: number) => LeaseRecord {
    const [name, seconds] = [checkOwner(owner), checkLeaseSeconds(leaseSeconds)];
    return (lease, now) => {
      if (fencingToken !== undefined) {
        requireToken(lease, fencingToken, now);
        if (isHeld(lease, now)) return renewed(lease, seconds, now);
      }
      if (isHeld(lease, now) && lease.owner !== name)
        throw new LeaseHeld(lease, now, "Wait until then and try again; its holder may renew or release it earlier.");
      return heldBy(lease, name, seconds, now);
    };
  }

  /** Read from the items themselves, so it is current. */
  async holder(scope: Scope, workflowId: string): Promise<LeaseHolder> {
    const { workflow, lease: item } = await this.#partitions.all(scope, workflowId);
    if (workflow === undefined) throw noWorkflow(workflowId);
    return holderOf(leaseOf(item, workflowId), this.#clock.now());
  }

  /** Also after its expiry, as long as no other worker acquired it. */
  async renew(
    scope: Scope,
    workflowId: string,
    options: { readonly fencingToken: number; readonly leaseSeconds?: number | undefined },
  ): Promise<Lease> {
    const [token, seconds] = [checkToken(options.fencingToken), checkLeaseSeconds(options.leaseSeconds)];
    const { lease } = await this.#changes.run(scope, workflowId, { fencingToken: token }, (current) => {
      if (current.lease.owner === null)
        throw new PinakesError("CONFLICT", `The lease of workflow "${workflowId}" was released. Acquire it again.`);
      return { lease: renewed(current.lease, seconds, current.now) };
    });
    return viewOf(lease);
  }

  /** Idempotent. */
  async release(scope: Scope, workflowId: string, { fencingToken }: { readonly fencingToken: number }): Promise<void> {
    await this.#changes.run(scope, workflowId, { fencingToken: checkToken(fencingToken) }, ({ lease }) =>
      lease.owner === null ? {} : { lease: released(lease) },
    );
  }
}
