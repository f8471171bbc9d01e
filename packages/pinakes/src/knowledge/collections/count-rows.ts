import { PinakesError } from "../../domain/errors.ts";
import type { Scope } from "../../domain/scope.ts";
import type { KnowledgeDependencies } from "../dependencies.ts";
import { ownVectorsName } from "../records/raw-vectors-name.ts";

/** Number of rows with vectors computed by callers; 0 if there never were any. */
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
