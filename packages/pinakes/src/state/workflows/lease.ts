/**
 * The lease of a workflow: the companion item `~lease`, which lives in its partition as long as the workflow does.
 *
 * Invariants
 * - a workflow is created, taken over and deleted in one batch with its lease, so a partition has one workflow: the document that
 *   the lease names. Other documents of the partition are created and deleted without it;
 * - `fencing_token` grows with every holder; a write with an older one is rejected, and so is one without while the lease is held;
 * - `life` differs for every incarnation of a workflow_id: leftovers of an earlier one are never shown.
 */
import { randomBytes } from "node:crypto";
import type { Lease, LeaseHolder } from "@pinakes/client";
import { PinakesError, invalid, show } from "../../domain/errors.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { Item, Operation } from "../../ports/item-store.ts";
import { companionField, reservedIdPrefix } from "../system-container.ts";
import { workflowLimits } from "./limits.ts";

export const leaseId = `${reservedIdPrefix}lease`;

export interface LeaseRecord extends JsonObject {
  readonly id: string;
  readonly workflow_id: string;
  /** The id of the workflow's document; absent in leases of earlier versions, whose partition has one document. */
  readonly workflow?: string;
  readonly life: string;
  readonly fencing_token: number;
  readonly owner: string | null;
  readonly expires_at: string | null;
  /** The key and the body it was created with, both hashed. */
  readonly created_with?: { readonly key: string; readonly body: string };
  /** -1 unless the workflow was created through the containers API and not used here yet: then that of the workflow. */
  readonly ttl?: number;
}

const lifeBytes = 9;

export function newLease(workflowId: string, more: Partial<LeaseRecord> = {}): LeaseRecord {
  const life = randomBytes(lifeBytes).toString("base64url");
  const nobody = { fencing_token: 0, owner: null, expires_at: null };
  return { id: leaseId, workflow_id: workflowId, [companionField]: "lease", life, ...nobody, ttl: -1, ...more };
}

/** A workflow written directly to the store may lack its lease; it then counts as never held. */
export function leaseOf(item: Item | undefined, workflowId: string): LeaseRecord {
  return item === undefined ? newLease(workflowId) : (item.document as LeaseRecord);
}

export function isHeld({ owner, expires_at }: LeaseRecord, now: number): boolean {
  return owner !== null && expires_at !== null && Date.parse(expires_at) > now;
}

/** Whether the lease is that of this document: one of an earlier version names none. */
export function namesDocument(item: Item | undefined, id: string): boolean {
  const { workflow = id } = (item?.document as LeaseRecord | undefined) ?? {};
  return workflow === id;
}

/** Whether a writer with this token may write now. */
export function requireToken(lease: LeaseRecord, fencingToken: number | undefined, now: number): void {
  if (fencingToken !== undefined) {
    checkToken(fencingToken);
    if (fencingToken === lease.fencing_token) return;
    throw new PinakesError(
      "CONFLICT",
      `The fencing token ${fencingToken} is not that of this workflow's current lease: another worker took over. Stop, and acquire the lease again to continue.`,
    );
  }
  if (isHeld(lease, now))
    throw new LeaseHeld(
      lease,
      now,
      "If it is you, send your fencing token; otherwise wait until the lease expires, and resume the workflow or acquire its lease.",
    );
}

/** Held by another worker: it can be acquired after this time, unless its holder renews it. */
export class LeaseHeld extends PinakesError {
  readonly retryAfterMs: number;

  constructor({ workflow_id, expires_at }: LeaseRecord, now: number, advice: string) {
    super("CONFLICT", `Another worker holds the lease of workflow "${workflow_id}" until ${expires_at}. ${advice}`);
    this.retryAfterMs = Math.max(0, Date.parse(expires_at ?? "") - now);
  }
}

/** The next holder, with a new fencing token. */
export function heldBy(lease: LeaseRecord, owner: string, seconds: number, now: number): LeaseRecord {
  return { ...lease, owner, fencing_token: lease.fencing_token + 1, expires_at: expiry(seconds, now) };
}

export function renewed(lease: LeaseRecord, seconds: number, now: number): LeaseRecord {
  return { ...lease, expires_at: expiry(seconds, now) };
}

const expiry = (seconds: number, now: number): string => new Date(now + seconds * 1_000).toISOString();

export function released(lease: LeaseRecord): LeaseRecord {
  return { ...lease, owner: null, expires_at: null };
}

export function viewOf({ workflow_id, owner, fencing_token, expires_at }: LeaseRecord): Lease {
  return { workflow_id, owner: owner ?? "", fencing_token, expires_at: expires_at ?? "" };
}

/** An expired lease has no holder. */
export function holderOf({ workflow_id, owner, expires_at }: LeaseRecord, now: number): LeaseHolder {
  if (owner === null || expires_at === null || Date.parse(expires_at) <= now)
    return { workflow_id, owner: null, expires_at: null };
  return { workflow_id, owner, expires_at };
}

/** The condition of a batch that no other worker took over between the decision and the commit; or the change of the lease. */
export function leaseOperation(item: Item | undefined, before: LeaseRecord, after: LeaseRecord = before): Operation {
  if (item === undefined) return { op: "create", document: after };
  if (after === before && before.ttl === -1) return { op: "check", id: leaseId, ifMatch: item.etag };
  return { op: "replace", document: { ...after, ttl: -1 }, ifMatch: item.etag };
}

export function checkOwner(owner: unknown): string {
  if (typeof owner === "string" && owner !== "" && owner.length <= workflowLimits.ownerCharsMax) return owner;
  throw invalid(`owner: must name the worker in 1–${workflowLimits.ownerCharsMax} characters, got ${show(owner)}.`);
}

export function checkLeaseSeconds(seconds: unknown = workflowLimits.leaseSecondsDefault): number {
  const { leaseSecondsMax } = workflowLimits;
  if (typeof seconds === "number" && Number.isInteger(seconds) && seconds >= 1 && seconds <= leaseSecondsMax)
    return seconds;
  throw invalid(
    `leaseSeconds (over HTTP lease_seconds): must be a whole number from 1 to ${leaseSecondsMax}, got ${show(seconds)}.`,
  );
}

export function checkToken(token: unknown): number {
  if (typeof token === "number" && Number.isSafeInteger(token) && token >= 0) return token;
  throw invalid(
    `fencingToken (over HTTP X-Fencing-Token): must be the whole number returned with the lease, got ${show(token)}.`,
  );
}
