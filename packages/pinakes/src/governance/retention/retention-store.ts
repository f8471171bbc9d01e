/** What a workspace has changed of its lifetimes and that is not a container's, and the previews that confirm changes. */
import type { Scope } from "../../domain/scope.ts";
import type { ContainerDefinition, ItemStore } from "../../ports/item-store.ts";
import { governanceLimits } from "../limits.ts";

export const retentionContainer: ContainerDefinition = Object.freeze({
  name: "retention-settings",
  partitionKey: ["topic"],
  ttl: -1,
});
const trash = ["trash"] as const;
const previews = ["previews"] as const;
const trashId = "lifetime";

interface Previewed {
  readonly name: string;
  readonly seconds: number | null;
}

export class RetentionStore {
  readonly #items: ItemStore;
  readonly #newId: () => string;

  constructor({ items, newId }: { readonly items: ItemStore; readonly newId: () => string }) {
    this.#items = items;
    this.#newId = newId;
  }

  async open(): Promise<this> {
    await this.#items.openContainer(retentionContainer);
    return this;
  }

  /** Read at each delete, so that a change applies to the next one in every process. */
  async trashSeconds(scope: Scope): Promise<number | undefined> {
    const found = await this.#items.read(scope, retentionContainer.name, { partition: trash, id: trashId });
    return found?.document["seconds"] as number | undefined;
  }

  async setTrash(scope: Scope, seconds: number): Promise<void> {
    const document = { id: trashId, topic: trash[0], v: 1, seconds };
    await this.#items.write(scope, retentionContainer.name, trash, { op: "upsert", document });
  }

  /** Returns what confirms the previewed change for an hour. */
  async keepPreview(scope: Scope, { name, seconds }: Previewed): Promise<string> {
    const id = this.#newId();
    const ttl = governanceLimits.confirmationSeconds;
    const document = { id, topic: previews[0], v: 1, name, seconds, ttl };
    await this.#items.write(scope, retentionContainer.name, previews, { op: "create", document });
    return id;
  }

  async previewed(scope: Scope, confirmation: string, { name, seconds }: Previewed): Promise<boolean> {
    const found = await this.#items.read(scope, retentionContainer.name, { partition: previews, id: confirmation });
    return found?.document["name"] === name && found.document["seconds"] === seconds;
  }
}
