/** Filters over several collections, of which each has metadata of its own. */
import { PinakesError } from "../../domain/errors.ts";
import { passageFields } from "../documents/document-metadata.ts";

/**
 * A field that no passage of one collection has may be known in another: there it finds nothing, which is no mistake. In all of them it
 * is one, unless every passage may have it.
 */
export async function knownSomewhere<Found>(searches: readonly Promise<readonly Found[]>[]): Promise<readonly Found[]> {
  const outcomes = await Promise.allSettled(searches);
  const unknown: PinakesError[] = [];
  for (const outcome of outcomes) {
    if (outcome.status === "fulfilled") continue;
    const error: unknown = outcome.reason;
    if (!isUnknownField(error)) throw error instanceof Error ? error : new Error(String(error));
    unknown.push(error);
  }
  const [first] = unknown;
  if (first !== undefined && unknown.length === outcomes.length && !namesOwnField(first)) throw first;
  return outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? outcome.value : []));
}

/** One collection has no such field. */
export function isUnknownField(error: unknown): error is PinakesError {
  return PinakesError.isInstance(error) && error.code === "INVALID" && /^filter\.\S+: no row has a field/.test(error.detail);
}

function namesOwnField(error: PinakesError): boolean {
  return passageFields.some((field) => error.detail.includes(`no row has a field "${field}"`));
}
