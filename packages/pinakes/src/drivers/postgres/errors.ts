/** Errors of PostgreSQL and its client as PinakesErrors. */
import { PinakesError } from "../../domain/errors.ts";

const socketCodes = new Set([
  "ECONNRESET",
  "ECONNREFUSED",
  "ECONNABORTED",
  "EPIPE",
  "ETIMEDOUT",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOENT",
]);
/** The server is shutting down, starting, full, or has become a standby: another connection may succeed. */
const serverGone = new Set(["57P01", "57P02", "57P03", "57P05", "25P03", "25006", "53300"]);
const clientGone =
  /^(Connection terminated|timeout expired|timeout exceeded when trying to connect|Client has encountered a connection error|Client was closed|Query read timeout)/;
const silence = /^Query read timeout/;

const unsent = /^(Client has encountered a connection error|Client was closed)/;

const lockTimeout = "55P03";

export function sqlState(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === "string" ? code : undefined;
}

/** The connection is unusable; whatever it was doing may or may not have been done. */
export function isConnectionLoss(error: unknown): boolean {
  const code = sqlState(error);
  if (code !== undefined && (socketCodes.has(code) || serverGone.has(code) || /^08...$/.test(code))) return true;
  return code === undefined && error instanceof Error && clientGone.test(error.message);
}

/** No answer came, though the server would have sent one by now, if only a timeout. */
export function isSilence(error: unknown): boolean {
  return error instanceof Error && sqlState(error) === undefined && silence.test(error.message);
}

/** The server that answered is a replica: it accepts no writes, and its data may be stale. */
export function standbyAnswered(): Error {
  return Object.assign(new Error("the server that answered is a standby"), { code: "25006" });
}

/** An error that the server sent, as opposed to silence: the server knows what it did. */
export function isServerAnswer(error: unknown): boolean {
  return typeof (error as { severity?: unknown } | null)?.severity === "string";
}

/** pg did not send a statement, because it knew the connection to be dead. */
export function wasNotSent(error: unknown): boolean {
  return error instanceof Error && sqlState(error) === undefined && unsent.test(error.message);
}

/** PostgreSQL asks for the transaction to be repeated: a serialization failure or a deadlock. */
export function isConflict(error: unknown): boolean {
  const code = sqlState(error);
  return code === "40001" || code === "40P01";
}

export function isLockTimeout(error: unknown): boolean {
  return sqlState(error) === lockTimeout;
}

/** As PostgreSQL would say it, for a lock that was not even requested. */
export function lockNotGranted(why: string): Error {
  return Object.assign(new Error(why), { code: lockTimeout });
}

/** A column or table that this process expects is gone: another process has changed the container. */
export function isOutdated(error: unknown): boolean {
  const cause = PinakesError.isInstance(error) ? error.cause : error;
  const code = sqlState(cause);
  return code === "42703" || code === "42P01";
}

export function outcomeUnknown(cause: unknown): PinakesError {
  return new PinakesError(
    "UNAVAILABLE",
    "The connection to PostgreSQL broke while a write was being committed: it may have been stored or not. Do not repeat it blindly: read the item and decide.",
    { cause, retryable: false },
  );
}

export function toPinakesError(error: unknown): PinakesError {
  if (PinakesError.isInstance(error)) return error;
  const code = sqlState(error);
  const text = error instanceof Error ? error.message : String(error);
  if (isConnectionLoss(error))
    return new PinakesError(
      "UNAVAILABLE",
      `PostgreSQL cannot be reached: ${text || code}. Check the address (PINAKES_ITEMS) and that the server runs; then try again.`,
      { cause: error },
    );
  if (isLockTimeout(error) || isConflict(error))
    return new PinakesError(
      "UNAVAILABLE",
      `Others are writing the same data in PostgreSQL and did not finish in time: ${text}. Try again.`,
      { cause: error },
    );
  if (code === "57014")
    return new PinakesError(
      "UNAVAILABLE",
      `PostgreSQL cancelled the statement: ${text}. Ask for less at once, or try again.`,
      { cause: error },
    );
  if (code?.startsWith("53"))
    return new PinakesError("UNAVAILABLE", `PostgreSQL lacks resources: ${text}.`, { cause: error });
  if (code?.startsWith("28") || code === "3D000")
    return new PinakesError(
      "INVALID",
      `url: PostgreSQL refused the connection: ${text}. Check user, password and database.`,
      { cause: error },
    );
  if (code === "XX001" || code === "XX002")
    return new PinakesError("CORRUPT", `PostgreSQL reports damaged data: ${text}.`, { cause: error });
  return new PinakesError(
    "INTERNAL",
    `PostgreSQL refused a statement of the driver${code === undefined ? "" : ` (${code})`}: ${text}.`,
    { cause: error },
  );
}
