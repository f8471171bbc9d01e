/** Threads: messages of any schema, in append order. */
import type { IfMatch, Page, Stored, ThreadMessage } from "@pinakes/client";
import { requireCaller, type Caller } from "../../domain/caller.ts";
import { hasCode, PinakesError, invalid, show } from "../../domain/errors.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { Scope } from "../../domain/scope.ts";
import type { ContainerDefinition, Operation } from "../../ports/item-store.ts";
import { memoryLimits } from "../memories/limits.ts";
import type { StateDependencies } from "../dependencies.ts";
import { reservedIdPrefix } from "../system-container.ts";
import { everyPage } from "../../containers/every-item.ts";
import { ThreadAppender } from "./append-thread.ts";
import { freeView } from "./free-document.ts";
import { ThreadLists, type ThreadQuery } from "./list-thread.ts";

const threadIdBytesMax = 512;
const listItems = 500;

export class Threads {
  readonly #deps: StateDependencies;
  readonly #store: ContainerDefinition;
  readonly #appender: ThreadAppender;
  readonly #lists: ThreadLists;

  constructor(deps: StateDependencies, store: ContainerDefinition) {
    this.#deps = deps;
    this.#store = store;
    this.#appender = new ThreadAppender(deps, store.name);
    this.#lists = new ThreadLists(deps, store.name);
  }

  /** Opens its containers. */
  async open(): Promise<void> {
    await this.#deps.items.openContainer(this.#store);
  }

  async append(caller: Caller, threadId: string, message: JsonObject): Promise<Stored<ThreadMessage>> {
    const [stored] = await this.appendMany(caller, threadId, [message]);
    return stored as Stored<ThreadMessage>;
  }

  async appendMany(
    caller: Caller,
    threadId: string,
    messages: readonly JsonObject[],
  ): Promise<readonly Stored<ThreadMessage>[]> {
    const scope = requireCaller(caller);
    return this.#appender.append(scope, requireThreadId(threadId), messages);
  }

  async list(caller: Caller, threadId: string, query: ThreadQuery = {}): Promise<Page<Stored<ThreadMessage>>> {
    const scope = requireCaller(caller);
    return this.#lists.list(scope, requireThreadId(threadId), query);
  }

  async get(caller: Caller, threadId: string, id: string): Promise<Stored<ThreadMessage>> {
    const scope = requireCaller(caller);
    const item = await this.#deps.items.read(scope, this.#store.name, { partition: [requireThreadId(threadId)], id });
    if (item === undefined || id.startsWith(reservedIdPrefix)) throw noMessage(threadId, id);
    return freeView(item);
  }

  async deleteMessage(caller: Caller, threadId: string, id: string, { ifMatch }: IfMatch = {}): Promise<void> {
    const scope = requireCaller(caller);
    requireThreadId(threadId);
    if (typeof id === "string" && id.startsWith(reservedIdPrefix)) throw noMessage(threadId, id);
    try {
      await this.#deps.items.write(scope, this.#store.name, [threadId], {
        op: "delete",
        id,
        ifMatch,
      });
    } catch (error) {
      throw hasCode(error, "NOT_FOUND") ? noMessage(threadId, id) : error;
    }
  }

  /** Removes all messages in bounded steps; idempotent. Numbering restarts, unless messages were appended concurrently. */
  async clear(caller: Caller, threadId: string): Promise<{ readonly deleted: number }> {
    const scope = requireCaller(caller);
    requireThreadId(threadId);
    const counter = await this.#appender.counter(scope, threadId);
    let deleted = 0;
    for await (const page of everyPage(this.#deps.items, scope, this.#store.name, {
      equals: { threadId },
      limit: listItems,
    })) {
      const ids = page.items.map(({ id }) => id).filter((id) => !id.startsWith(reservedIdPrefix));
      for (let at = 0; at < ids.length; at += memoryLimits.batchOperationsMax)
        deleted += await this.#remove(scope, threadId, ids.slice(at, at + memoryLimits.batchOperationsMax));
    }
    if (counter !== undefined) await this.#appender.forget(scope, threadId, counter);
    return { deleted };
  }

  async #remove(scope: Scope, threadId: string, ids: readonly string[]): Promise<number> {
    try {
      await this.#deps.items.batch(
        scope,
        this.#store.name,
        [threadId],
        ids.map((id): Operation => ({ op: "delete", id })),
      );
      return ids.length;
    } catch (error) {
      if (!hasCode(error, "NOT_FOUND")) throw error;
      if (ids.length === 1) return 0;
      // One of them was deleted concurrently: remove the others one by one.
      let removed = 0;
      for (const id of ids) removed += await this.#remove(scope, threadId, [id]);
      return removed;
    }
  }
}

function requireThreadId(threadId: unknown): string {
  if (typeof threadId === "string" && threadId !== "" && Buffer.byteLength(threadId, "utf8") <= threadIdBytesMax)
    return threadId;
  throw invalid(`threadId: must be a string of 1–${threadIdBytesMax} bytes, got ${show(threadId)}.`);
}

function noMessage(threadId: string, id: string): PinakesError {
  return new PinakesError("NOT_FOUND", `There is no message ${show(id)} in thread ${show(threadId)}.`);
}
