/** Errors of SQLite as PinakesErrors. */
import { PinakesError, type ErrorCode } from "../../domain/errors.ts";

/** Primary codes of SQLite: locked, disk full, or an I/O error. They come from the machine, and may be transient. */
const machine = new Set([5, 10, 13]);
/** A corrupt file, or one that is not a database. */
const corrupt = new Set([11, 26]);

export function isMachineError(error: unknown): boolean {
  return machine.has(primaryCode(error));
}

export function codeOf(error: unknown): ErrorCode {
  const code = primaryCode(error);
  if (machine.has(code)) return "UNAVAILABLE";
  return corrupt.has(code) ? "CORRUPT" : "INTERNAL";
}

export function toPinakesError(error: unknown): unknown {
  if (PinakesError.isInstance(error) || !(error instanceof Error) || !("errcode" in error)) return error;
  return new PinakesError(codeOf(error), `SQLite: ${error.message}.`, { cause: error });
}

function primaryCode(error: unknown): number {
  return error instanceof Error && "errcode" in error ? Number(error.errcode) & 0xff : 0;
}
