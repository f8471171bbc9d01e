/**
 * Receipts. Neither secret nor signed: they only name a lease, which is compared with the stored lease (owner, epoch and a random nonce) in
 * the partition of the caller's own tenant.
 */
import { PinakesError, invalid } from "../../domain/errors.ts";
import { isJsonObject } from "../../domain/json.ts";
import { checkQueueName, checkText } from "../check-input.ts";
import { queueLimits } from "../queue-limits.ts";
import type { Group, GroupKey } from "./records.ts";

export interface Receipt extends GroupKey {
  readonly message: string;
  readonly owner: string;
  readonly epoch: number;
  readonly nonce: string;
}

export function sealReceipt({ queue, group, message, owner, epoch, nonce }: Receipt): string {
  return Buffer.from(JSON.stringify([queue, group, message, owner, epoch, nonce]), "utf8").toString("base64url");
}

export function openReceipt(text: string): Receipt {
  const [queue, group, message, owner, epoch, nonce] = parse(text);
  if (typeof epoch !== "number" || typeof nonce !== "string") throw refused();
  return {
    queue: checkQueueName(queue as string),
    group: checkText(group, "receipt.group", queueLimits.groupBytesMax),
    message: checkText(message, "receipt.message", queueLimits.deadIdCharsMax),
    owner: checkText(owner, "receipt.owner", queueLimits.ownerBytesMax),
    epoch,
    nonce,
  };
}

/** Whether the receipt still owns the lease: it has neither ended nor been taken over. */
export function holds({ head, lease }: Group, receipt: Receipt): boolean {
  return (
    lease !== undefined &&
    head?.id === receipt.message &&
    lease.owner === receipt.owner &&
    lease.epoch === receipt.epoch &&
    lease.nonce === receipt.nonce
  );
}

export function lostLease({ message, owner }: Receipt): PinakesError {
  return new PinakesError(
    "PRECONDITION_FAILED",
    `The lease of "${owner}" on message ${message} has ended: the message was finished, or the lease expired and was taken over. Stop working on it; an unfinished message is delivered again.`,
  );
}

function parse(text: string): readonly unknown[] {
  let fields: unknown;
  try {
    fields = JSON.parse(Buffer.from(text, "base64url").toString("utf8"));
  } catch (error) {
    throw refused(error);
  }
  if (isJsonObject(fields) || !Array.isArray(fields) || fields.length !== 6) throw refused();
  return fields;
}

function refused(cause?: unknown): PinakesError {
  return invalid("receipt: was not issued by this queue.", cause === undefined ? {} : { cause });
}
