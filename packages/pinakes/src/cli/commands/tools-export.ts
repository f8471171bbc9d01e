/** Exports the tool log to a file, or streams it to stdout. */
import { createWriteStream } from "node:fs";
import { rename, rm, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import { PinakesError, invalid } from "../../domain/errors.ts";
import { UsageError, type Call, type Outcome } from "../terminal/command.ts";
import { inBytes } from "../terminal/layout.ts";

/** Buffered: one file-system call per line would be slow. */
const pieceCharsMin = 65_536;

/** Both would write to the same stdout. */
export function checkPlace({ given }: Call): void {
  if (given.has("json") && given.text("out") === undefined)
    throw new UsageError("--json reports a file that was written: give one with --out FILE, or omit --json.");
}

export async function exportInvocations(
  { given, terminal }: Call<"out">,
  lines: AsyncIterable<string>,
): Promise<Outcome> {
  const out = given.text("out");
  if (out !== undefined) return toFile(resolve(terminal.cwd, out), out, pieces(lines));
  for await (const piece of pieces(lines)) terminal.out(piece);
  return { answer: undefined, show: () => "" };
}

/**
 * Written to a temporary file first, so that a partial export is never mistaken for a complete one. Special files, such as /dev/null, are
 * written directly.
 */
async function toFile(path: string, shown: string, text: AsyncIterable<string>): Promise<Outcome> {
  const there = await stat(path).catch(() => undefined);
  const direct = there !== undefined && !there.isFile();
  const partial = direct ? path : `${path}.part`;
  let bytes = 0;
  const counted = async function* (): AsyncGenerator<string> {
    for await (const piece of text) {
      bytes += Buffer.byteLength(piece);
      yield piece;
    }
  };
  try {
    await pipeline(counted, createWriteStream(partial));
    if (!direct) await rename(partial, path);
  } catch (error) {
    if (!direct) await rm(partial, { force: true });
    if (PinakesError.isInstance(error)) throw error;
    throw invalid(`the file cannot be written: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
  return { answer: { file: path, bytes }, show: () => `${inBytes(bytes)} in ${shown}.` };
}

async function* pieces(lines: AsyncIterable<string>): AsyncGenerator<string> {
  let piece = "";
  for await (const line of lines) {
    piece += line;
    if (piece.length < pieceCharsMin) continue;
    yield piece;
    piece = "";
  }
  if (piece !== "") yield piece;
}
