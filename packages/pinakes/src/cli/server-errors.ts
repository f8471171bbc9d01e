/** The errors of a server as those that the stores throw, so that a command handles one kind. */
import { PinakesClientError } from "@pinakes/client";
import { errorCodes, PinakesError, type ErrorCode } from "../domain/errors.ts";

/** An API over HTTP whose calls throw PinakesError. */
export function engineErrors<Api extends object>(api: Api): Api {
  return Object.fromEntries(
    Object.entries(api).map(([name, group]) => [name, guardedGroup(group as Group)]),
  ) as unknown as Api;
}

type Group = Readonly<Record<string, (...args: unknown[]) => unknown>>;

function guardedGroup(group: Group): Group {
  return Object.fromEntries(
    Object.entries(group).map(([name, method]) => [
      name,
      (...args: unknown[]) => {
        const result = method(...args);
        if (result instanceof Promise) return result.catch((error: unknown) => Promise.reject(engineError(error)));
        return isStream(result) ? guardedStream(result) : result;
      },
    ]),
  );
}

async function* guardedStream(stream: AsyncIterable<unknown>): AsyncGenerator<unknown, void> {
  try {
    yield* stream;
  } catch (error) {
    throw engineError(error);
  }
}

function isStream(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === "object" && value !== null && Symbol.asyncIterator in value;
}

function engineError(error: unknown): Error {
  if (!PinakesClientError.isInstance(error)) return error instanceof Error ? error : new Error(String(error));
  const { code, detail, retryable, currentEtag, batch } = error;
  return new PinakesError(isCode(code) ? code : "UNAVAILABLE", detail, {
    cause: error,
    retryable,
    ...(currentEtag === undefined ? {} : { currentEtag }),
    ...(batch === undefined ? {} : { batch }),
  });
}

function isCode(code: string): code is ErrorCode {
  return (errorCodes as readonly string[]).includes(code);
}
