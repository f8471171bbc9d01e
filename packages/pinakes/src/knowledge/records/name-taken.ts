/** The name is already used by another collection of the repository. */
import { PinakesError } from "../../domain/errors.ts";
import type { JsonObject } from "../../domain/json.ts";
import { isPersonalId } from "./ids.ts";

export class NameTaken extends PinakesError {
  constructor(name: string, repositoryId: string, cause: PinakesError) {
    const { batch } = cause.context;
    const detail = `A collection named "${name}" already exists in ${repositoryWords(repositoryId)} (names are case-insensitive). Use another name, or rename the existing one.`;
    super("CONFLICT", detail, { cause, reason: "collection_name_taken", ...(batch === undefined ? {} : { batch }) });
  }
}

/** Users do not know their personal repository by its id. */
export function repositoryWords(repositoryId: string): string {
  return isPersonalId(repositoryId) ? "the user's personal repository" : `repository "${repositoryId}"`;
}

/** Whether a write of this document could violate the unique name. */
export function hasNameKey(
  document: JsonObject,
): document is JsonObject & { readonly name: string; readonly name_key: string } {
  return (
    document["kind"] === "collection" &&
    typeof document["name_key"] === "string" &&
    typeof document["name"] === "string"
  );
}
