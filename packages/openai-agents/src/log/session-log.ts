/**
 * The log of one session in Pinakes: reads its end, adds items, and writes changes that are valid only if nothing was written in between.
 */
import {
  inBatches,
  PinakesClientError,
  type JsonObject,
  type StateApi,
  type Stored,
  type ThreadMessage,
} from "@pinakes/client";
import { asEntry, isVoid, itemId, type ChangeEntry, type ItemEntry, type StoredEntry } from "./entries.ts";
import { History, type HistoryItem } from "./history.ts";

export interface LogView {
  readonly items: readonly HistoryItem[];
  /** The newest sequence number there is; 0 for an empty log. */
  readonly head: number;
  readonly garbage: readonly string[];
}

export interface Change {
  readonly id: string;
  readonly removes: readonly string[];
  /** The name under which its items are stored; the same name always contains the same items. */
  readonly group: string;
  readonly items: readonly JsonObject[];
  readonly digest?: string;
}

export interface ChangeOutcome {
  readonly counts: boolean;
  /** The newest sequence number that was met. */
  readonly head: number;
}

const pageItems = 100;
/** A reader that encounters concurrent removals reads again. */
const readsMax = 5;
/** Maximum number of removals per change. */
export const removedItemsMax = 20_000;
/** How many removed items one change deletes from the log; the next one deletes the rest. */
const garbageMax = 200;
const garbageAtOnce = 8;

export class SessionLog {
  readonly #threads: StateApi["threads"];
  readonly #threadId: string;

  constructor(threads: StateApi["threads"], threadId: string) {
    this.#threads = threads;
    this.#threadId = threadId;
  }

  /** The newest items, up to the requested number. */
  async read(wanted: number): Promise<LogView> {
    for (let attempt = 1; ; attempt += 1) {
      const history = new History(wanted);
      let head = 0;
      for await (const message of this.#newestFirst()) {
        head = Math.max(head, sequenceOf(message));
        const entry = asEntry(message);
        if (entry !== undefined) history.add(entry);
        if (history.isEnough) break;
      }
      if (!history.isTorn || attempt === readsMax) return { items: history.items(), head, garbage: history.garbage };
    }
  }

  /** Adds all items or none, contiguous in the history, regardless of concurrent writers. Adding the same group again has no effect. */
  async append(group: string, items: readonly JsonObject[]): Promise<void> {
    const entries = items.map((item, position): ItemEntry => ({ kind: "item", id: itemId(group, position), item }));
    const [first = [], ...more] = inBatches(entries);
    if (more.length === 0) {
      await this.#threads.appendMany(this.#threadId, first.map(asMessage));
      return;
    }
    for await (const _ of this.#appendGroup(group, items));
    await this.#threads.append(
      this.#threadId,
      asMessage({ kind: "change", id: group, removes: [], group, items: items.length, at: null }),
    );
  }

  /**
   * Writes a change that must directly follow `head`, except for its own items; null: it may be anywhere. If something was written in
   * between, it is void and the decision must be repeated. CONFLICT if there is another change with this id.
   */
  async change({ id, removes, group, items, digest }: Change, head: number | null): Promise<ChangeOutcome> {
    if (removes.length > removedItemsMax) throw tooMany(removes.length);
    let newest = head ?? 0;
    for await (const sequence of this.#appendGroup(group, items)) {
      if (head !== null && sequence > newest + 1) return { counts: false, head: sequence };
      newest = Math.max(newest, sequence);
    }
    const at = head === null ? null : newest + 1;
    const entry: ChangeEntry = {
      kind: "change",
      id,
      removes,
      group,
      items: items.length,
      at,
      ...(digest === undefined ? {} : { digest }),
    };
    const stored = await this.#threads.append(this.#threadId, asMessage(entry));
    const written = asEntry(stored);
    return { counts: written?.kind === "change" && !isVoid(written), head: sequenceOf(stored) };
  }

  async find(id: string): Promise<StoredEntry | undefined> {
    try {
      return asEntry(await this.#threads.get(this.#threadId, id));
    } catch (error) {
      if (codeOf(error) === "NOT_FOUND") return undefined;
      throw error;
    }
  }

  /** Deletes the entry of this version; nothing happens if it is gone or was changed. */
  async remove(id: string, ifMatch?: string): Promise<void> {
    try {
      await this.#threads.deleteMessage(this.#threadId, id, ifMatch === undefined ? {} : { ifMatch });
    } catch (error) {
      if (!["NOT_FOUND", "PRECONDITION_FAILED"].includes(codeOf(error) ?? "")) throw error;
    }
  }

  /** The change that removed them is done and must not fail for the tidying: what stays is found again by the next one. */
  async tidy(ids: readonly string[]): Promise<void> {
    const some = ids.slice(0, garbageMax);
    for (let i = 0; i < some.length; i += garbageAtOnce) {
      await Promise.allSettled(some.slice(i, i + garbageAtOnce).map((id) => this.remove(id)));
    }
  }

  async clear(): Promise<void> {
    await this.#threads.clear(this.#threadId);
  }

  /** The sequence number of each new item; for existing ones the old number. */
  async *#appendGroup(group: string, items: readonly JsonObject[]): AsyncGenerator<number> {
    const entries = items.map((item, position): ItemEntry => ({
      kind: "item",
      id: itemId(group, position),
      item,
      group,
    }));
    for (const batch of inBatches(entries)) {
      for (const message of await this.#threads.appendMany(this.#threadId, batch.map(asMessage)))
        yield sequenceOf(message);
    }
  }

  async *#newestFirst(): AsyncGenerator<Stored<ThreadMessage>> {
    let cursor: string | undefined;
    do {
      const page = await this.#threads.list(this.#threadId, { order: "desc", limit: pageItems, cursor });
      yield* page.items;
      cursor = page.next_cursor ?? undefined;
    } while (cursor !== undefined);
  }
}

const sequenceOf = (message: ThreadMessage) => (typeof message["sequence"] === "number" ? message["sequence"] : 0);
const asMessage = (entry: ItemEntry | ChangeEntry): JsonObject => ({ ...entry });

export function codeOf(error: unknown): string | undefined {
  return typeof error === "object" && error !== null && "code" in error && typeof error.code === "string"
    ? error.code
    : undefined;
}

const tooMany = (count: number) =>
  new PinakesClientError({
    code: "LIMIT_EXCEEDED",
    status: 413,
    detail: `${count} items would be replaced at once; at most ${removedItemsMax} can be. Begin a new session, or clear this one.`,
  });
