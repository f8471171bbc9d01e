/** A terminal for tests: keeps what a command writes, and answers its questions. */
import { PinakesError } from "../domain/errors.ts";
import type { Group } from "./command.ts";
import { runGroup } from "./run-command.ts";
import type { Terminal } from "./terminal.ts";

export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export async function run(group: Group, args: readonly string[], terminal: Partial<Terminal> & Pick<Terminal, "env">): Promise<Ran> {
  let [out, err] = ["", ""];
  const code = await runGroup("test", group, args, {
    cwd: process.cwd(),
    columns: undefined,
    color: false,
    progressColumns: undefined,
    ask: undefined,
    signal: new AbortController().signal,
    out: (text) => {
      out += text;
    },
    ...terminal,
    err: (text) => {
      err += text;
      terminal.err?.(text);
    },
  });
  return { code, out, err };
}

export async function failure(promise: Promise<unknown>): Promise<PinakesError> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!PinakesError.isInstance(error)) throw new Error(`expected a PinakesError, got ${String(error)}`);
  return error;
}
