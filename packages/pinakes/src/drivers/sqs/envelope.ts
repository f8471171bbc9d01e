/** The format of a message inside SQS, and of a receipt. */
import type { Message } from "@aws-sdk/client-sqs";
import { PinakesError, invalid } from "../../domain/errors.ts";
import { invariant } from "../../domain/invariant.ts";
import { isJsonObject, utf8Bytes, type JsonValue } from "../../domain/json.ts";
import { checkQueueName } from "../../queues/check-input.ts";

/** Size limit of a message. AWS has raised it since; regions and other implementations differ. */
const messageBytesMax = 262_144;

interface Envelope {
  readonly v: 1;
  readonly tenant: string;
  readonly group: string;
  readonly body: JsonValue;
}

export function sealEnvelope(tenant: string, group: string, body: JsonValue): string {
  const envelope: Envelope = { v: 1, tenant, group, body };
  // Beyond ASCII controls, which JSON.stringify escapes, SQS rejects U+FFFE and U+FFFF, and some other implementations everything above.
  const text = JSON.stringify(envelope).replaceAll(
    /[\uD800-\uDFFF\uFFFE\uFFFF]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16)}`,
  );
  const bytes = utf8Bytes(text);
  if (bytes <= messageBytesMax) return text;
  throw new PinakesError(
    "LIMIT_EXCEEDED",
    `body: the message has ${bytes} bytes; SQS accepts at most ${messageBytesMax}. Store it as an object and send its key.`,
  );
}

export interface RawMessage {
  readonly id: string;
  readonly handle: string;
  /** How often it was received, including this time. */
  readonly receives: number;
  readonly order: string;
  readonly sentAt: number;
  readonly sqsGroup: string;
  readonly text: string;
}
export type SqsMessage = RawMessage & Envelope;

export function rawMessage({ MessageId, ReceiptHandle, Body, Attributes }: Message): RawMessage {
  invariant(
    MessageId !== undefined && ReceiptHandle !== undefined && Body !== undefined,
    "CORRUPT",
    "SQS returned a message without id, handle or body",
  );
  return {
    id: MessageId,
    handle: ReceiptHandle,
    receives: Number(Attributes?.ApproximateReceiveCount ?? 1),
    order: (Attributes?.SequenceNumber ?? "").padStart(20, "0"),
    sentAt: Number(Attributes?.SentTimestamp ?? 0),
    sqsGroup: Attributes?.MessageGroupId ?? "",
    text: Body,
  };
}

/** Why a message cannot be delivered; it becomes a dead letter with this reason. */
interface Unreadable {
  readonly unreadable: string;
}

/**
 * Only this tenant's own sends are delivered: other programs may write to the same SQS queue. With `plain`, a JSON object without our
 * envelope is a message of a producer that does not use Pinakes; an SQS queue belongs to one tenant.
 */
export function openMessage(raw: RawMessage, tenant: string, plain: boolean): SqsMessage | Unreadable {
  let envelope: unknown;
  try {
    envelope = JSON.parse(raw.text);
  } catch {
    return { unreadable: "It is not JSON." };
  }
  if (!isJsonObject(envelope)) return { unreadable: "It is JSON, but not an object." };
  if (plain && envelope["v"] === undefined) return { ...raw, v: 1, tenant, group: raw.sqsGroup, body: envelope };
  const complete = typeof envelope["group"] === "string" && envelope["body"] !== undefined;
  if (envelope["v"] !== 1 || envelope["tenant"] !== tenant || !complete)
    return { unreadable: "It is not a message that Pinakes sent to this queue." };
  return { ...raw, ...(envelope as unknown as Envelope) };
}

export interface SqsReceipt {
  readonly queue: string;
  readonly handle: string;
  readonly id: string;
  readonly receives: number;
  readonly leaseSeconds: number;
}

export function sealReceipt({ queue, handle, id, receives, leaseSeconds }: SqsReceipt): string {
  return Buffer.from(JSON.stringify([queue, handle, id, receives, leaseSeconds]), "utf8").toString("base64url");
}

export function openReceipt(text: string): SqsReceipt {
  const refused = (cause?: unknown) =>
    invalid("receipt: was not issued by this queue.", cause === undefined ? {} : { cause });
  let fields: unknown;
  try {
    fields = JSON.parse(Buffer.from(text, "base64url").toString("utf8"));
  } catch (error) {
    throw refused(error);
  }
  if (!Array.isArray(fields) || fields.length !== 5) throw refused();
  const [queue, handle, id, receives, leaseSeconds] = fields as unknown[];
  const whole = [receives, leaseSeconds].every((n) => Number.isSafeInteger(n) && (n as number) > 0);
  if (typeof handle !== "string" || handle === "" || typeof id !== "string" || id === "" || !whole) throw refused();
  return {
    queue: checkQueueName(queue as string),
    handle,
    id,
    receives: receives as number,
    leaseSeconds: leaseSeconds as number,
  };
}
