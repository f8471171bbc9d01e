/** Which index of the table serves an index of the container, and whether it can be queried. */
import { PinakesError } from "../../domain/errors.ts";
import { indexBuilding } from "../../items/item-engine.ts";
import type { CompiledContainer } from "../../items/compiled-container.ts";
import type { Definition, Definitions } from "./definitions.ts";
import { indexGsi } from "./schema.ts";

export interface IndexInTable {
  readonly name: string;
  readonly gsi: string;
  /** The attributes that are its key. */
  readonly partition: string;
  readonly sort: string;
}

export interface BuildState {
  readonly progress: number;
  readonly error: string | undefined;
}

export function indexInTable(name: string, id: number): IndexInTable {
  return { name, gsi: indexGsi(name, id).gsi, partition: `p${id}`, sort: `s${id}` };
}

/**
 * Rejects an index that is not complete, after checking once more; and one that another process has redefined since the caller planned its
 * query.
 */
export async function requireReady(
  definitions: Definitions,
  container: CompiledContainer,
  name: string,
  buildState: (definition: Definition) => Promise<BuildState>,
): Promise<{ definition: Definition; index: IndexInTable }> {
  let definition = await definitions.current(container.name);
  if (definition.stored.indexes[name]?.ready !== true) definition = await definitions.refresh(container.name);
  const state = definition.stored.indexes[name];
  const planned = JSON.stringify(container.definition.indexes[name]);
  if (state === undefined || planned !== JSON.stringify(definition.stored.definition.indexes[name])) {
    throw new PinakesError(
      "UNAVAILABLE",
      `Index "${name}" of container "${container.name}" was changed by another process just now. Try again.`,
    );
  }
  if (!state.ready) {
    const { progress, error } = await buildState(definition);
    if (error === undefined) throw indexBuilding(container.name, name, progress);
    throw new PinakesError(
      "UNAVAILABLE",
      `Index "${name}" of container "${container.name}" could not be built: ${error} Fix that and open the container again.`,
      { retryable: false },
    );
  }
  return { definition, index: indexInTable(name, state.id) };
}
