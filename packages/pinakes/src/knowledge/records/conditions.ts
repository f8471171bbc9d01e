/** Etag conflicts in terms of the caller's resource: the item store's message names items and batches, which callers do not know. */
import { hasCode, PinakesError } from "../../domain/errors.ts";

function changed(what: string, currentEtag: string | undefined, cause?: unknown): PinakesError {
  const now = currentEtag === undefined ? "" : ` Its etag is now "${currentEtag}".`;
  const detail = `${what} has changed since it was read; read it again and repeat the change.${now}`;
  return new PinakesError("PRECONDITION_FAILED", detail, {
    ...(currentEtag === undefined ? {} : { currentEtag }),
    ...(cause === undefined ? {} : { cause }),
  });
}

/** Before long work starts. Changes made while it runs do not stop it. */
export function requireEtag(currentEtag: string, wanted: string | undefined, what: string): void {
  if (wanted !== undefined && wanted !== currentEtag) throw changed(what, currentEtag);
}

/** `what` names the resource: `Collection "notes"`. */
export async function conditionOn<Result>(what: string, write: Promise<Result>): Promise<Result> {
  try {
    return await write;
  } catch (error) {
    if (hasCode(error, "PRECONDITION_FAILED")) throw changed(what, error.context.currentEtag, error);
    throw error;
  }
}
