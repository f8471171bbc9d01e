/**
 * Mastra's storage on Pinakes. It has the domains memory, workflows, scores and threadState; for every other one `getStore` returns
 * undefined, as Mastra specifies, and another store can be composed in for it.
 */
import { MastraCompositeStore, type StorageDomains, ThreadStateStorage } from "@mastra/core/storage";
import type { StateApi, ContainersApi } from "@pinakes/client";
import { PinakesMemory } from "./memory/pinakes-memory.ts";
import { PinakesScores } from "./scores.ts";
import { Container, type Document } from "./container.ts";
import { toJson } from "./json.ts";
import { PinakesWorkflows } from "./workflows/pinakes-workflows.ts";

export interface PinakesStoreConfig {
  readonly api: Pick<StateApi, "containers">;
  /** Name of this store among Mastra's. Default: "pinakes". */
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

interface StateKey {
  readonly threadId: string;
  readonly type: string;
}

/** Mastra's thread-state domain: one value per thread and kind, such as the list of tasks or the goal of an agent. */
class PinakesThreadState extends ThreadStateStorage {
  readonly #container: Container<Document>;

  constructor(api: ContainersApi, prefix: string) {
    super();
    this.#container = new Container(api, `${prefix}-thread-state`, { partition_key: "/threadId" });
  }

  async init(): Promise<void> {
    await this.#container.ready();
  }

  async dangerouslyClearAll(): Promise<void> {
    await this.#container.clear();
  }

  async getState<T = unknown>({ threadId, type }: StateKey): Promise<T | undefined> {
    const document = await this.#container.read({ pk: threadId, id: type });
    return document === null ? undefined : (document["value"] as T);
  }

  async setState<T = unknown>({ threadId, type, value }: StateKey & { readonly value: T }): Promise<void> {
    await this.#container.put({ id: type, threadId, value: toJson(value) });
  }

  async deleteState({ threadId, type }: StateKey): Promise<void> {
    await this.#container.delete({ pk: threadId, id: type });
  }
}
