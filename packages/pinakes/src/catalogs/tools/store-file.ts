/** One file into a catalog, from a tool's base64 or from a part of a form. */
import type { UploadBody, UploadedDocument } from "@pinakes/client";
import { fileTypeOf } from "../../domain/file-type.ts";
import { show } from "../../domain/errors.ts";
import { CatalogError, catalogNotFound, isKnown, knownError } from "../catalog-error.ts";
import { checkInput, type CatalogContext } from "../catalog-tool.ts";
import { catalogFileTypes, catalogLimits } from "../limits.ts";
import { filename as filenameField } from "./fields.ts";
import { catalogRef, openCatalog } from "./open-catalog.ts";
import { z } from "zod";

export interface FileToStore {
  readonly filename: string;
  readonly body: UploadBody;
  readonly replace: boolean;
}

const Named = z.object({ filename: filenameField });

/** All that can be known of a file before its first byte. */
export function checkFile(filename: string): void {
  checkInput(Named, { filename });
  const type = fileTypeOf(filename);
  if (!catalogFileTypes.some((allowed) => allowed === type))
    throw new CatalogError(
      "INVALID_FILE_TYPE",
      `${show(filename)} is not a file that a catalog takes; its extension must be one of ${catalogFileTypes.join(", ")}.`,
      { allowed_types: [...catalogFileTypes] },
    );
}

export async function storeFile(
  context: CatalogContext,
  catalogId: string,
  { filename, body, replace }: FileToStore,
): Promise<UploadedDocument> {
  checkFile(filename);
  const { knowledge, signal } = context;
  try {
    return await knowledge.documents.upload(catalogRef(catalogId), { name: filename, body, replace }, { signal });
  } catch (error) {
    throw await uploadError(context, error, catalogId, filename);
  }
}

export function fileTooLarge(filename: string): CatalogError {
  const { fileBytesMax } = catalogLimits;
  return new CatalogError(
    "FILE_TOO_LARGE",
    `${show(filename)} is larger than ${fileBytesMax} bytes (50 MB), which is the most a catalog takes.`,
    { max_file_size_mb: fileBytesMax / 1_048_576 },
  );
}

async function uploadError(
  context: CatalogContext,
  error: unknown,
  catalogId: string,
  filename: string,
): Promise<unknown> {
  const known = knownError(error);
  if (known === undefined) return error;
  if (isKnown(error, "NOT_FOUND", "GONE")) return catalogNotFound(catalogId);
  if (known.code === "CONFLICT")
    return new CatalogError(
      "DUPLICATE_FILE",
      `The catalog has a file named ${show(filename)} already (names ignore case). Send it with replace=true to replace it, or choose another name. (${known.detail})`,
      {},
      error,
    );
  if (known.code === "INVALID") {
    await openCatalog(context, catalogId);
    return new CatalogError("INVALID_FILE_CONTENT", known.detail, {}, error);
  }
  return error;
}
