/** A name that another collection of the repository has: what callers are told, in words that they know. */
import { PinakesError } from "../../domain/errors.ts";
import type { JsonObject } from "../../domain/json.ts";
import { isPersonalId } from "./ids.ts";

export class NameTaken extends PinakesError {
  constructor(name: string, repositoryId: string, cause: PinakesError) {
    const { batch } = cause.context;
    const detail = `A collection named "${name}" exists in ${repositoryWords(repositoryId)} (names ignore case). Use another name, or change the one that has it.`;
    super("CONFLICT", detail, { cause, ...(batch === undefined ? {} : { batch }) });
  }
}

/** Nobody but the stores knows a user's own repository by its id. */
export function repositoryWords(repositoryId: string): string {
  return isPersonalId(repositoryId) ? "the user's own repository" : `repository "${repositoryId}"`;
}

/** Whether the write of this document could have failed for its name. */
export function hasNameKey(
  document: JsonObject,
): document is JsonObject & { readonly name: string; readonly name_key: string } {
  return (
    document["kind"] === "collection" &&
    typeof document["name_key"] === "string" &&
    typeof document["name"] === "string"
  );
}
