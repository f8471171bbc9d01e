/** Read-decide-write on the condition that nothing was written in between; retried otherwise. */
import { PinakesClientError } from "@pinakes/client";
import { itemId } from "./entries.ts";
import type { Change, LogView, SessionLog } from "./session-log.ts";

interface Decision<Result> {
  readonly result: Result;
  /** Absent: there is nothing to change. */
  readonly change?: Change;
}

/** With pauses that grow, so that even slow writers find a quiet moment: a minute or so in all. */
export const attemptsMax = 30;
const pauseMsFirst = 5;
const pauseMsMax = 5_000;

/** `wanted`: how many of the newest items the decision needs. Each change must have a unique name. */
export async function untilApplied<Result>(
  log: SessionLog,
  wanted: number,
  decide: (view: LogView) => Decision<Result>,
): Promise<Result> {
  const failed: Change[] = [];
  let met = 0;
  try {
    for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
      const view = await log.read(wanted);
      const { result, change } = decide(view);
      if (change === undefined) return result;
      // The newest entries may have been removed since; entries read before are in this result, or gone.
      const outcome = await log.change(change, Math.max(view.head, met));
      if (outcome.counts) {
        await log.tidy([...change.removes, ...view.garbage]);
        return result;
      }
      met = outcome.head;
      failed.push(change);
      await pause(attempt);
    }
  } finally {
    await log.tidy(
      failed.flatMap(({ id, group, items }) => [id, ...items.map((_, position) => itemId(group, position))]),
    );
  }
  throw tooBusy();
}

/** Writers that met do not meet again. */
export async function pause(attempt: number): Promise<void> {
  await new Promise((resolve) =>
    setTimeout(resolve, Math.random() * Math.min(pauseMsMax, pauseMsFirst * 2 ** attempt)),
  );
}

export const tooBusy = (): PinakesClientError =>
  new PinakesClientError({
    code: "CONFLICT",
    status: 409,
    detail: `The session changed ${attemptsMax} times while this change was tried. Try again when fewer write to it.`,
    retryable: true,
  });
