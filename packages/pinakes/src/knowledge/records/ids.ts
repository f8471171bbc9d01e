/** Derived ids: of a personal repository, of a model's default collection, of a document's source. */
import { hash } from "node:crypto";
import { knowledgeLimits } from "../limits.ts";
import { nameKey } from "./names.ts";

/** The alias of the caller's personal repository. */
export const personalAlias = "me";
const personalPrefix = "personal-";

export function personalRepositoryId(userId: string): string {
  return personalPrefix + digest(userId).slice(0, 32);
}

export function isPersonalId(repositoryId: string): boolean {
  return repositoryId.startsWith(personalPrefix);
}

/** The model's id if it is a valid one, otherwise a slug with a hash. */
export function defaultCollectionId(modelId: string): string {
  if (
    new RegExp(`^[A-Za-z0-9._-]{1,${knowledgeLimits.idCharsMax}}$`).test(modelId) &&
    modelId !== "." &&
    modelId !== ".."
  )
    return modelId;
  return `${modelId.replaceAll(/[^A-Za-z0-9._-]+/g, "-").slice(0, 80)}-${digest(modelId).slice(0, 12)}`;
}

/** Documents of a collection with the same key are the same document. */
export function sourceKey(uri: string): string {
  return digest(uri);
}

/** Identifies an upload by its name, case-insensitively. */
export function uploadUri(fileName: string): string {
  return `upload:${nameKey(fileName)}`;
}

function digest(text: string): string {
  return hash("sha256", text, "hex");
}
