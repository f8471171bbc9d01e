/** Input and output of a command: where results go, whether it is interactive, and how wide it is. */
import { createInterface } from "node:readline/promises";

export interface Terminal {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Results only. */
  readonly out: (text: string) => void;
  /** Notes, progress and errors. */
  readonly err: (text: string) => void;
  /** Width of the output; absent if it is not a terminal, and nothing is truncated. */
  readonly columns: number | undefined;
  readonly color: boolean;
  /** Width for progress bars; absent if not interactive, with plain lines instead. */
  readonly progressColumns: number | undefined;
  /** Absent if not interactive. */
  readonly ask: ((question: string) => Promise<string>) | undefined;
  /** Ctrl-C. */
  readonly signal: AbortSignal;
}

const columnsDefault = 80;

/** Ctrl-C stopped the command. */
export class Interrupted extends Error {
  override readonly name = "Interrupted";
}

/** 128 plus the number of SIGINT, as in shells. */
export const interruptedExitCode = 130;

export function processTerminal(signal: AbortSignal): Terminal {
  const { env, stdin, stdout, stderr } = process;
  return {
    env,
    cwd: process.cwd(),
    out: (text) => stdout.write(text),
    err: (text) => stderr.write(text),
    columns: stdout.isTTY ? stdout.columns || columnsDefault : undefined,
    color: stdout.isTTY && (env["NO_COLOR"] ?? "") === "" && env["TERM"] !== "dumb",
    progressColumns: stderr.isTTY && env["TERM"] !== "dumb" ? stderr.columns || columnsDefault : undefined,
    ask: stdin.isTTY && stderr.isTTY ? (question) => askOnTerminal(question, signal) : undefined,
    signal,
  };
}

/** On stderr, so that the question is visible when the output is redirected to a file. */
async function askOnTerminal(question: string, signal: AbortSignal): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  const stop = new AbortController();
  // In raw mode Ctrl-C is a key, not a signal.
  lines.on("SIGINT", () => stop.abort());
  lines.on("close", () => stop.abort());
  try {
    return await lines.question(question, { signal: AbortSignal.any([signal, stop.signal]) });
  } catch (error) {
    throw new Interrupted("stopped", { cause: error });
  } finally {
    lines.close();
  }
}

/** Escape sequences in stored text would control the terminal; bidirectional marks would reorder what it shows. */
export function printable(text: string): string {
  return text.replaceAll(unprintable, " ");
}

const unprintable = /[^\P{Cc}\n]|[\u200E\u200F\u202A-\u202E\u2066-\u2069]/gu;

const codes = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
} as const;
export type Style = keyof typeof codes;

export function styled(terminal: Pick<Terminal, "color">, style: Style, text: string): string {
  if (!terminal.color || text === "") return text;
  const [on, off] = codes[style];
  return `\u001B[${on}m${text}\u001B[${off}m`;
}

/** Display width of a text: 2 for East Asian wide characters and most emoji, 0 for combining marks. */
export function columnsOf(text: string): number {
  let columns = 0;
  for (const sign of text) columns += columnsOfSign(sign);
  return columns;
}

/** The prefix that fits, with an ellipsis. */
export function cutToColumns(text: string, columnsMax: number): string {
  if (columnsOf(text) <= columnsMax) return text;
  let kept = "";
  let columns = 1;
  for (const sign of text) {
    columns += columnsOfSign(sign);
    if (columns > columnsMax) break;
    kept += sign;
  }
  return `${kept}…`;
}

const none = /\p{Mn}|\p{Me}|[\u200B-\u200D]/u;
const wide =
  /[\u1100-\u115F\u2E80-\u303E\u3041-\u33FF\u3400-\u4DBF\u4E00-\u9FFF\uA000-\uA4CF\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE4F\uFF00-\uFF60\uFFE0-\uFFE6\u{1F300}-\u{1F64F}\u{1F900}-\u{1F9FF}\u{20000}-\u{3FFFD}]/u;

function columnsOfSign(sign: string): number {
  if (none.test(sign)) return 0;
  return wide.test(sign) ? 2 : 1;
}
