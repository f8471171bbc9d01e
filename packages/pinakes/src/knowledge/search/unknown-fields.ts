/** Filters over several collections, of which each has metadata of its own. */
import { hasCode, type PinakesError } from "../../domain/errors.ts";
import { passageFields } from "../documents/document-metadata.ts";

const unknownField = /^filter\..*?: no row has a field "(.*?)"[.;]/s;

/**
 * One collection has no such field. It matches nothing there, as in a collection that has no passages at all, so it is no error: an answer
 * names the fields that no collection knows.
 */
export function isUnknownField(error: unknown): error is PinakesError {
  return hasCode(error, "INVALID") && unknownField.test(error.detail);
}

/** The field, unless every passage may have it. */
export function unknownFieldOf(error: PinakesError): string | undefined {
  const field = unknownField.exec(error.detail)?.[1];
  return field === undefined || passageFields.includes(field as never) ? undefined : field;
}
