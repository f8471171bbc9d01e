/**
 * What a receiver does with the message it owns. Each is one conditional batch on the group; a receipt that is no longer valid changes
 * nothing.
 */
import type { Scope } from "../../domain/scope.ts";
import type { Operation } from "../../ports/item-store.ts";
import { queueLimits } from "../queue-limits.ts";
import { bury } from "./burial.ts";
import { again, type Groups, type Step } from "./groups.ts";
import { holds, lostLease, type Receipt } from "./receipts.ts";
import { dedupItem, messageItem, rememberedSeconds, type Ending, type Group, type Head } from "./records.ts";

type Ended = Step<void> | typeof again;

export class Endings {
  readonly #groups: Groups;
  readonly #attemptsMax: number;

  constructor(groups: Groups, attemptsMax: number) {
    this.#groups = groups;
    this.#attemptsMax = attemptsMax;
  }

  async heartbeat(scope: Scope, receipt: Receipt, leaseMs: number | undefined): Promise<void> {
    await this.#groups.change<void>(scope, receipt, (group) => {
      const { lease } = group;
      if (lease === undefined || !holds(group, receipt)) throw lostLease(receipt);
      const ms = leaseMs ?? lease.ms;
      return { result: undefined, group: { ...group, lease: { ...lease, ms, until: this.#groups.clock.now() + ms } } };
    });
  }

  async done(scope: Scope, receipt: Receipt): Promise<void> {
    await this.#end(scope, receipt, "done", async (group, head) => {
      const rest = await this.#groups.withoutHead(scope, group);
      if (rest === undefined) return again;
      return {
        result: undefined,
        group: rest,
        operations: [{ op: "delete", id: messageItem(head.id) }, ...forget(head.dedupId)],
      };
    });
  }

  async failed(scope: Scope, receipt: Receipt, reason: string, retryInMs: number | undefined): Promise<void> {
    await this.#end(scope, receipt, "failed", async (group, head) => {
      const failures = head.failures + 1;
      const tried = { ...head, failures, reason };
      if (failures >= this.#attemptsMax) {
        const burial = await bury(this.#groups, scope, group, tried, "failed");
        return burial === undefined ? again : { result: undefined, ...burial };
      }
      const backoffMs = Math.min(queueLimits.retryMsFirst * 2 ** (failures - 1), queueLimits.retryMsBackoffMax);
      return { result: undefined, group: this.#back(group, tried, retryInMs ?? backoffMs) };
    });
  }

  async release(scope: Scope, receipt: Receipt, retryInMs: number): Promise<void> {
    await this.#end(scope, receipt, "released", (group, head) => ({
      result: undefined,
      group: this.#back(group, head, retryInMs),
    }));
  }

  async #end(
    scope: Scope,
    receipt: Receipt,
    as: Ending,
    plan: (group: Group, head: Head) => Promise<Ended> | Ended,
  ): Promise<void> {
    await this.#groups.change<void>(scope, receipt, async (group) => {
      // The answer to the first call was lost, and this is a repeat.
      if (group.settled?.nonce === receipt.nonce && group.settled.as === as) return { result: undefined };
      if (group.head === undefined || !holds(group, receipt)) throw lostLease(receipt);
      const step = await plan(group, group.head);
      if (step === again || step.group === undefined) return step;
      return { ...step, group: { ...step.group, settled: { nonce: receipt.nonce, as } } };
    });
  }

  /** It stays the head, so the group keeps its order; the others wait for it. */
  #back({ lease: _lease, ...group }: Group, head: Head, inMs: number): Group {
    return { ...group, head: { ...head, readyAt: this.#groups.clock.now() + inMs } };
  }
}

/** The message is gone, so its dedupId record now gets an expiry. */
export function forget(dedupId: string | undefined): Operation[] {
  return dedupId === undefined
    ? []
    : [{ op: "patch", id: dedupItem(dedupId), patch: [{ op: "set", path: "/ttl", value: rememberedSeconds }] }];
}
