/** Errors of the catalog contract: its own codes, each with a text for the user. */
import { PinakesClientError } from "@pinakes/client";
import { PinakesError } from "../domain/errors.ts";
import type { JsonObject } from "../domain/json.ts";

export const catalogErrorCodes = [
  "INVALID_INPUT",
  "INVALID_NAME",
  "INVALID_DESCRIPTION",
  "DUPLICATE_NAME",
  "LIMIT_EXCEEDED",
  "CATALOG_NOT_FOUND",
  "DOCUMENT_NOT_FOUND",
  "INVALID_FILENAME",
  "INVALID_FILE_TYPE",
  "INVALID_FILE_CONTENT",
  "FILE_TOO_LARGE",
  "FILE_NOT_FOUND",
  "DUPLICATE_FILE",
  "NO_FILES_UPLOADED",
  "NO_SESSION",
  "NO_CATALOG_SELECTED",
  "CATALOG_EMPTY",
  "INDEXING_IN_PROGRESS",
  "CONFIRMATION_REQUIRED",
  "CONFLICT",
  "ACCESS_DENIED",
  "UNAUTHENTICATED",
  "THROTTLED",
  "SERVICE_UNAVAILABLE",
  "INTERNAL_ERROR",
] as const;
export type CatalogErrorCode = (typeof catalogErrorCodes)[number];

export class CatalogError extends Error {
  override readonly name = "CatalogError";
  readonly code: CatalogErrorCode;
  /** Further fields of the envelope's metadata. */
  readonly more: JsonObject;

  constructor(code: CatalogErrorCode, text: string, more: JsonObject = {}, cause?: unknown) {
    super(text, cause === undefined ? undefined : { cause });
    this.code = code;
    this.more = more;
  }
}

/** The API's error as an error of the contract, whichever implementation is behind it; undefined for anything else. */
export function knownError(error: unknown): { readonly code: string; readonly detail: string } | undefined {
  return PinakesError.isInstance(error) || PinakesClientError.isInstance(error) ? error : undefined;
}

export function isKnown(error: unknown, ...codes: readonly string[]): boolean {
  const known = knownError(error);
  return known !== undefined && codes.includes(known.code);
}

const general: Readonly<Record<string, CatalogErrorCode>> = {
  INVALID: "INVALID_INPUT",
  UNAUTHENTICATED: "UNAUTHENTICATED",
  FORBIDDEN: "ACCESS_DENIED",
  NOT_FOUND: "CATALOG_NOT_FOUND",
  GONE: "CATALOG_NOT_FOUND",
  CONFLICT: "CONFLICT",
  PRECONDITION_FAILED: "CONFLICT",
  LIMIT_EXCEEDED: "LIMIT_EXCEEDED",
  THROTTLED: "THROTTLED",
  UNAVAILABLE: "SERVICE_UNAVAILABLE",
};

/** Maps errors of the API to the contract's codes; anything else is an internal error, which is not shown to the user. */
export function asCatalogError(error: unknown): CatalogError | undefined {
  if (error instanceof CatalogError) return error;
  const known = knownError(error);
  const code = known === undefined ? undefined : general[known.code];
  return known === undefined || code === undefined ? undefined : new CatalogError(code, known.detail, {}, error);
}

/** The same, where a response is required: an internal error only says that it happened. */
export function catalogErrorOf(error: PinakesError): CatalogError {
  return asCatalogError(error) ?? new CatalogError("INTERNAL_ERROR", error.detail, {}, error);
}

/** A catalog of another user, one that was deleted and one that never existed give the same answer. */
export function catalogNotFound(catalogId: string): CatalogError {
  return new CatalogError("CATALOG_NOT_FOUND", `There is no catalog "${catalogId}". Use list_catalogs to see yours.`);
}

export function documentNotFound(catalogId: string, documentId: string): CatalogError {
  return new CatalogError(
    "DOCUMENT_NOT_FOUND",
    `There is no document "${documentId}" in catalog "${catalogId}". Use list_catalog_documents to see its documents.`,
  );
}
