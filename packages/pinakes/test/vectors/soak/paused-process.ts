/**
 * A compactor that stops at a chosen call and reports it, for tests that stop, kill or overtake it exactly there. It continues when it gets
 * a line on standard input, and reports its result.
 *
 * usage: paused-process.ts <json: { place, call, skewMs, leaseMs, collect }>; `call`: "before put segments", "after put manifests", …, or
 * "none"
 */
import { once } from "node:events";
import { writeSync } from "node:fs";
import { createInterface } from "node:readline";
import type { ObjectStore } from "../../../src/ports/object-store.ts";
import { collection, scope } from "./drafts.ts";
import { openPlace, soakPolicy, type StackPlace } from "./place.ts";

export interface PausedTask {
  readonly place: StackPlace;
  readonly call: string;
  readonly skewMs: number;
  readonly leaseMs: number;
  /** Collects garbage after it has compacted. */
  readonly collect: boolean;
}

const task = JSON.parse(process.argv[2] ?? "{}") as PausedTask;
const lines = createInterface({ input: process.stdin });
let paused = false;

async function pauseAt(call: string): Promise<void> {
  if (paused || call !== task.call) return;
  paused = true;
  const goOn = once(lines, "line");
  writeSync(1, `${JSON.stringify({ at: call })}\n`);
  await goOn;
}

/** `put segments`, `get HEAD.json`, `delete`: the operation and the kind of object. */
async function around<Result>(name: string, key: string | undefined, run: () => Promise<Result>): Promise<Result> {
  const kind = key === undefined ? name : `${name} ${key.split("/")[2] ?? key}`;
  await pauseAt(`before ${kind}`);
  const result = await run();
  await pauseAt(`after ${kind}`);
  return result;
}

function pausing(objects: ObjectStore): ObjectStore {
  return {
    capabilities: objects.capabilities,
    put: (by, key, body, options) => around("put", key, () => objects.put(by, key, body, options)),
    get: (by, key, options) => around("get", key, () => objects.get(by, key, options)),
    stream: (by, key, options) => objects.stream(by, key, options),
    head: (by, key, options) => objects.head(by, key, options),
    list: (by, prefix, options) => around("list", undefined, () => objects.list(by, prefix, options)),
    delete: (by, keys, options) => around("delete", undefined, () => objects.delete(by, keys, options)),
    close: () => objects.close(),
    [Symbol.asyncDispose]: () => objects.close(),
  };
}

const { vectors } = await openPlace(task.place, {
  skewMs: task.skewMs,
  policy: { ...soakPolicy, leaseMs: task.leaseMs, retentionMs: 0, appliedDeltaMs: 0 },
  wrap: ({ items, objects }) => ({ items, objects: pausing(objects) }),
});
let result = await vectors.compact(scope, collection);
for (; result.outcome === "busy"; result = await vectors.compact(scope, collection))
  await new Promise((resolve) => setTimeout(resolve, 20));
const collected = task.collect && result.outcome === "done" ? await vectors.collect(scope, collection) : undefined;
writeSync(1, `${JSON.stringify({ result, collected, pid: process.pid })}\n`);
process.exit(0);
