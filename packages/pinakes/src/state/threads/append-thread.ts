/**
 * Appends to a thread. The companion `~thread` has the number of the next message, and is written in the same batch as the messages:
 * so numbers follow commit order, and none is assigned twice.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import type { Stored, ThreadMessage } from "@pinakes/client";
import { PinakesError, invalid, show } from "../../domain/errors.ts";
import type { JsonObject } from "../../domain/json.ts";
import { KeyedQueue } from "../../runtime/keyed-queue.ts";
import type { Scope } from "../../domain/scope.ts";
import { tolerate } from "../../runtime/expected-errors.ts";
import type { Item, Operation } from "../../ports/item-store.ts";
import { checkMessageCount, memoryLimits } from "../memories/limits.ts";
import type { StateDependencies } from "../dependencies.ts";
import { companionField } from "../system-container.ts";
import { everyItem } from "../../containers/every-item.ts";
import { freeDocument, freeView, requireFreeId } from "./free-document.ts";

const counterId = "~thread";
const firstSequence = 1;
const attemptsMax = 50;
const scanItems = 1_000;

export interface ThreadCounter {
  readonly next: number;
  readonly etag: string;
}

export class ThreadAppender {
  readonly #deps: StateDependencies;
  readonly #container: string;
  readonly #queue = new KeyedQueue();

  constructor(deps: StateDependencies, container: string) {
    this.#deps = deps;
    this.#container = container;
  }

  async append(scope: Scope, threadId: string, inputs: readonly unknown[]): Promise<readonly Stored<ThreadMessage>[]> {
    const documents = checked(scope, threadId, inputs);
    // Writers of one process are serialized, so that only other processes cause conflicts.
    return this.#queue.run([JSON.stringify([scope.tenant, threadId])], async () => {
      for (let attempt = 1; ; attempt += 1) {
        try {
          return await this.#appendOnce(scope, threadId, documents);
        } catch (error) {
          const outrun =
            PinakesError.isInstance(error) &&
            error.context.batch !== undefined &&
            (error.code === "CONFLICT" || error.code === "PRECONDITION_FAILED");
          if (!outrun || attempt >= attemptsMax) throw error;
          await sleep(Math.random() * Math.min(100, 2 ** attempt));
        }
      }
    });
  }

  async counter(scope: Scope, threadId: string): Promise<ThreadCounter | undefined> {
    const item = await this.#deps.items.read(scope, this.#container, { partition: [threadId], id: counterId });
    return item === undefined ? undefined : { next: item.document["next"] as number, etag: item.etag };
  }

  /** Removes the counter of an empty thread, unless it was used concurrently. */
  async forget(scope: Scope, threadId: string, { etag }: ThreadCounter): Promise<void> {
    await tolerate(
      this.#deps.items.write(scope, this.#container, [threadId], { op: "delete", id: counterId, ifMatch: etag }),
      "NOT_FOUND",
      "PRECONDITION_FAILED",
    );
  }

  async #appendOnce(
    scope: Scope,
    threadId: string,
    documents: readonly JsonObject[],
  ): Promise<readonly Stored<ThreadMessage>[]> {
    const there = await this.#deps.items.readMany(
      scope,
      this.#container,
      documents.map(({ id }) => ({ partition: [threadId], id: id as string })),
    );
    for (const [i, item] of there.entries())
      if (item !== undefined) requireSame(item, documents[i] as JsonObject, threadId);
    const added = documents.filter((_, i) => there[i] === undefined);
    if (added.length === 0) return there.flatMap((item) => (item === undefined ? [] : [freeView<ThreadMessage>(item)]));
    for (const { id, sequence } of added)
      if (sequence !== undefined)
        throw invalid(`sequence: is assigned by the thread; omit it from message ${show(id)}, or rename yours.`);
    const counter = await this.counter(scope, threadId);
    const next = counter?.next ?? (await this.#afterLast(scope, threadId));
    const numbered = added.map((document, i): JsonObject => ({ ...document, sequence: next + i }));
    const results = await this.#commit(scope, threadId, { counter, next: next + added.length, documents: numbered });
    const views = new Map(
      numbered.map((document, i) => [
        document["id"],
        freeView<ThreadMessage>({ document, ...(results[i] as Written) }),
      ]),
    );
    return documents.map((document, i) => {
      const item = there[i];
      return item === undefined ? (views.get(document["id"]) as Stored<ThreadMessage>) : freeView<ThreadMessage>(item);
    });
  }

  async #commit(
    scope: Scope,
    threadId: string,
    {
      counter,
      next,
      documents,
    }: {
      readonly counter: ThreadCounter | undefined;
      readonly next: number;
      readonly documents: readonly JsonObject[];
    },
  ): Promise<readonly Written[]> {
    const companion = { id: counterId, threadId, [companionField]: "thread", next };
    const count: Operation =
      counter === undefined
        ? { op: "create", document: companion }
        : { op: "replace", document: companion, ifMatch: counter.etag };
    const creates = documents.map((document): Operation => ({ op: "create", document }));
    const { results } = await this.#deps.items.batch(scope, this.#container, [threadId], [count, ...creates]);
    return results.slice(1).map(({ etag, modifiedAt }) => ({ etag: etag as string, modifiedAt: modifiedAt as number }));
  }

  /** For the first append: old documents may have numbers. The partition itself is read, which is consistent. */
  async #afterLast(scope: Scope, threadId: string): Promise<number> {
    let last = firstSequence - 1;
    for await (const { document } of everyItem(this.#deps.items, scope, this.#container, {
      equals: { threadId },
      limit: scanItems,
    })) {
      const { sequence } = document;
      if (typeof sequence === "number" && sequence > last) last = Math.ceil(sequence);
    }
    return last + 1;
  }
}

interface Written {
  readonly etag: string;
  readonly modifiedAt: number;
}

function checked({ tenant }: Scope, threadId: string, inputs: readonly unknown[]): readonly JsonObject[] {
  checkMessageCount(inputs, memoryLimits.threadMessagesMax);
  const documents = inputs.map((input: unknown): JsonObject => {
    const given = freeDocument(input, "A message", tenant);
    const missing = {
      ...(given["id"] === undefined ? { id: randomUUID() } : {}),
      ...(given["threadId"] === undefined ? { threadId } : {}),
    };
    requireFreeId(given["id"] ?? missing.id, "id");
    if (given["threadId"] !== undefined && given["threadId"] !== threadId)
      throw invalid(
        `threadId: the message is of thread ${show(given["threadId"])}, but the call is for ${show(threadId)}.`,
      );
    return { ...missing, ...given };
  });
  if (new Set(documents.map(({ id }) => id)).size < documents.length)
    throw invalid("id: two of the messages have the same id.");
  return documents;
}

/** A retry sends the same message, with or without its number. */
function requireSame({ document }: Item, given: JsonObject, threadId: string): void {
  const { sequence: _, ...stored } = document;
  // As JSON, in which an undefined property is absent.
  const sent: unknown = JSON.parse(JSON.stringify(given));
  if (isDeepStrictEqual(sent, document) || isDeepStrictEqual(sent, stored)) return;
  throw new PinakesError(
    "CONFLICT",
    `Message ${show(given["id"])} exists with different content in thread ${show(threadId)}; use another id.`,
  );
}
