/**
 * Errors that the caller expects, identified by code: another writer removed, created or changed something concurrently. Everything else is
 * rethrown.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { hasCode, type ErrorCode, type PinakesError } from "../domain/errors.ts";

/** Codes with which a conditional write fails when it loses a race. */
export const conflictCodes = ["CONFLICT", "PRECONDITION_FAILED", "NOT_FOUND"] as const;

/** Whether a conditional write lost a race: the data it was based on is stale. */
export function isConflict(error: unknown): error is PinakesError {
  return hasCode(error, ...conflictCodes);
}

/** The same for a batch: an error of one operation outside a batch, which the caller's own checks throw, is not a lost race. */
export function isBatchConflict(error: unknown): error is PinakesError {
  return isConflict(error) && error.context.batch !== undefined;
}

/**
 * The result of the work, or undefined if it fails with one of these codes.
 *
 * @example await tolerate(items.write(scope, "notes", ["n1"], { op: "delete", id }), "NOT_FOUND");
 */
export async function tolerate<Result>(
  work: Promise<Result>,
  ...codes: readonly ErrorCode[]
): Promise<Result | undefined> {
  try {
    return await work;
  } catch (error) {
    if (hasCode(error, ...codes)) return undefined;
    throw error;
  }
}

/** The result of the work, or undefined if it fails with NOT_FOUND. */
export function ifMissing<Result>(work: Promise<Result>): Promise<Result | undefined> {
  return tolerate(work, "NOT_FOUND");
}

/** True if the work succeeds, false if it fails with one of these codes. */
export async function succeeds(work: Promise<unknown>, ...codes: readonly ErrorCode[]): Promise<boolean> {
  try {
    await work;
    return true;
  } catch (error) {
    if (hasCode(error, ...codes)) return false;
    throw error;
  }
}

export interface RetryOptions {
  /** Total number of attempts; unlimited if absent. */
  readonly attemptsMax?: number | undefined;
  /** Whether an error means a lost race. */
  readonly isConflict?: (error: unknown) => boolean;
  /** Waits a random time before each retry; its upper bound doubles up to this. */
  readonly pauseMsMax?: number | undefined;
}

/**
 * Optimistic concurrency: `attempt` reads, decides, and writes on the condition that nothing has changed; it is repeated when it lost a
 * race. It must not throw a conflict for any other reason: a missing record is not a lost race.
 */
export async function retryOnConflict<Result>(
  attempt: (number: number) => Promise<Result>,
  { attemptsMax = Infinity, isConflict: isLost = isConflict, pauseMsMax = 0 }: RetryOptions = {},
): Promise<Result> {
  for (let number = 1; ; number += 1) {
    try {
      return await attempt(number);
    } catch (error) {
      if (!isLost(error) || number >= attemptsMax) throw error;
    }
    if (pauseMsMax > 0) await sleep(Math.random() * Math.min(pauseMsMax, 2 ** number));
  }
}
