/**
 * Unique keys: which values a plan claims, and whether another item holds them. Engines look holders up inside the commit, where no other
 * commit can write the partition, so no constraint of the engine is needed (and values may be swapped within one batch).
 */
import { isExpired } from "../domain/ttl.ts";
import type { CompiledContainer } from "./compiled-container.ts";
import type { OperationFailure, StoredItem } from "./item-engine.ts";
import { expiredEtag, idOf, type BatchPlan, type PlannedChange, type PlannedWrite } from "./plan-batch.ts";

export interface UniqueClaim {
  /** Position in the container's unique keys. */
  readonly key: number;
  readonly value: string;
  readonly idKey: string;
  readonly operation: number;
}

export function uniqueClaims(writes: readonly PlannedWrite[]): UniqueClaim[] {
  return writes.flatMap(({ put, idKey, operation }) =>
    (put?.uniques ?? []).flatMap((value, key) => (value === null ? [] : [{ key, value, idKey, operation }])),
  );
}

/** The plan after the claims are settled: a failure, or the plan with expired holders removed. */
export function settleClaims(
  container: CompiledContainer,
  plan: Extract<BatchPlan, { ok: true }>,
  claims: readonly UniqueClaim[],
  /** The row that currently holds the value, if any: aligned with `claims`. */
  holders: readonly (StoredItem | undefined)[],
  now: number,
): BatchPlan {
  const written = new Set(plan.writes.map(({ idKey }) => idKey));
  const sweeps = new Map<string, StoredItem>();
  const taken = new Map<string, string>();
  for (const [i, claim] of claims.entries()) {
    const slot = `${claim.key}:${claim.value}`;
    const twin = taken.get(slot);
    if (twin !== undefined) return { ok: false, failure: conflict(container, claim, twin) };
    taken.set(slot, claim.idKey);
    const holder = holders[i];
    if (holder === undefined || written.has(holder.idKey)) continue;
    if (!isExpired(container.ttl, holder.ttl, holder.modifiedAt, now))
      return { ok: false, failure: conflict(container, claim, holder.idKey) };
    sweeps.set(holder.idKey, holder);
  }
  if (sweeps.size === 0) return plan;
  const swept = [...sweeps.values()];
  return {
    ...plan,
    writes: [
      ...swept.map((before): PlannedWrite => ({ idKey: before.idKey, before, put: undefined, operation: 0 })),
      ...plan.writes,
    ],
    changes: [...swept.map((before) => sweepChange(before, now)), ...plan.changes],
  };
}

function sweepChange(before: StoredItem, now: number): PlannedChange {
  return { kind: "delete", idKey: before.idKey, id: idOf(before), etag: expiredEtag(before), at: now, expired: true };
}

function conflict(container: CompiledContainer, claim: UniqueClaim, holder: string): OperationFailure {
  const key = container.uniqueKeys[claim.key];
  const paths = key?.paths.map(({ name }) => name).join(", ");
  return {
    index: claim.operation,
    code: "CONFLICT",
    detail: `Unique key "${key?.name}" (${paths}): the value ${claim.value} belongs to item "${holder}" of this partition. Use another value, or change that item.`,
  };
}
