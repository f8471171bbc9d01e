/** The reader's thread: unbounded counts, so that they never hold up pages. */
import { parentPort, workerData } from "node:worker_threads";
import { sendError, type Reply } from "../messages.ts";
import { openDatabase } from "../schema.ts";
import type { CloseRequest, CountRequest } from "./messages.ts";
import { TripleReader } from "./reader.ts";

const { file } = workerData as { file: string };
const port = parentPort as NonNullable<typeof parentPort>;
const db = openDatabase(file, { readOnly: true });
const reader = new TripleReader(db);

function reply(message: Reply): void {
  port.postMessage(message);
}

port.on("message", (message: CountRequest | CloseRequest) => {
  if (message.kind === "close") {
    db.close();
    reply({ kind: "answer", call: message.call, value: undefined });
    port.close();
    return;
  }
  try {
    reply({ kind: "answer", call: message.call, value: reader.count(message.key, message.pattern, message.max) });
  } catch (error) {
    reply({ kind: "error", call: message.call, error: sendError(error) });
  }
});
