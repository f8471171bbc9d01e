/** The reader thread: runs long scans, counts and the feed, so that they never block point reads. */
import { parentPort, workerData } from "node:worker_threads";
import { definitionChanged } from "../../items/item-engine.ts";
import { sendError, type ReaderMessage, type Reply } from "./messages.ts";
import { Scanner } from "./scan.ts";
import { loadContainer, openDatabase, withTtl, type SqliteContainer } from "./schema.ts";

const { file } = workerData as { file: string };
const port = parentPort as NonNullable<typeof parentPort>;
const db = openDatabase(file, { readOnly: true });
const scanner = new Scanner(db);

port.on("message", (message: ReaderMessage | { kind: "close"; call: number }) => {
  if (message.kind === "close") {
    db.close();
    port.postMessage({ kind: "answer", call: message.call, value: undefined } satisfies Reply);
    port.close();
    return;
  }
  try {
    const container = loadContainer(db, message.container) as SqliteContainer;
    if (container.compiled.version !== message.version) throw definitionChanged(message.container);
    port.postMessage({ kind: "answer", call: message.call, value: answer(message, container) } satisfies Reply);
  } catch (error) {
    port.postMessage({ kind: "error", call: message.call, error: sendError(error) } satisfies Reply);
  }
});

function answer(message: ReaderMessage, container: SqliteContainer): unknown {
  switch (message.kind) {
    case "scan":
      return scanner.scan(withTtl(container, message.ttl), message.request);
    case "count":
      return scanner.count(withTtl(container, message.ttl), message.range, message.now);
    case "changes":
      return scanner.changes(container, message.request);
    case "expired":
      return scanner.expired(withTtl(container, message.ttl), message.now, message.limit, message.tenants);
  }
}
