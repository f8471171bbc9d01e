/** What an attempt comes to, as text that can be compared. */
import type { Caller } from "../../../src/domain/caller.ts";
import { PinakesError } from "../../../src/domain/errors.ts";
import type { State } from "../../../src/state/index.ts";
import type { Attempt, Target } from "./attempts.ts";

/** An error that is none of ours is a failure of the test. */
export async function outcome(
  state: State,
  attempt: Attempt | undefined,
  caller: Caller,
  target: Target,
): Promise<string> {
  const run = async (): Promise<unknown> => attempt?.(state, caller, target);
  return run().then(
    (value) => `answered ${JSON.stringify(value)}`,
    (error: unknown) => {
      if (!PinakesError.isInstance(error)) throw error;
      return `${error.code}: ${error.detail} ${JSON.stringify(error.context)}`;
    },
  );
}
