/** How many rows of a collection callers embedded themselves. */
import { PinakesError } from "../../domain/errors.ts";
import type { Scope } from "../../domain/scope.ts";
import type { KnowledgeDependencies } from "../dependencies.ts";
import { ownVectorsName } from "../records/raw-vectors-name.ts";

/** 0 where there never were any, which costs one read. */
export async function countOwnRows(
  { vectors }: Pick<KnowledgeDependencies, "vectors">,
  scope: Scope,
  incarnation: string,
): Promise<number> {
  try {
    return await vectors.count(scope, ownVectorsName(incarnation));
  } catch (error) {
    if (PinakesError.isInstance(error) && error.code === "NOT_FOUND") return 0;
    throw error;
  }
}
