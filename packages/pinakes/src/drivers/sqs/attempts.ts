/**
 * The attempts of a message, stored in the item store: SQS counts every receive, whatever its outcome. One record per message that was ever
 * returned; a message that is done at the first attempt has none. Receives without a record are expired leases.
 */
import { PinakesError } from "../../domain/errors.ts";
import type { Scope } from "../../domain/scope.ts";
import { isConflict } from "../../runtime/expected-errors.ts";
import type { ContainerDefinition, ItemStore } from "../../ports/item-store.ts";
import type { DeadSummary } from "../../ports/queue.ts";
import type { SqsReceipt } from "./envelope.ts";

const container: ContainerDefinition = { name: "queue-attempts", partitionKey: ["queue"], ttl: -1 };
/** Longer than SQS keeps any message (14 days). */
const keptSeconds = 15 * 86_400;
const writeAttemptsMax = 20;

export interface Attempts {
  readonly failures: number;
  readonly released: number;
  /** The receive that ended last: a repeated ending is counted once. */
  readonly receive: number;
  readonly reason?: string;
  /** The next receive makes it a dead letter. */
  readonly condemned?: DeadSummary["cause"];
}

const none: Attempts = { failures: 0, released: 0, receive: 0 };

export class AttemptRecords {
  readonly #items: ItemStore;

  constructor(items: ItemStore) {
    this.#items = items;
  }

  async open(): Promise<void> {
    await this.#items.openContainer(container);
  }

  async read(scope: Scope, queue: string, id: string): Promise<Attempts> {
    return (await this.#stored(scope, queue, id)).attempts;
  }

  /** Counts one ending of one receive, exactly once. */
  async count(
    scope: Scope,
    { queue, id, receives }: SqsReceipt,
    change: (before: Attempts) => Omit<Attempts, "receive">,
  ): Promise<void> {
    for (let attempt = 0; attempt < writeAttemptsMax; attempt += 1) {
      const { attempts, etag } = await this.#stored(scope, queue, id);
      if (attempts.receive >= receives) return;
      const document = { id, queue, v: 1, ttl: keptSeconds, ...change(attempts), receive: receives };
      try {
        await this.#items.write(
          scope,
          container.name,
          [queue],
          etag === undefined ? { op: "create", document } : { op: "replace", document, ifMatch: etag },
        );
        return;
      } catch (error) {
        if (!isConflict(error)) throw error;
      }
    }
    throw new PinakesError("UNAVAILABLE", `The record of message ${id} has too many concurrent changes. Try again.`);
  }

  async #stored(scope: Scope, queue: string, id: string): Promise<{ attempts: Attempts; etag?: string }> {
    const item = await this.#items.read(scope, container.name, { partition: [queue], id });
    if (item === undefined) return { attempts: none };
    const { id: _id, queue: _queue, v: _v, ttl: _ttl, ...attempts } = item.document;
    return { attempts: attempts as unknown as Attempts, etag: item.etag };
  }
}
