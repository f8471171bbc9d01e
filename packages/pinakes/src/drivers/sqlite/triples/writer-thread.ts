/** The writer thread: combines pending writes, up to a limit, into one transaction, and responds once it is on disk. */
import { parentPort, workerData } from "node:worker_threads";
import { GroupQueue } from "../group-queue.ts";
import { sendError, type Reply } from "../messages.ts";
import { openDatabase } from "../schema.ts";
import { scrubFile } from "../scrub-file.ts";
import type { CloseRequest, ScrubRequest, WriteRequest } from "./messages.ts";
import { TripleWriter } from "./writer.ts";

const { file } = workerData as { file: string };
const port = parentPort as NonNullable<typeof parentPort>;
const db = openDatabase(file);
/** A load touches most pages of every order repeatedly: the writer caches them. */
const cacheKibibytes = 131_072;
// Another thread checkpoints: copying the log back must not make a commit wait.
db.exec(`PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = -${cacheKibibytes}`);
const writer = new TripleWriter(db);

/** A larger group would make its first member wait for the last one's quads. */
const groupQuadsMax = 20_000;
const queue = new GroupQueue<WriteRequest>({ sizeOf, groupSizeMax: groupQuadsMax, commit });

function commit(group: readonly WriteRequest[]): void {
  for (const [i, outcome] of writer.commit(group).entries()) {
    const { call } = group[i] as WriteRequest;
    reply(
      "value" in outcome
        ? { kind: "answer", call, value: outcome.value }
        : { kind: "error", call, error: sendError(outcome.error) },
    );
  }
}

function sizeOf(request: WriteRequest): number {
  if (request.kind === "write") return (request.change.insert.length + request.change.remove.length) / 4;
  return "limit" in request ? request.limit : 1;
}

function reply(message: Reply): void {
  port.postMessage(message);
}

function scrub(call: number): void {
  queue.drain();
  try {
    reply({ kind: "answer", call, value: scrubFile(db, file) });
  } catch (error) {
    reply({ kind: "error", call, error: sendError(error) });
  }
}

port.on("message", (message: WriteRequest | ScrubRequest | CloseRequest) => {
  if (message.kind === "scrub") return scrub(message.call);
  if (message.kind === "close") {
    queue.drain();
    db.close();
    reply({ kind: "answer", call: message.call, value: undefined });
    // After the response was sent.
    setImmediate(() => port.close());
    return;
  }
  queue.add(message);
});
