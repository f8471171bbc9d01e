/** Collections that the first document, or the first triples, make. */
import type { Caller } from "../../domain/caller.ts";
import { PinakesError } from "../../domain/errors.ts";
import type { Collections, OpenCollection } from "./collections.ts";
import { checkFileName } from "./names.ts";
import type { Repositories } from "./repositories.ts";

/**
 * The first document for a collection that is not there makes it, where the repository says so. A search never does, and neither does a
 * file whose name is refused.
 */
export async function openOrCreate(
  { collections, repositories }: { readonly collections: Collections; readonly repositories: Repositories },
  caller: Caller,
  repositoryId: string,
  collectionId: string,
  file?: { readonly name: string },
  action = "Adding documents",
): Promise<OpenCollection> {
  const needed = { needed: "WRITE", action } as const;
  try {
    return await collections.open(caller, repositoryId, collectionId, needed);
  } catch (error) {
    if (!PinakesError.isInstance(error) || error.code !== "NOT_FOUND") throw error;
    const { record } = await repositories.get(caller, repositoryId);
    if (record.auto_create !== true) throw error;
    if (file !== undefined) checkFileName(file.name);
    try {
      return await collections.create(caller, repositoryId, { collection_id: collectionId });
    } catch (cause) {
      // Made at the same time by another upload; or it is there, and not for this caller.
      if (!PinakesError.isInstance(cause) || cause.code !== "CONFLICT") throw cause;
      return collections.open(caller, repositoryId, collectionId, needed);
    }
  }
}
