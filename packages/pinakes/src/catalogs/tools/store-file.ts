/** Stores one file in a catalog, from a tool's base64 or from a part of a form. */
import type { UploadedDocument } from "@pinakes/client";
import { fileTypeOf } from "../../domain/file-type.ts";
import { PinakesError, show } from "../../domain/errors.ts";
import { CatalogError, catalogNotFound, isKnown, knownError } from "../catalog-error.ts";
import { checkInput, type CatalogContext } from "../catalog-tool.ts";
import { catalogFileTypes, catalogLimits } from "../limits.ts";
import { filename as filenameField } from "./fields.ts";
import { catalogRef, openCatalog } from "./open-catalog.ts";
import { z } from "zod";

export interface FileToStore {
  readonly filename: string;
  readonly body: AsyncIterable<Uint8Array> | Uint8Array;
  readonly replace: boolean;
}

/** Uploads to a catalog that is known to exist. */
export type TakeFile = (file: {
  readonly name: string;
  readonly body: FileToStore["body"];
  readonly replace: boolean;
}) => Promise<UploadedDocument>;

const Named = z.object({ filename: filenameField });

/** All checks that are possible before the first byte. */
export function checkFile(filename: string): void {
  checkInput(Named, { filename });
  const type = fileTypeOf(filename);
  if (!catalogFileTypes.some((allowed) => allowed === type))
    throw new CatalogError(
      "INVALID_FILE_TYPE",
      `${show(filename)} is not a file type that a catalog accepts; its extension must be one of ${catalogFileTypes.join(", ")}.`,
      { allowed_types: [...catalogFileTypes] },
    );
}

export async function storeFile(
  context: CatalogContext,
  catalogId: string,
  { filename, body, replace }: FileToStore,
  take: TakeFile = (file) =>
    context.knowledge.documents.upload(catalogRef(catalogId), file, { signal: context.signal }),
): Promise<UploadedDocument> {
  checkFile(filename);
  // An upload may create a collection that does not exist; a catalog is only created by name.
  await openCatalog(context, catalogId);
  try {
    return await take({ name: filename, body: bounded(body, filename), replace });
  } catch (error) {
    throw uploadError(error, catalogId, filename);
  }
}

/** Thrown where the server reads the bytes, as the server's own error, so that it rolls the upload back as it would for its own limit. */
class TooLarge extends PinakesError {
  constructor() {
    super("LIMIT_EXCEEDED", "The file is larger than a catalog accepts.");
  }
}

/** The limit of catalogs, if the server itself accepts more. */
function bounded(body: FileToStore["body"], filename: string): FileToStore["body"] {
  if (!(body instanceof Uint8Array)) return boundedPieces(body);
  if (body.byteLength > catalogLimits.fileBytesMax) throw fileTooLarge(filename);
  return body;
}

async function* boundedPieces(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const piece of pieces) {
    bytes += piece.byteLength;
    if (bytes > catalogLimits.fileBytesMax) throw new TooLarge();
    yield piece;
  }
}

export function fileTooLarge(filename: string): CatalogError {
  const { fileBytesMax } = catalogLimits;
  return new CatalogError(
    "FILE_TOO_LARGE",
    `${show(filename)} is larger than ${fileBytesMax} bytes (50 MB), the maximum for a catalog.`,
    { max_file_size_mb: fileBytesMax / 1_048_576 },
  );
}

function uploadError(error: unknown, catalogId: string, filename: string): unknown {
  const known = knownError(error);
  if (known === undefined) return error;
  if (error instanceof TooLarge) return fileTooLarge(filename);
  if (isKnown(error, "NOT_FOUND", "GONE")) return catalogNotFound(catalogId);
  if (known.code === "CONFLICT")
    return new CatalogError(
      "DUPLICATE_FILE",
      `The catalog already has a file named ${show(filename)} (names are case-insensitive). Send it with replace=true to replace it, or choose another name. (${known.detail})`,
      {},
      error,
    );
  return known.code === "INVALID" ? new CatalogError("INVALID_FILE_CONTENT", known.detail, {}, error) : error;
}
