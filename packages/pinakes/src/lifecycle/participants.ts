/**
 * The registered stores, shared by all processes of the deployment. A registered store takes part in every unfinished operation, whichever
 * process runs it.
 */
import { PinakesError, invalid, show } from "../domain/errors.ts";
import type { JsonObject } from "../domain/json.ts";
import type { Scope } from "../domain/scope.ts";
import { succeeds } from "../runtime/expected-errors.ts";
import type { ContainerDefinition, ItemStore } from "../ports/item-store.ts";
import { lifecycleLimits } from "./limits.ts";
import type { ParticipantInfo } from "./participant.ts";
import { checkStore, storeClasses, type Topics } from "./topics.ts";

export const participantsContainer: ContainerDefinition = Object.freeze({
  name: "lifecycle-participants",
  partitionKey: ["part"],
});
const part = "registry";

export interface RegisteredParticipant extends ParticipantInfo {
  readonly topic: string;
}

export class Participants {
  readonly #items: ItemStore;
  readonly #scope: Scope;
  readonly #topics: Topics;

  constructor(items: ItemStore, scope: Scope, topics: Topics) {
    this.#items = items;
    this.#scope = scope;
    this.#topics = topics;
  }

  /** Idempotent. */
  async register(input: ParticipantInfo): Promise<RegisteredParticipant> {
    const info = checkInfo(input);
    const known = await this.list();
    const same = known.find(({ store }) => store === info.store);
    if (same !== undefined && same.class !== info.class)
      throw new PinakesError(
        "CONFLICT",
        `A store "${info.store}" of class ${same.class} is already registered; choose another name.`,
      );
    const participant = { ...info, topic: this.#topics.of(info.class, info.store) };
    if (same !== undefined && JSON.stringify(same) === JSON.stringify(participant)) return same;
    if (same === undefined && known.length >= lifecycleLimits.participantsMax)
      throw new PinakesError(
        "LIMIT_EXCEEDED",
        `There are already ${known.length} stores, the maximum. Unregister one first.`,
      );
    await this.#items.write(this.#scope, participantsContainer.name, [part], {
      op: "upsert",
      document: { id: info.store, part, ...(participant as unknown as JsonObject) },
    });
    return participant;
  }

  /** No operation waits for it any more; those in progress become partial. Returns whether it was registered. */
  async unregister(store: string): Promise<boolean> {
    return succeeds(
      this.#items.write(this.#scope, participantsContainer.name, [part], { op: "delete", id: checkStore(store) }),
      "NOT_FOUND",
    );
  }

  /** From the partition itself, not an index: a store that is missed would keep its data. */
  async list(): Promise<readonly RegisteredParticipant[]> {
    const { items } = await this.#items.query(this.#scope, participantsContainer.name, {
      equals: { part },
      limit: 100,
    });
    return items.map(({ document }) => {
      const { store, class: storeClass, capabilities, topic } = document as unknown as RegisteredParticipant;
      return { store, class: storeClass, capabilities, topic };
    });
  }
}

function checkInfo({ store, class: storeClass, capabilities }: ParticipantInfo): ParticipantInfo {
  checkStore(store);
  if (!storeClasses.includes(storeClass))
    throw invalid(`class: must be one of ${storeClasses.join(", ")}, got ${show(storeClass)}.`);
  const { delete: removes, archive, list } = capabilities;
  if ([removes, archive, list].some((flag) => typeof flag !== "boolean"))
    throw invalid("capabilities: delete, archive and list must be true or false.");
  return { store, class: storeClass, capabilities: { delete: removes, archive, list } };
}
