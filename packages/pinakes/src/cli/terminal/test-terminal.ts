/** A terminal for tests: records output, and answers questions. */
import { join } from "node:path";
import { temporaryFolder } from "../../../test/support/temporary-folder.ts";
import { PinakesError } from "../../domain/errors.ts";
import type { Group } from "./command.ts";
import { runGroup } from "./run-command.ts";
import type { Terminal } from "./terminal.ts";

export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export async function run(
  group: Group,
  args: readonly string[],
  terminal: Partial<Terminal> & Pick<Terminal, "env">,
): Promise<Ran> {
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

export interface CliFolder {
  readonly base: string;
  readonly env: { readonly PINAKES_DATA: string };
  readonly call: (group: Group, args: readonly string[], terminal?: Partial<Terminal>) => Promise<Ran>;
  /** The output of `--json`, parsed. */
  readonly json: <T = unknown>(group: Group, ...args: readonly string[]) => Promise<T>;
}

/** A folder for the tests of a file, in which commands run on their own stores. Removed afterwards. */
export function cliFolder(name: string): CliFolder {
  const base = temporaryFolder(name);
  const env = { PINAKES_DATA: join(base, "data") };
  const call: CliFolder["call"] = (group, args, terminal = {}) => run(group, args, { env, cwd: base, ...terminal });
  const json: CliFolder["json"] = async <T>(group: Group, ...args: readonly string[]) =>
    JSON.parse((await call(group, [...args, "--json"])).out) as T;
  return { base, env, call, json };
}

export async function failure(promise: Promise<unknown>): Promise<PinakesError> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!PinakesError.isInstance(error)) throw new Error(`expected a PinakesError, got ${String(error)}`);
  return error;
}
