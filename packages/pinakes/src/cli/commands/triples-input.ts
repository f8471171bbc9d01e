/** Input of a command, from a file or stdin. Ctrl-C stops the read, which would otherwise keep the process alive. */
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { addAbortSignal, type Readable } from "node:stream";
import { invalid } from "../../domain/errors.ts";
import type { Terminal } from "../terminal/terminal.ts";

export interface InputFile {
  /** The name used in messages. */
  readonly name: string;
  readonly stream: Readable;
  /** Undefined for stdin. */
  readonly bytes: number | undefined;
}

export async function openInput(name: string, { cwd, signal }: Pick<Terminal, "cwd" | "signal">): Promise<InputFile> {
  if (name === "-") return { name: "stdin", stream: addAbortSignal(signal, process.stdin), bytes: undefined };
  const path = resolve(cwd, name);
  const found = await stat(path).catch((error: unknown) => {
    throw invalid(`the file cannot be read: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  });
  if (found.isDirectory()) throw invalid(`${name} is a folder; specify a file.`);
  return { name, stream: createReadStream(path, { signal }), bytes: found.isFile() ? found.size : undefined };
}
