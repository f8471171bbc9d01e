import type { ChunkingStrategy } from "../../domain/chunking.ts";
import { PinakesError } from "../../domain/errors.ts";
import { limitWarning } from "../chunking/index.ts";
import type { KnowledgeDependencies } from "../dependencies.ts";

/**
 * Warnings for a chunking strategy and the embedding model that reads its chunks. None if the model cannot be opened now: that is no reason
 * to refuse settings.
 */
export async function chunkingWarnings(
  { embedders }: Pick<KnowledgeDependencies, "embedders">,
  strategy: ChunkingStrategy,
  model: string,
): Promise<readonly string[]> {
  try {
    const warning = limitWarning(strategy, (await embedders.get(model)).model);
    return warning === undefined ? [] : [warning];
  } catch (error) {
    if (PinakesError.isInstance(error)) return [];
    throw error;
  }
}
