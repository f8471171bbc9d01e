/** The envelope as an HTTP response: its error code determines the status. */
import type { CatalogEnvelope, CatalogErrorCode } from "../../../catalogs/index.ts";
import { CatalogEnvelopeSchema } from "../../../catalogs/index.ts";
import type { Answer } from "../../framework/index.ts";

export const Envelope = CatalogEnvelopeSchema.meta({ id: "CatalogEnvelope" });

const statuses: Readonly<Record<CatalogErrorCode, number>> = {
  INVALID_INPUT: 400,
  INVALID_NAME: 400,
  INVALID_DESCRIPTION: 400,
  INVALID_FILENAME: 400,
  INVALID_FILE_CONTENT: 400,
  NO_FILES_UPLOADED: 400,
  NO_SESSION: 400,
  CONFIRMATION_REQUIRED: 400,
  UNAUTHENTICATED: 401,
  ACCESS_DENIED: 403,
  CATALOG_NOT_FOUND: 404,
  DOCUMENT_NOT_FOUND: 404,
  FILE_NOT_FOUND: 404,
  DUPLICATE_NAME: 409,
  DUPLICATE_FILE: 409,
  NO_CATALOG_SELECTED: 409,
  CATALOG_EMPTY: 409,
  INDEXING_IN_PROGRESS: 409,
  CONFLICT: 409,
  LIMIT_EXCEEDED: 413,
  FILE_TOO_LARGE: 413,
  INVALID_FILE_TYPE: 415,
  THROTTLED: 429,
  INTERNAL_ERROR: 500,
  SERVICE_UNAVAILABLE: 503,
};

export function answerOf(envelope: CatalogEnvelope, success: number = 200): Answer<CatalogEnvelope> {
  const { error_code } = envelope.metadata;
  return {
    status: error_code === undefined ? success : statuses[error_code as CatalogErrorCode],
    body: envelope,
  };
}

/** Other responses that every route may return; the framework's own errors have this form as well. */
export const errors = Object.fromEntries(
  [...new Set([...Object.values(statuses), 406, 410, 412, 501])].map((status) => {
    const codes = Object.entries(statuses).filter(([, own]) => own === status);
    const names = codes.map(([code]) => code).join(", ");
    return [status, { description: names === "" ? "An error of HTTP." : `${names}.`, schema: Envelope }];
  }),
);
