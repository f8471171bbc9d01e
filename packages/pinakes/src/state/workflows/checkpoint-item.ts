/**
 * A checkpoint as an item beside its workflow. Its id sorts by life, step and number, so the latest of a step, and the latest of all, is
 * the last of a range, which never includes leftovers of an earlier life. Numbers are assigned by `~latest`, one by one,
 * across writers: the order does not depend on clocks.
 */
import { createHash, hash } from "node:crypto";
import type { Checkpoint, NewCheckpoint } from "@pinakes/client";
import { PinakesError, invalid, show } from "../../domain/errors.ts";
import { invariant } from "../../domain/invariant.ts";
import { isJsonObject, utf8Bytes, type JsonObject } from "../../domain/json.ts";
import { validateDocument } from "../../containers/validate.ts";
import { reservedIdPrefix } from "../system-container.ts";
import { containerName } from "./definition.ts";
import { workflowLimits } from "./limits.ts";
import { CheckpointSchema } from "./workflow-schema.ts";

export const checkpointPrefix = `${reservedIdPrefix}checkpoint-`;

export interface CheckpointItem extends JsonObject {
  readonly id: string;
  readonly kind: "checkpoint";
  readonly workflow_id: string;
  readonly workspace_id: string;
  readonly step: number;
  readonly timestamp: string;
  readonly state: JsonObject;
  readonly agent_context: JsonObject;
  /** Unknown properties. */
  readonly more?: JsonObject;
  readonly bytes: number;
  /** The location of state, context and the rest if they are too large for an item; named after the hash of its bytes. */
  readonly object?: string;
  readonly ttl: -1;
}

/** Validated, and serialized once, for the size, the object and the hash. */
export interface CheckedCheckpoint {
  readonly checkpoint: Checkpoint;
  readonly more: JsonObject;
  readonly bytes: number;
}

/** The state is not inspected: only the store validates it, when it writes. */
export function checkCheckpoint(
  given: NewCheckpoint | JsonObject,
  path: string,
  now: number,
  measure = exactBytes,
): CheckedCheckpoint {
  if (!isJsonObject(given)) throw invalid(`${path}: must be an object with step and state, got ${show(given)}.`);
  const {
    step,
    state,
    agent_context = {},
    timestamp = new Date(now).toISOString(),
    ...more
  } = given as unknown as Record<string, unknown>;
  if (!isJsonObject(state)) throw invalid(`${path}.state: must be an object, got ${show(state)}.`);
  if (!isJsonObject(agent_context))
    throw invalid(`${path}.agent_context: must be an object, got ${show(agent_context)}.`);
  const checked = validateDocument(containerName, CheckpointSchema, { step, timestamp, state: {}, agent_context: {} });
  const checkpoint = { ...checked, state, agent_context } as unknown as Checkpoint;
  const bytes = measure(checkpoint, more as JsonObject);
  if (bytes > workflowLimits.checkpointBytesMax) {
    throw new PinakesError(
      "LIMIT_EXCEEDED",
      `${path}: has ${bytes} bytes; at most ${workflowLimits.checkpointBytesMax} are allowed. Store large parts elsewhere and refer to them.`,
    );
  }
  return { checkpoint, more: more as JsonObject, bytes };
}

/** A character takes at most six bytes as JSON; the rest is room for syntax. */
const roughFactor = 8;

/** From here on serializing, which the store will do again, costs more than it saves. */
const roughBytesMin = 16_384;

function exactBytes(checkpoint: Checkpoint, more: JsonObject): number {
  return utf8Bytes(bodyOf(checkpoint, more));
}

/** For one that becomes an item whatever its size: exact if that is cheap, and near a limit. */
export function aboutBytes(checkpoint: Checkpoint, more: JsonObject): number {
  const rough = roughBytes(
    [checkpoint.state, checkpoint.agent_context, more],
    workflowLimits.checkpointItemBytesMax / roughFactor,
  );
  return rough !== undefined && rough >= roughBytesMin ? rough : exactBytes(checkpoint, more);
}

/** Estimated JSON size of a small value; undefined if it is large or unknown. */
function roughBytes(root: unknown, bytesMax: number): number | undefined {
  let bytes = 0;
  const waiting: unknown[] = [root];
  while (waiting.length > 0) {
    const value = waiting.pop();
    bytes += typeof value === "string" ? value.length + 3 : 6;
    if (Array.isArray(value)) for (const inner of value) waiting.push(inner);
    else if (typeof value === "object" && value !== null) {
      for (const key of Object.keys(value)) {
        bytes += key.length + 4;
        waiting.push((value as Readonly<Record<string, unknown>>)[key]);
      }
    } else if (typeof value === "bigint") return undefined;
    // Also ends a circular structure.
    if (bytes > bytesMax) return undefined;
  }
  return bytes;
}

export function isSpilled({ bytes }: CheckedCheckpoint): boolean {
  return bytes > workflowLimits.checkpointItemBytesMax;
}

function bodyOf({ state, agent_context }: Checkpoint, more: JsonObject): string {
  try {
    return JSON.stringify({ state, agent_context, more });
  } catch (error) {
    throw invalid("checkpoint: is not JSON; it is circular or contains a bigint.", { cause: error });
  }
}

/** The bytes of a spilled checkpoint, and the name of its object: equal bytes have equal names. */
export function spilledBody({ checkpoint, more }: CheckedCheckpoint): {
  readonly bytes: Uint8Array;
  readonly name: string;
} {
  const bytes = Buffer.from(bodyOf(checkpoint, more), "utf8");
  return { bytes, name: createHash("sha256").update(bytes).digest("hex") };
}

export interface CheckpointPartition {
  readonly tenant: string;
  readonly workflowId: string;
  readonly life: string;
}

export function toItem(
  { checkpoint, more, bytes }: CheckedCheckpoint,
  place: CheckpointPartition,
  number: number,
  object?: string,
): CheckpointItem {
  const { step, timestamp, state, agent_context } = checkpoint;
  const body = object === undefined ? { state: state, agent_context: agent_context } : { state: {}, agent_context: {} };
  return {
    id: `${stepPrefix(place.life, step)}${digits(number, numberDigits)}`,
    kind: "checkpoint",
    workflow_id: place.workflowId,
    workspace_id: place.tenant,
    step,
    timestamp,
    ...body,
    ...(object === undefined && Object.keys(more).length > 0 ? { more } : {}),
    bytes,
    ...(object === undefined ? {} : { object }),
    ttl: -1,
  };
}

export function fromItem(item: CheckpointItem, body?: Uint8Array): Checkpoint {
  const { step, timestamp, object } = item;
  if (object === undefined)
    return { step, timestamp, state: item.state, agent_context: item.agent_context, ...item.more };
  invariant(
    body !== undefined && hash("sha256", body, "hex") === object.split("/").at(-1),
    "CORRUPT",
    `the object ${object} of a checkpoint is gone or damaged`,
  );
  const { state, agent_context, more } = JSON.parse(Buffer.from(body).toString("utf8")) as {
    state: JsonObject;
    agent_context: JsonObject;
    more: JsonObject;
  };
  return { step, timestamp, state, agent_context, ...more };
}

const stepDigits = 10;
const numberDigits = 10;
const digits = (value: number, width: number): string => String(value).padStart(width, "0");

export function lifePrefix(life: string): string {
  return `${checkpointPrefix}${life}-`;
}
export function stepPrefix(life: string, step: number): string {
  return `${lifePrefix(life)}${digits(step, stepDigits)}-`;
}
/** The life in the id of a checkpoint's item. */
export function lifeIn(id: string): string {
  return id.slice(checkpointPrefix.length, checkpointPrefix.length + lifeChars);
}
const lifeChars = 12;
/** The step in it. */
export function stepIn(id: string): number {
  const from = checkpointPrefix.length + lifeChars + 1;
  return Number(id.slice(from, from + stepDigits));
}

/** All objects of a workflow; those of one life below it. */
export function objectPrefix(workflowId: string, life = ""): string {
  const root = `state/workflows/${hash("sha256", workflowId, "hex").slice(0, 32)}/`;
  return life === "" ? root : `${root}${life}/`;
}
