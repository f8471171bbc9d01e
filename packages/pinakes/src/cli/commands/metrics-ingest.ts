/** Ingests NDJSON files in batches and reports the result of each line, for metrics and the tool log. */
import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import { resolve } from "node:path";
import { addAbortSignal, type Readable } from "node:stream";
import type { IngestResult, LineResult, StateApi } from "@pinakes/client";
import { PinakesError, invalid } from "../../domain/errors.ts";
import { defineCommand, failureExitCode, type Command } from "../terminal/command.ts";
import { count, oneLine } from "../terminal/layout.ts";
import { incomingLines, type IncomingLine } from "./metrics-lines.ts";
import { withClient } from "../client-session.ts";
import { actorOptions } from "../session.ts";
import type { Terminal } from "../terminal/terminal.ts";

interface Series {
  /** The command group. */
  readonly group: string;
  readonly summary: string;
  readonly take: (state: StateApi, rows: readonly unknown[]) => Promise<IngestResult>;
}

/** Batch size of one call. */
export const pieceLinesMax = 1_000;
export const pieceCharsMax = 8_388_608;
/** Refused lines listed individually, in the result and on the terminal. */
export const toldLinesMax = 1_000;
export const shownLinesMax = 20;

export function ingestCommand({ group, summary, take }: Series): Command {
  return defineCommand({
    usage: "<file.ndjson | ->",
    words: [1, 1],
    summary,
    details: `
One JSON object per line; - reads stdin. Invalid lines are reported by number, the others are accepted, and the exit code
is 1. A line with an id that was accepted before is skipped, so a file can be ingested twice; lines without an id get a new one each time.`,
    options: actorOptions,
    examples: [
      `pinakes ${group} ingest ${group}.ndjson`,
      `tail -n 100 ${group}.ndjson | pinakes ${group} ingest - --json`,
    ],
    run: async (call) => {
      const { terminal, words } = call;
      const stream = await inputOf(words[0] as string, terminal);
      const name = words[0] === "-" ? "stdin" : (words[0] as string);
      return withClient(
        call,
        async ({ state }) => {
          const result = await takeAll(incomingLines(stream, name), (lines) =>
            takeLines(lines, (rows) => take(state, rows)),
          );
          return {
            answer: result,
            show: () => resultText(name, result),
            code: result.failed > 0 ? failureExitCode : 0,
          };
        },
        { creates: true },
      );
    },
  });
}

/** Ctrl-C ends the reading, which would keep the process alive. */
async function inputOf(name: string, { cwd, signal }: Terminal): Promise<Readable> {
  if (name === "-") return addAbortSignal(signal, process.stdin);
  const path = resolve(cwd, name);
  try {
    const file = await open(path);
    const isFolder = (await file.stat()).isDirectory();
    await file.close();
    if (isFolder) throw new Error(`${path} is a folder`);
  } catch (error) {
    throw invalid(`the file cannot be read: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
  return createReadStream(path, { signal });
}

export async function takeAll(
  lines: AsyncIterable<IncomingLine & { readonly chars: number }>,
  take: (lines: readonly IncomingLine[]) => Promise<IngestResult>,
): Promise<IngestResult> {
  const sum = { accepted: 0, duplicates: 0, failed: 0 };
  const told: LineResult[] = [];
  let piece: IncomingLine[] = [];
  let chars = 0;
  const flush = async (): Promise<void> => {
    if (piece.length === 0) return;
    const result = await take(piece);
    for (const name of ["accepted", "duplicates", "failed"] as const) sum[name] += result[name];
    told.push(...result.lines.slice(0, toldLinesMax - told.length));
    piece = [];
    chars = 0;
  };
  try {
    for await (const { chars: more, ...line } of lines) {
      if (piece.length > 0 && (piece.length >= pieceLinesMax || chars + more > pieceCharsMax)) await flush();
      piece.push(line);
      chars += more;
    }
    await flush();
  } catch (error) {
    throw withWhatIsKept(error, sum.accepted);
  }
  return { ...sum, lines: told };
}

/** Valid JSON lines go to the series; the result numbers all lines as in the file. */
async function takeLines(
  lines: readonly IncomingLine[],
  take: (rows: readonly unknown[]) => Promise<IngestResult>,
): Promise<IngestResult> {
  const read = lines.filter((line) => "value" in line);
  const wrong = lines.flatMap((line) =>
    "error" in line
      ? [{ line: line.line, status: line.error.status, error: { code: line.error.code, detail: line.error.detail } }]
      : [],
  );
  const result =
    read.length === 0
      ? { accepted: 0, duplicates: 0, failed: 0, lines: [] }
      : await take(read.map(({ value }) => value));
  const told = result.lines.map((line) => ({ ...line, line: read[line.line - 1]?.line ?? line.line }));
  return {
    ...result,
    failed: result.failed + wrong.length,
    lines: [...told, ...wrong].toSorted((a, b) => a.line - b.line),
  };
}

/** Lines stored before the error stay, which matters for a retry. */
function withWhatIsKept(error: unknown, accepted: number): unknown {
  if (!PinakesError.isInstance(error) || accepted === 0) return error;
  const kept = `${count(accepted, "line")} before it ${accepted === 1 ? "is" : "are"} already stored.`;
  return new PinakesError(error.code, `${error.detail} ${kept}`, { cause: error, retryable: error.retryable });
}

export function resultText(name: string, { accepted, duplicates, failed, lines }: IngestResult): string {
  if (accepted + duplicates + failed === 0) return "The file has no lines.";
  const parts = [
    `${count(accepted, "line")} accepted`,
    ...(duplicates === 0 ? [] : [`${duplicates} there already`]),
    ...(failed === 0 ? [] : [`${failed} refused`]),
  ];
  const shown = lines
    .slice(0, shownLinesMax)
    .map(({ line, error }) => `  ${name}:${line}: ${oneLine(error?.detail ?? "")}`);
  const more = failed > shown.length ? [`  … and ${failed - shown.length} more`] : [];
  return [`${parts.join(", ")}.`, ...shown, ...more].join("\n");
}
