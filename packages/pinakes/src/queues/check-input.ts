/** What callers pass to a queue, checked before any driver sees it. */
import { PinakesError, invalid } from "../domain/errors.ts";
import {
  checkJson,
  isJsonObject,
  stringifyChecked,
  utf8Bytes,
  withinUtf8Bytes,
  type JsonValue,
} from "../domain/json.ts";
import type { DeadKey, NewMessage } from "../ports/queue.ts";
import type { CheckedMessage } from "./queue-driver.ts";
import { queueLimits } from "./queue-limits.ts";

const namePattern = new RegExp(`^[a-z0-9][a-z0-9-]{0,${queueLimits.queueNameCharsMax - 1}}$`);

export function checkQueueName(queue: string): string {
  if (typeof queue === "string" && namePattern.test(queue)) return queue;
  throw invalid(
    `queue: a name is 1–${queueLimits.queueNameCharsMax} lower-case letters, digits and dashes, not beginning with a dash; got ${JSON.stringify(queue)}.`,
  );
}

export function checkText(value: unknown, name: string, bytesMax: number): string {
  if (typeof value !== "string" || value === "") throw invalid(`${name}: must be a string of 1–${bytesMax} bytes.`);
  if (!withinUtf8Bytes(value, bytesMax))
    throw invalid(`${name}: has ${utf8Bytes(value)} bytes; at most ${bytesMax} are allowed.`);
  // Not every engine can store NUL, and an unpaired surrogate would be changed.
  if (value.includes("\0") || !value.isWellFormed())
    throw invalid(`${name}: contains a NUL character or an unpaired surrogate.`);
  return value;
}

export function checkWhole(value: unknown, name: string, min: number, max: number): number {
  if (typeof value === "number" && Number.isInteger(value) && value >= min && value <= max) return value;
  throw invalid(`${name}: must be a whole number from ${min} to ${max}, got ${JSON.stringify(value)}.`);
}

export function checkMessage(message: NewMessage): CheckedMessage {
  const given: unknown = message;
  if (!isJsonObject(given)) throw invalid("message: must be an object with body and group.");
  return {
    group: checkText(message.group, "group", queueLimits.groupBytesMax),
    dedupId:
      message.dedupId === undefined ? undefined : checkText(message.dedupId, "dedupId", queueLimits.dedupIdBytesMax),
    delayMs: message.delayMs === undefined ? 0 : checkWhole(message.delayMs, "delayMs", 0, queueLimits.delayMsMax),
    body: checkBody(message.body),
  };
}

function checkBody(body: JsonValue): JsonValue {
  if (body === undefined) throw invalid("body: must be a JSON value; use null for none.");
  const deeper = 64 - queueLimits.bodyDepthMax;
  // Starts at a depth above 0, so that the record around the body stays within a document's depth.
  checkJson(body, "/body", deeper);
  const json = stringifyChecked({ body });
  const bytes = utf8Bytes(json) - '{"body":}'.length;
  if (bytes > queueLimits.bodyBytesMax) {
    throw new PinakesError(
      "LIMIT_EXCEEDED",
      `body: has ${bytes} bytes; at most ${queueLimits.bodyBytesMax} are allowed. Store it as an object and send its key.`,
    );
  }
  // A copy, so that later changes by the caller are not sent.
  return (JSON.parse(json) as { body: JsonValue }).body;
}

export function checkReceipt(receipt: string): string {
  if (typeof receipt === "string" && receipt !== "" && receipt.length <= queueLimits.receiptCharsMax) return receipt;
  throw invalid("receipt: must be a receipt returned by `receive`.");
}

export function checkReason(reason: unknown): string {
  if (typeof reason !== "string" || reason === "")
    throw invalid("reason: say what went wrong; it is stored with the message.");
  // Truncated and cleaned rather than rejected: reporting a failure must not fail.
  return reason.slice(0, queueLimits.reasonCharsMax).replaceAll("\0", "␀").toWellFormed();
}

export function checkDeadKey(key: DeadKey): DeadKey {
  const given: unknown = key;
  if (!isJsonObject(given)) throw invalid("key: must be an object with group and id, as returned by `dead.list`.");
  return {
    group: checkText(key.group, "group", queueLimits.groupBytesMax),
    id: checkText(key.id, "id", queueLimits.deadIdCharsMax),
  };
}
