/** Mastra's thread-state domain: one value per thread and kind, such as the list of tasks or the goal of an agent. */
import { ThreadStateStorage } from "@mastra/core/storage";
import type { ContainersApi } from "@pinakes/client";
import { Container, type Document } from "./container.ts";
import { toJson } from "./json.ts";

interface StateKey {
  readonly threadId: string;
  readonly type: string;
}

export class PinakesThreadState extends ThreadStateStorage {
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
