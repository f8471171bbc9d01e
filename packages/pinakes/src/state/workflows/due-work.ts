/** When a workflow must be processed next, in the work registry: for its timeout, its expiry, and leftovers of crashes. */
import { expiresAt } from "../../domain/ttl.ts";
import type { DefaultTtl, Item } from "../../ports/item-store.ts";
import type { StateDependencies } from "../dependencies.ts";
import { deadlineOf, type WorkflowDocument } from "./transitions.ts";

/** Clock skew: nothing counts as expired before it has for every process. */
const expiryMarginMs = 60_000;
/** A create that first writes many checkpoints counts as dead after this time. */
export const createMsMax = 600_000;
/** An unfinished one is checked at least this often, in case two writers of its entry crossed. */
const lookMsMax = 86_400_000;

export class DueWork {
  readonly #deps: StateDependencies;

  constructor(deps: StateDependencies) {
    this.#deps = deps;
  }

  /** Writes the entry, not later than it was; always anew, so that a concurrent sweep does not remove it. */
  async mark(tenant: string, workflowId: string, dueAt: number): Promise<void> {
    const known = await this.#deps.work.read({ kind: "workflow", tenant, key: workflowId });
    await this.put(tenant, workflowId, Math.min(dueAt, known?.due_at ?? dueAt));
  }

  /** Another writer of the entry may have crossed ours, and set a later time. */
  async confirm(tenant: string, workflowId: string, dueAt: number): Promise<void> {
    await this.#deps.work.ensure({ kind: "workflow", tenant, key: workflowId, due_at: dueAt });
  }

  async put(tenant: string, workflowId: string, dueAt: number): Promise<void> {
    await this.#deps.work.put({ kind: "workflow", tenant, key: workflowId, due_at: dueAt });
  }
}

/** Null: nothing to wait for. */
export function nextDue(
  document: WorkflowDocument,
  { modifiedAt, now, ttl }: { readonly modifiedAt: number; readonly now: number; readonly ttl: DefaultTtl },
): number | null {
  const expires = expiresAt(ttl.seconds, document.ttl ?? null, modifiedAt);
  const times = [deadlineOf(document, modifiedAt), expires === null ? null : expires + expiryMarginMs].filter(
    (time) => time !== null,
  );
  if (times.length === 0) return null;
  const over = document.status === "completed" || document.status === "cancelled" || document.status === "failed";
  return Math.min(...times, over ? Infinity : now + lookMsMax);
}

/** Whether an append must touch the workflow too, so that it does not expire while its worker runs: after half its time. */
export function needsRenewal({ document, modifiedAt }: Item, ttl: DefaultTtl, now: number): boolean {
  const expires = expiresAt(ttl.seconds, (document["ttl"] as number | undefined) ?? null, modifiedAt);
  return expires !== null && now - modifiedAt > (expires - modifiedAt) / 2;
}
