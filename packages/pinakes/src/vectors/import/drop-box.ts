/**
 * The drop-box: producers without our API put an object under `delta/` of the tenant's space, then send `{ "delta_key": "delta/…" }` to the
 * queue `vector-deltas`. The object is NDJSON, or a Chroma directory (a key that ends in "/").
 *
 * Each message ends in one of three ways. done: its rows are appended, now or by an earlier delivery. failed, with a readable reason: its
 * content is invalid, or missing; after as many failures as the queue allows it is a dead letter. released: it could not be processed
 * through no fault of its own (throttled, a store that does not answer, this process stops); that counts nothing.
 *
 * A key stands for one content for ever. Repeating it is done at once; other content under it is a failure.
 */
import { hasCode, PinakesError, invalid, show } from "../../domain/errors.ts";
import { isJsonObject, type JsonValue } from "../../domain/json.ts";
import type { Scope } from "../../domain/scope.ts";
import type { ObjectStore } from "../../ports/object-store.ts";
import type { Queue, ReceivedMessage, SendResult } from "../../ports/queue.ts";
import type { AppendInput } from "../log/append.ts";
import type { Vectors } from "../vectors.ts";
import { applySource } from "./apply-source.ts";
import { intakeLimits } from "./limits.ts";
import { objectsReader } from "./reader.ts";
import { openSource } from "./source.ts";

export const dropBoxQueue = "vector-deltas";

export interface DropBoxDependencies {
  readonly vectors: Vectors;
  readonly objects: ObjectStore;
  readonly queue: Pick<Queue, "receive" | "heartbeat" | "done" | "failed" | "release">;
  readonly log?: (line: string) => void;
  /** The target of the rows of a named collection; the vectors of that name when absent. */
  readonly place?: (scope: Scope, collection: string) => Promise<DropBoxLocation>;
}

export interface DropBoxLocation {
  /** The name of the vectors. */
  readonly vectors: string;
  /** The first rows create them; otherwise a message for missing vectors fails. */
  readonly create?: boolean;
  /** Throws if the rows must not be appended any more. */
  readonly beforePart?: () => Promise<void>;
}

export interface DropBoxOptions {
  /** For messages that name none. */
  readonly collection?: string | undefined;
  /** The worker: recorded in the leases. */
  readonly owner: string;
  readonly leaseMs?: number | undefined;
  /** How long to wait for a message. */
  readonly waitMs?: number | undefined;
  readonly partRowsMax?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface DropBoxRound {
  readonly done: number;
  readonly failed: number;
  readonly released: number;
  /** Another worker has the message by now. */
  readonly lost: number;
}

type Ending = keyof DropBoxRound;

interface Announced {
  readonly deltaKey: string;
  readonly collection: string;
  readonly chromaCollection: string | undefined;
}

const leaseMsDefault = 60_000;
const fields = ["delta_key", "collection", "chroma_collection"];
/** Of the machine, not of the message. */
const machineErrors = new Set(["ENOSPC", "EDQUOT", "EMFILE", "ENFILE", "ENOMEM"]);

/**
 * One round: receives messages, processes them, and ends each. The messages of a round are of different groups.
 * @example
 * while (!signal.aborted) await processDropBox({ vectors, objects, queue }, scope, { owner: "worker-1", waitMs: 20_000, signal });
 */
export async function processDropBox(
  parts: DropBoxDependencies,
  scope: Scope,
  options: DropBoxOptions,
): Promise<DropBoxRound> {
  const { owner, leaseMs = leaseMsDefault, waitMs = 0, signal } = options;
  const round = { done: 0, failed: 0, released: 0, lost: 0 };
  if (signal?.aborted === true) return round;
  const request = {
    owner,
    leaseMs,
    waitMs,
    max: intakeLimits.messagesMax,
    signal,
  };
  const messages = await parts.queue.receive(scope, dropBoxQueue, request).catch((error: unknown) => {
    if (signal?.aborted === true) return [];
    throw error;
  });
  const endings = await Promise.allSettled(
    messages.map((message) => work(parts, scope, message, { ...options, leaseMs })),
  );
  // Each is completed before an error of one is thrown.
  for (const ending of endings) if (ending.status === "rejected") throw ending.reason;
  for (const ending of endings) if (ending.status === "fulfilled") round[ending.value] += 1;
  return round;
}

/** For producers with our API. The group is the collection, so that its deltas are imported in the order in which they were sent. */
export async function announceDelta(
  queue: Pick<Queue, "send">,
  scope: Scope,
  delta: { readonly deltaKey: string; readonly collection?: string },
): Promise<SendResult> {
  const { deltaKey, collection } = delta;
  const body = { delta_key: deltaKey, ...(collection === undefined ? {} : { collection }) };
  readBody(body, collection ?? "default");
  return queue.send(scope, dropBoxQueue, { group: collection ?? "default", body });
}

async function work(
  parts: DropBoxDependencies,
  scope: Scope,
  message: ReceivedMessage,
  options: DropBoxOptions & { leaseMs: number },
): Promise<Ending> {
  const lost = new AbortController();
  const stop = options.signal === undefined ? lost.signal : AbortSignal.any([options.signal, lost.signal]);
  const heartbeat = setInterval(() => {
    // The next heartbeat makes up for one that fails otherwise.
    parts.queue.heartbeat(scope, message.receipt).catch((error: unknown) => {
      if (isLost(error)) lost.abort();
    });
  }, options.leaseMs / 3);
  try {
    const failure = await takeIn(parts, scope, message, { ...options, signal: stop }).then(
      () => undefined,
      (error: unknown) => ({ error }),
    );
    if (lost.signal.aborted) return "lost";
    return await end(parts, scope, message, failure, options.signal?.aborted === true);
  } catch (error) {
    if (isLost(error)) return "lost";
    throw error;
  } finally {
    clearInterval(heartbeat);
  }
}

async function takeIn(
  { vectors, objects, log, place }: DropBoxDependencies,
  scope: Scope,
  { body }: ReceivedMessage,
  options: DropBoxOptions,
): Promise<void> {
  const { deltaKey, collection, chromaCollection } = readBody(body, options.collection);
  const { signal, partRowsMax } = options;
  const {
    vectors: name,
    create = false,
    beforePart,
  }: DropBoxLocation = (await place?.(scope, collection)) ?? { vectors: collection };
  // Before anything is copied: a message for a missing collection costs nothing.
  if (!create) await vectors.stats(scope, name);
  await using source = await openSource(
    objectsReader(objects, scope),
    deltaKey,
    { collection: chromaCollection, preferred: collection },
    signal,
  );
  const split = partRowsMax === undefined ? undefined : { rows: partRowsMax };
  const append = async (part: AppendInput): Promise<unknown> => {
    await beforePart?.();
    return vectors.append(scope, name, part);
  };
  const target = { vectors, objects, scope, collection: name };
  await applySource(target, source, { key: deltaKey, split, signal, append, ...(create ? { create: {} } : {}) });
  if (source.ignored.length > 0) log?.(`drop-box: not read beside ${deltaKey}: ${source.ignored.join(", ")}`);
}

async function end(
  { queue, log }: DropBoxDependencies,
  scope: Scope,
  { receipt, id, body }: ReceivedMessage,
  failure: { readonly error: unknown } | undefined,
  stopping: boolean,
): Promise<Ending> {
  if (failure === undefined) {
    await queue.done(scope, receipt);
    return "done";
  }
  const { error } = failure;
  if (stopping || isPassing(error)) {
    await queue.release(scope, receipt, { retryInMs: stopping ? 0 : intakeLimits.releasedMs });
    return "released";
  }
  const reason = PinakesError.isInstance(error)
    ? `${error.code}: ${error.detail}`
    : `INTERNAL: ${(error as Error).message}`;
  log?.(`drop-box: message ${id} (${show(body)}) failed: ${reason}`);
  await queue.failed(scope, receipt, { reason });
  return "failed";
}

function readBody(body: JsonValue, normal: string | undefined): Announced {
  const form = `write { "delta_key": "delta/…", "collection": "…" }`;
  if (!isJsonObject(body)) throw invalid(`The message must be an object, got ${show(body)}; ${form}.`);
  const unknown = Object.keys(body).find((key) => !fields.includes(key));
  if (unknown !== undefined) throw invalid(`The message has ${show(unknown)}, which is unknown; ${form}.`);
  const { delta_key: deltaKey, collection = normal, chroma_collection: chromaCollection } = body;
  if (typeof deltaKey !== "string" || !/^delta\/[^/]/.test(deltaKey))
    throw invalid(`delta_key: must be a key under delta/, got ${show(deltaKey)}; ${form}.`);
  if (collection === undefined)
    throw invalid(`collection: is missing, and this drop-box has no default collection; ${form}.`);
  if (typeof collection !== "string") throw invalid(`collection: must be a string, got ${show(collection)}.`);
  if (chromaCollection !== undefined && typeof chromaCollection !== "string")
    throw invalid(`chroma_collection: must be a string, got ${show(chromaCollection)}.`);
  return { deltaKey, collection, chromaCollection };
}

/** The message is valid: it will succeed later, unchanged. */
function isPassing(error: unknown): boolean {
  if (PinakesError.isInstance(error)) return error.code === "THROTTLED" || error.code === "UNAVAILABLE";
  return machineErrors.has((error as NodeJS.ErrnoException).code ?? "");
}

function isLost(error: unknown): boolean {
  return hasCode(error, "PRECONDITION_FAILED");
}
