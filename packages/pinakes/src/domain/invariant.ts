import { PinakesError, type ErrorCode } from "./errors.ts";

/** Asserted in production too: a broken invariant stops the call before it can do harm. */
export function invariant(condition: unknown, code: ErrorCode, detail: string): asserts condition {
  if (!condition) throw new PinakesError(code, detail);
}
