/** The errors that every engine throws for a space that is not open. */
import { invalid, PinakesError, show } from "../domain/errors.ts";
import type { SpaceInfo } from "../ports/triple-store.ts";

export type SpaceStatus = SpaceInfo["status"];

/** Checked before a write: `status` is undefined for a space that was never opened. */
export function requireWritable(space: string, status: SpaceStatus | undefined): void {
  if (status === undefined)
    throw new PinakesError("NOT_FOUND", `There is no space ${show(space)} here; open it first.`);
  requireNotClosed(space, status);
}

/** Checked before a read, and before opening: a space that never existed is allowed. */
export function requireNotClosed(space: string, status: SpaceStatus | undefined): void {
  if (status === "fenced")
    throw new PinakesError(
      "CONFLICT",
      `The space ${show(space)} is fenced: it cannot be read or written until it is unfenced.`,
    );
  if (status === "purged")
    throw new PinakesError(
      "CONFLICT",
      `The space ${show(space)} was purged, and its name cannot be reused; open another one.`,
    );
}

/** The precondition of `unfence`. */
export function requireRestorable(space: string, status: SpaceStatus | undefined): void {
  if (status !== "fenced") requireWritable(space, status);
}

export function badCursor(): PinakesError {
  return invalid("The cursor does not belong to this query; start again without it.");
}
