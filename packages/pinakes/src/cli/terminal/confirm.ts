/** Questions before something that cannot be undone. */
import { invalid } from "../../domain/errors.ts";
import type { Call, Given, Option, Options } from "./command.ts";

export const yesOption = { type: "boolean", short: "y", help: "do not ask" } as const satisfies Option;

/** For deletes of agents' state, where people write --confirm. */
export const confirmOptions = {
  yes: yesOption,
  confirm: { type: "boolean", help: "the same as --yes" },
} as const satisfies Options;

interface Question {
  /** What will happen, as a sentence. */
  readonly what: string;
  /** What must be typed; "y" or "yes" when absent. */
  readonly type?: string;
  /** Without somebody to ask: done all the same, or refused. */
  readonly unasked: "done" | "refused";
}

/** Throws unless it may go on. */
export async function confirm({ given, terminal }: Call<"yes">, { what, type, unasked }: Question): Promise<void> {
  if (given.has("yes") || (given as Given).has("confirm")) return;
  if (terminal.ask === undefined) {
    if (unasked === "done") return;
    throw invalid(`${what} Say that you mean it with --yes.`);
  }
  const answer = (
    await terminal.ask(`${what} ${type === undefined ? "Go on? [y/N] " : `Type ${type} to go on: `}`)
  ).trim();
  if (type === undefined ? !/^y(es)?$/i.test(answer) : answer !== type) throw invalid("nothing was changed.");
}
