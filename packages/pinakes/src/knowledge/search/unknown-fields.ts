/** Filters over several collections, each with its own metadata. */
import { hasCode, type PinakesError } from "../../domain/errors.ts";
import { passageFields } from "../documents/document-metadata.ts";

const unknownField = /^filter\..*?: no row has a field "(.*?)"[.;]/s;

/**
 * A field that one collection lacks. It matches nothing there, as in an empty collection, so it is not an error; the answer lists fields
 * that no collection knows.
 */
export function isUnknownField(error: unknown): error is PinakesError {
  return hasCode(error, "INVALID") && unknownField.test(error.detail);
}

/** The field, unless every chunk may have it. */
export function unknownFieldOf(error: PinakesError): string | undefined {
  const field = unknownField.exec(error.detail)?.[1];
  return field === undefined || passageFields.includes(field as never) ? undefined : field;
}
