/**
 * Mastra's storage on Pinakes. It has the domains memory, workflows, scores and threadState; for every other one `getStore` answers
 * undefined, as Mastra means it, and another store can be composed in for it.
 */
import { MastraCompositeStore, type StorageDomains } from "@mastra/core/storage";
import type { StateApi } from "@pinakes/client";
import { PinakesMemory } from "./memory/pinakes-memory.ts";
import { PinakesScores } from "./scores.ts";
import { PinakesThreadState } from "./thread-state.ts";
import { PinakesWorkflows } from "./workflows/pinakes-workflows.ts";

export interface PinakesStoreConfig {
  readonly api: Pick<StateApi, "containers">;
  /** Of this store among Mastra's. Default: "pinakes". */
  readonly id?: string | undefined;
  /** Begins the names of its containers, so that several stores can share a workspace. Default: "mastra". */
  readonly prefix?: string | undefined;
}

/**
 * @example
 * const mastra = new Mastra({ storage: new PinakesStore({ api: createStateClient({ url, apiKey }).api }), agents, workflows });
 */
export class PinakesStore extends MastraCompositeStore {
  override stores: StorageDomains;

  constructor({ api, id = "pinakes", prefix = "mastra" }: PinakesStoreConfig) {
    super({ id, name: "PinakesStore" });
    this.stores = {
      memory: new PinakesMemory(api.containers, prefix),
      workflows: new PinakesWorkflows(api.containers, prefix),
      scores: new PinakesScores(api.containers, prefix),
      threadState: new PinakesThreadState(api.containers, prefix),
    };
  }
}
