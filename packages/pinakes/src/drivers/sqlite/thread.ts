/** A thread of the SQLite driver: the writer answers the commits of a group in one message. */
import { PinakesError } from "../../domain/errors.ts";
import { receiveError } from "../../runtime/sent-error.ts";
import { Thread } from "../../runtime/thread.ts";
import type { Reply, WriterReply } from "./messages.ts";

export type SqliteThread = Thread<Reply | WriterReply>;

export function startThread(script: URL, file: string): SqliteThread {
  const thread: SqliteThread = new Thread(script, {
    workerData: { file },
    name: script.pathname.split("/").at(-1) ?? "sqlite",
    onMessage: (message) => receive(thread, message),
    onExit: (cause) =>
      cause === undefined
        ? new PinakesError("UNAVAILABLE", "The store is closed.", { retryable: false })
        : new PinakesError(
            "UNAVAILABLE",
            `The SQLite thread stopped: ${String(cause)}. The outcome of writes in flight is unknown; repeating them with a condition is safe.`,
            { cause },
          ),
  });
  return thread;
}

function receive(thread: SqliteThread, message: Reply | WriterReply): void {
  switch (message.kind) {
    case "committed":
      for (const call of message.plain) thread.resolve(call, undefined);
      for (const { call, outcome } of message.outcomes) thread.resolve(call, outcome);
      return;
    case "answer":
      thread.resolve(message.call, message.value);
      return;
    case "error":
      thread.reject(message.call, receiveError(message.error));
      return;
  }
}
