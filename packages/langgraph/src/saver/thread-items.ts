/** Reads and writes the items of threads in their container, without interpreting them. */
import { setTimeout as sleep } from "node:timers/promises";
import type { BatchOperation, BatchOutcome, ContainersApi, JsonObject, StoredDocument } from "@pinakes/client";
import { errorCode, type OwnContainer } from "../source.ts";
import type { IdRange } from "./keys.ts";

const pageItemsMax = 1_000;
const readManyKeysMax = 100;
const batchOperationsMax = 25;
const pauseMs = 10;

export class ThreadItems {
  readonly #container: OwnContainer;

  constructor(container: OwnContainer) {
    this.#container = container;
  }

  /** The items of a range, in the order of their ids or against it. */
  async *range(
    threadId: string,
    range: IdRange,
    options: { readonly order?: "asc" | "desc"; readonly limit?: number } = {},
  ): AsyncGenerator<StoredDocument, void> {
    const api = await this.#container.open();
    const { order = "asc" } = options;
    const limit = Math.min(options.limit ?? pageItemsMax, pageItemsMax);
    let cursor: string | undefined;
    do {
      const page = await api.query(this.#container.name, {
        equals: { thread_id: threadId },
        range: { ...range },
        order,
        limit,
        cursor,
      });
      yield* page.items as unknown as readonly StoredDocument[];
      cursor = page.next_cursor ?? undefined;
    } while (cursor !== undefined);
  }

  /** The same for all threads; uses an index, so recent writes may be missing on some engines. */
  async *everywhere(range: IdRange): AsyncGenerator<StoredDocument, void> {
    const api = await this.#container.open();
    let cursor: string | undefined;
    do {
      const page = await api.query(this.#container.name, {
        index: "all",
        equals: {},
        range: { ...range },
        order: "desc",
        limit: pageItemsMax,
        cursor,
      });
      yield* page.items as unknown as readonly StoredDocument[];
      cursor = page.next_cursor ?? undefined;
    } while (cursor !== undefined);
  }

  async read(threadId: string, id: string): Promise<StoredDocument | undefined> {
    const api = await this.#container.open();
    try {
      return await api.read(this.#container.name, threadId, id);
    } catch (error) {
      if (errorCode(error) === "NOT_FOUND") return undefined;
      throw error;
    }
  }

  /** In the order of the ids; null for missing items. */
  async readMany(threadId: string, ids: readonly string[]): Promise<(StoredDocument | null)[]> {
    const api = await this.#container.open();
    const found: (StoredDocument | null)[] = [];
    for (let at = 0; at < ids.length; at += readManyKeysMax) {
      const keys = ids.slice(at, at + readManyKeysMax).map((id) => ({ pk: threadId, id }));
      found.push(...(await api.readMany(this.#container.name, keys)).items);
    }
    return found;
  }

  async batch(threadId: string, operations: readonly BatchOperation[]): Promise<readonly BatchOutcome[]> {
    const api = await this.#container.open();
    return (await api.batch(this.#container.name, threadId, operations)).results;
  }

  async replace(
    threadId: string,
    document: JsonObject & { readonly id: string },
    ifMatch: string,
  ): Promise<StoredDocument> {
    const api: ContainersApi = await this.#container.open();
    return api.upsert(this.#container.name, { ...document, thread_id: threadId }, { ifMatch });
  }

  /** Items that were changed (by etag) or removed are left alone. */
  async remove(threadId: string, operations: readonly (BatchOperation & { readonly op: "delete" })[]): Promise<void> {
    for (let at = 0; at < operations.length; at += batchOperationsMax)
      await this.#removeSome(threadId, operations.slice(at, at + batchOperationsMax));
  }

  async #removeSome(threadId: string, operations: readonly BatchOperation[]): Promise<void> {
    try {
      await this.batch(threadId, operations);
    } catch (error) {
      if (!["NOT_FOUND", "PRECONDITION_FAILED", "UNKNOWN_OUTCOME"].includes(errorCode(error) ?? "")) throw error;
      if (operations.length > 1) for (const operation of operations) await this.#removeSome(threadId, [operation]);
    }
  }
}

/** Before another attempt: longer each time, and never as long as another's. */
export async function pause(attempt: number): Promise<void> {
  await sleep(Math.random() * pauseMs * attempt);
}
