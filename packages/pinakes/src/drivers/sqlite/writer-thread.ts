/** The writer thread: collects pending requests, commits them as one group, responds, and builds indexes in between. */
import { parentPort, workerData } from "node:worker_threads";
import type { CommitOutcome } from "../../items/item-engine.ts";
import { GroupQueue } from "./group-queue.ts";
import {
  decodeCommit,
  isPlain,
  sendError,
  type CommitMessage,
  type WriterMessage,
  type WriterReply,
} from "./messages.ts";
import { openDatabase } from "./schema.ts";
import { scrubFile } from "./scrub-file.ts";
import { Writer, type GroupResult } from "./writer.ts";

const { file } = workerData as { file: string };
const port = parentPort as NonNullable<typeof parentPort>;
const db = openDatabase(file);
// Another thread checkpoints: copying the log back must not make a commit wait.
db.exec("PRAGMA wal_autocheckpoint = 0");
const writer = new Writer(db);

const building = new Set<string>();
/** Builds whose errors are to be retried. */
const retrying = new Set<string>();
const buildRetryMs = 5_000;

/** A larger group would make its first member wait for the last one's bytes, and the main thread for work while this one writes. */
const groupBytesMax = 524_288;
const queue = new GroupQueue<CommitMessage>({
  sizeOf,
  groupSizeMax: groupBytesMax,
  commit: (group) => tell(group, writer.commitGroup(group)),
  between: () => {
    buildOneStep();
    return building.size > 0;
  },
});

function reply(message: WriterReply): void {
  port.postMessage(message);
}

function tell(group: readonly CommitMessage[], results: GroupResult): void {
  const plain: number[] = [];
  const outcomes: { call: number; outcome: CommitOutcome }[] = [];
  for (const [i, { call, outcome }] of results.entries()) {
    if (outcome instanceof Error) reply({ kind: "error", call, error: sendError(outcome) });
    else if (isPlain((group[i] as CommitMessage).request, outcome)) plain.push(call);
    else outcomes.push({ call, outcome });
  }
  reply({ kind: "committed", plain, outcomes });
}

function sizeOf({ request }: CommitMessage): number {
  return request.operations.reduce(
    (sum, operation) => sum + ("prepared" in operation ? operation.prepared.json.length : 100),
    0,
  );
}

function buildOneStep(): void {
  const [container] = building;
  if (container === undefined) return;
  const retry = retrying.delete(container);
  const state = buildStep(container, retry);
  if (state === "working") return;
  building.delete(container);
  if (state === "done") return;
  // indexes() reports its error; a later attempt may find the row gone or the disk free again.
  setTimeout(() => {
    markBuilding(container);
    queue.wake();
  }, buildRetryMs).unref();
}

/** Indexes that failed before are retried. */
function markBuilding(container: string): void {
  retrying.add(container);
  building.add(container);
}

function buildStep(container: string, retry: boolean): "done" | "stuck" | "working" {
  try {
    return writer.buildStep(container, retry);
  } catch (error) {
    // Not even the error could be stored (locked, disk full): the same again later.
    process.emitWarning(`index build of "${container}" waits: ${String(error)}`);
    return "stuck";
  }
}

port.on("message", (message: WriterMessage) => {
  if (message.kind === "commits") {
    for (const commit of message.commits) queue.add(decodeCommit(commit));
    return;
  }
  try {
    reply({ kind: "answer", call: message.call, value: answer(message) });
  } catch (error) {
    reply({ kind: "error", call: message.call, error: sendError(error) });
  }
});

function answer(message: Exclude<WriterMessage, { kind: "commits" }>): unknown {
  switch (message.kind) {
    case "open": {
      const container = writer.openContainer(message.definition, message.options);
      if (Object.values(container.indexes).some(({ state }) => state === "building"))
        markBuilding(container.compiled.name);
      queue.wake();
      return undefined;
    }
    case "trim":
      return writer.trimFeed(message.container, message.before, message.limit);
    case "forget":
      return writer.forgetFeed(message);
    case "scrub":
      queue.drain();
      return scrubFile(db, file);
    case "close":
      queue.drain();
      building.clear();
      db.close();
      // After the response was sent.
      setImmediate(() => port.close());
      return undefined;
  }
}
