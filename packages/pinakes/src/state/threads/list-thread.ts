/**
 * The messages of a thread in order. If indexes are consistent, by the index. Otherwise the partition itself is read
 * and sorted here, because a thread must show new messages at once: the cost is proportional to its length.
 */
import type { Page, Paging, Stored, ThreadMessage } from "@pinakes/client";
import { PinakesError, invalid, show } from "../../domain/errors.ts";
import { compareUtf8 } from "../../domain/json.ts";
import { limits } from "../../domain/limits.ts";
import type { Scope } from "../../domain/scope.ts";
import type { Item, Query } from "../../ports/item-store.ts";
import { SignedCursors } from "../memories/signed-cursor.ts";
import type { StateDependencies } from "../dependencies.ts";
import { companionField, reservedIdPrefix } from "../system-container.ts";
import { everyPage } from "../../containers/every-item.ts";
import { freeView } from "./free-document.ts";

export type ThreadQuery = Paging & {
  readonly order?: "asc" | "desc" | undefined;
  /** Instead of a cursor: the id of a message; the list starts after it. NOT_FOUND if the thread has none. */
  readonly after?: string | undefined;
};

/** A number, or null: messages that were not appended come first. */
type ThreadPosition = readonly [sequence: number | null, id: string];

export class ThreadLists {
  readonly #deps: StateDependencies;
  readonly #container: string;
  readonly #cursors: SignedCursors;

  constructor(deps: StateDependencies, container: string) {
    this.#deps = deps;
    this.#container = container;
    this.#cursors = new SignedCursors(deps.signingKey);
  }

  async list(
    scope: Scope,
    threadId: string,
    { order = "asc", limit = limits.pageItemsDefault, cursor, after }: ThreadQuery,
  ): Promise<Page<Stored<ThreadMessage>>> {
    if (order !== "asc" && order !== "desc") throw invalid(`order: must be "asc" or "desc", got ${show(order)}.`);
    if (!Number.isInteger(limit) || limit < 1 || limit > limits.pageItemsMax)
      throw invalid(`limit: must be a whole number from 1 to ${limits.pageItemsMax}, got ${show(limit)}.`);
    if (after !== undefined && cursor !== undefined) throw invalid("after: cannot be combined with a cursor.");
    const from = after === undefined ? undefined : await this.#positionOf(scope, threadId, after);
    const wanted = { order, limit, cursor, from };
    return this.#deps.items.capabilities.indexReads === "strong"
      ? this.#byIndex(scope, threadId, wanted)
      : this.#byPartition(scope, threadId, wanted);
  }

  async #positionOf(scope: Scope, threadId: string, id: string): Promise<ThreadPosition> {
    const item = await this.#deps.items.read(scope, this.#container, { partition: [threadId], id });
    if (item === undefined || messagesOf([item]).length === 0)
      throw new PinakesError("NOT_FOUND", `There is no message ${show(id)} in thread ${show(threadId)} (after).`);
    return placeOf(item);
  }

  async #byIndex(
    scope: Scope,
    threadId: string,
    { order, limit, cursor, from }: Wanted,
  ): Promise<Page<Stored<ThreadMessage>>> {
    const items: Item[] = [];
    const direction = order === "asc" ? 1 : -1;
    const range = rangeFrom(order, from);
    // The companion is in the index too: its page is filled up from the next.
    for (let next = cursor; ;) {
      const page = await this.#deps.items.query(scope, this.#container, {
        index: "bySequence",
        equals: { threadId },
        ...range,
        order,
        limit: limit - items.length,
        cursor: next,
      });
      const messages = messagesOf(page.items);
      items.push(
        ...(from === undefined
          ? messages
          : messages.filter((item) => comparePlaces(placeOf(item), from) * direction > 0)),
      );
      next = page.cursor;
      if (next === undefined || items.length === limit)
        return { items: items.map((item) => freeView(item)), next_cursor: next ?? null };
    }
  }

  async #byPartition(
    scope: Scope,
    threadId: string,
    { order, limit, cursor, from }: Wanted,
  ): Promise<Page<Stored<ThreadMessage>>> {
    const name = [this.#container, threadId, order];
    const after = cursor === undefined ? from : (this.#cursors.open(scope, name, cursor) as unknown as ThreadPosition);
    const direction = order === "asc" ? 1 : -1;
    const all: Item[] = [];
    for await (const page of everyPage(this.#deps.items, scope, this.#container, {
      equals: { threadId },
      limit: limits.pageItemsMax,
    })) {
      all.push(...messagesOf(page.items));
    }
    const rest = all.filter((item) => after === undefined || comparePlaces(placeOf(item), after) * direction > 0);
    rest.sort((a, b) => comparePlaces(placeOf(a), placeOf(b)) * direction);
    const items = rest.slice(0, limit);
    const last = items.at(-1);
    const more = rest.length > limit && last !== undefined;
    return {
      items: items.map((item) => freeView(item)),
      next_cursor: more ? this.#cursors.seal(scope, name, placeOf(last)) : null,
    };
  }
}

interface Wanted {
  readonly order: "asc" | "desc";
  readonly limit: number;
  readonly cursor: string | undefined;
  readonly from: ThreadPosition | undefined;
}

/** Messages without a number have no range; they are few, and come first. */
function rangeFrom(order: "asc" | "desc", from: ThreadPosition | undefined): Pick<Query, "range"> {
  const sequence = from?.[0];
  if (typeof sequence !== "number") return {};
  return { range: order === "asc" ? { gte: sequence } : { lte: sequence } };
}

function messagesOf(items: readonly Item[]): readonly Item[] {
  return items.filter(({ id, document }) => !id.startsWith(reservedIdPrefix) && document[companionField] === undefined);
}

function placeOf({ id, document: { sequence } }: Item): ThreadPosition {
  return [typeof sequence === "number" ? sequence : null, id];
}

function comparePlaces([a, idA]: ThreadPosition, [b, idB]: ThreadPosition): number {
  return (a ?? Number.NEGATIVE_INFINITY) - (b ?? Number.NEGATIVE_INFINITY) || compareUtf8(idA, idB);
}
