/** Parses files in its own thread, one after another. */
import { sendError, type SentError } from "../../runtime/sent-error.ts";
import { Console } from "node:console";
import { Writable } from "node:stream";
import { parentPort } from "node:worker_threads";
import type { FileType, ParsedText } from "../../ports/parser.ts";
import { parseFile } from "./parse-file.ts";

export interface ParseOrder {
  readonly bytes: Uint8Array;
  readonly fileType: FileType;
}

export type ParseAnswer =
  | { readonly kind: "ready" }
  | { readonly kind: "parsed"; readonly parsed: ParsedText }
  | { readonly kind: "refused"; readonly error: SentError };

// Messages that the libraries print about malformed files do not belong in our log; the result contains everything relevant.
globalThis.console = new Console(new Writable({ write: (_chunk, _encoding, done) => done() }));

// pdf.js leaves promises unhandled that fail on a damaged file, sometimes when the next file is already here. The awaited ones report what
// matters.
process.on("unhandledRejection", () => undefined);

parentPort?.on("message", (order: ParseOrder) => {
  void answer(order).then((message) => parentPort?.postMessage(message));
});
parentPort?.postMessage({ kind: "ready" } satisfies ParseAnswer);

async function answer(order: ParseOrder): Promise<ParseAnswer> {
  try {
    return { kind: "parsed", parsed: await parseFile(order) };
  } catch (error) {
    const refused = sendError(error, (cause) => ({ detail: `A file could not be parsed: ${String(cause)}` }));
    return { kind: "refused", error: refused };
  }
}
