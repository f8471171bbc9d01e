/** The progress of a move, stored in the target, so that any process can resume it. */
import type { JsonObject } from "../../domain/json.ts";
import type { Scope, SystemScope } from "../../domain/scope.ts";
import type { ContainerDefinition, ItemStore } from "../../ports/item-store.ts";

export const movesContainer: ContainerDefinition = Object.freeze({ name: "engine-moves", partitionKey: ["move"] });
/** No caller can have this tenant. */
const movesTenant = "pinakes.moves";
const move = "move";

export interface MoveProgress {
  readonly cursor: string | undefined;
  readonly copied: number;
  readonly done: boolean;
}

export class MoveRecord {
  readonly #items: ItemStore;
  readonly #scope: Scope;

  private constructor(items: ItemStore, scope: Scope) {
    this.#items = items;
    this.#scope = scope;
  }

  static async open(items: ItemStore, system: SystemScope): Promise<MoveRecord> {
    await items.openContainer(movesContainer);
    return new MoveRecord(items, system.forTenant(movesTenant));
  }

  async read(part: string): Promise<MoveProgress> {
    const item = await this.#items.read(this.#scope, movesContainer.name, { partition: [move], id: part });
    const { cursor, copied = 0, done = false } = (item?.document ?? {}) as unknown as Partial<MoveProgress>;
    return { cursor, copied, done };
  }

  async write(part: string, progress: MoveProgress): Promise<void> {
    await this.#items.write(this.#scope, movesContainer.name, [move], {
      op: "upsert",
      document: { id: part, move, ...(progress as unknown as JsonObject) },
    });
  }
}
