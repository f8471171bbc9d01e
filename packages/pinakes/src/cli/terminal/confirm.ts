/** Confirmation of irreversible actions. */
import { invalid } from "../../domain/errors.ts";
import type { Call, Given, Option, Options } from "./command.ts";

export const yesOption = { type: "boolean", short: "y", help: "do not ask" } as const satisfies Option;

/** For deletes of agents' state, where people write --confirm. */
export const confirmOptions = {
  yes: yesOption,
  confirm: { type: "boolean", help: "the same as --yes" },
} as const satisfies Options;

interface Question {
  /** The consequence, as a sentence. */
  readonly what: string;
  /** The text to type; default "y" or "yes". */
  readonly type?: string;
  /** Without a terminal: executed anyway, or refused. */
  readonly unasked: "done" | "refused";
}

/** Throws unless confirmed. */
export async function confirm({ given, terminal }: Call<"yes">, { what, type, unasked }: Question): Promise<void> {
  if (given.has("yes") || (given as Given).has("confirm")) return;
  if (terminal.ask === undefined) {
    if (unasked === "done") return;
    throw invalid(`${what} Confirm with --yes.`);
  }
  const answer = (
    await terminal.ask(`${what} ${type === undefined ? "Continue? [y/N] " : `Type ${type} to continue: `}`)
  ).trim();
  if (type === undefined ? !/^y(es)?$/i.test(answer) : answer !== type) throw invalid("nothing was changed.");
}
