/** How far a workspace's deletes lag behind: those that some store has not confirmed, and whether they exceed the allowed time. */
import type { DeletionLag } from "@pinakes/client";
import type { Scope } from "../../domain/scope.ts";
import type { Operation } from "../../lifecycle/index.ts";
import type { ItemStore } from "../../ports/item-store.ts";
import { collectionsContainer } from "../records/records.ts";
import type { KnowledgeDependencies } from "../dependencies.ts";
import { everyItem } from "../../containers/every-item.ts";

const pageOperations = 500;

export type { DeletionLag };

export async function deletionLag(
  { items, clock }: Pick<KnowledgeDependencies, "items" | "clock">,
  scope: Scope,
  secondsMax: number,
): Promise<DeletionLag> {
  // The oldest comes first.
  const deletes = (await unfinishedOperations(items, scope)).filter(({ action }) => action === "delete-collection");
  const failed = deletes.filter(({ status }) => status === "failed").length;
  const [oldest] = deletes;
  const lag_seconds = oldest === undefined ? 0 : ageSeconds(clock.now(), Date.parse(oldest.created_at));
  return {
    unfinished: deletes.length,
    failed,
    lag_seconds,
    limit_seconds: secondsMax,
    oldest:
      oldest === undefined
        ? null
        : {
            operation_id: oldest.operation_id,
            repository_id: oldest.repository_id,
            collection_id: oldest.collection_id,
            created_at: oldest.created_at,
          },
    warning: warningOf(failed, lag_seconds, secondsMax),
  };
}

function warningOf(failed: number, lagSeconds: number, secondsMax: number): string | null {
  const late = `A delete is not done after ${lagSeconds} s; the limit is ${secondsMax} s.`;
  const stuck = `${failed} deletes are not confirmed by some store; see the failed operations.`;
  return [...(lagSeconds > secondsMax ? [late] : []), ...(failed > 0 ? [stuck] : [])].join(" ") || null;
}

/** Of one workspace, the oldest first. */
export async function unfinishedOperations(items: ItemStore, scope: Scope): Promise<readonly Operation[]> {
  return Array.fromAsync(
    everyItem(items, scope, collectionsContainer.name, {
      index: "allByCreated",
      equals: { kind: "operation" },
      filter: { status: { ne: "done" } },
      limit: pageOperations,
    }),
    ({ document }) => document as unknown as Operation,
  );
}

/** Whole seconds; never below 0, even with clock skew. */
export function ageSeconds(now: number, since: number): number {
  return Math.max(0, Math.floor((now - since) / 1_000));
}
