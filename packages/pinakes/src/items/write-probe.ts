/**
 * Whether writes work, for the readiness check. Reads continue while a disk is full, so they prove nothing about writes.
 *
 * A small write is tried at most every few seconds. Once any write of this process failed because the store was unavailable, each check
 * tries a larger one, which needs new space, until it succeeds: readiness recovers by itself, without traffic.
 */
import { hasCode } from "../domain/errors.ts";
import type { Scope } from "../domain/scope.ts";
import type { ItemStore } from "../ports/item-store.ts";
import type { ObjectStore } from "../ports/object-store.ts";

const itemsEveryMs = 5_000;
const objectsEveryMs = 30_000;
const largeBytes = 65_536;
const objectKey = "probe/write";

/** How the last write through a store ended. */
export class WriteOutcomes {
  #failing = false;

  get failing(): boolean {
    return this.#failing;
  }

  async of<Result>(write: Promise<Result>): Promise<Result> {
    try {
      const result = await write;
      this.#failing = false;
      return result;
    } catch (error) {
      // Any other error means that the store answered: it rejected the write for a reason of its own.
      if (hasCode(error, "UNAVAILABLE")) this.#failing = true;
      throw error;
    }
  }
}

export interface WriteProbeOptions {
  readonly items: ItemStore;
  readonly objects: ObjectStore;
  readonly outcomes: WriteOutcomes;
  readonly scope: Scope;
  /** Its partition key is `probe`. */
  readonly container: string;
}

export class WriteProbe {
  readonly #parts: WriteProbeOptions;
  #itemsAt = -Infinity;
  #objectsAt = -Infinity;

  constructor(parts: WriteProbeOptions) {
    this.#parts = parts;
  }

  /** Throws what the write throws. */
  async items(): Promise<void> {
    const { items, outcomes, scope, container } = this.#parts;
    const write = async (padding: string): Promise<void> => {
      await items.write(scope, container, ["probe"], {
        op: "upsert",
        document: { id: "write", probe: "probe", padding },
      });
    };
    if (outcomes.failing) {
      await write("x".repeat(largeBytes));
      await write("");
    } else if (performance.now() - this.#itemsAt > itemsEveryMs) await write("");
    else return;
    this.#itemsAt = performance.now();
  }

  async objects(): Promise<void> {
    if (performance.now() - this.#objectsAt <= objectsEveryMs && !this.#parts.outcomes.failing) return;
    this.#objectsAt = -Infinity;
    await this.#parts.objects.put(this.#parts.scope, objectKey, new Uint8Array([1]));
    this.#objectsAt = performance.now();
  }
}
