/** Reads messages for all parts of memories: only visible ones, whatever else is stored. */
import { PinakesError, invalid, show } from "../../domain/errors.ts";
import { compareUtf8, type JsonObject } from "../../domain/json.ts";
import type { Scope } from "../../domain/scope.ts";
import type { Clock } from "../../ports/clock.ts";
import type {
  BatchResult,
  Item,
  ItemStore,
  Operation,
  Page,
  Query,
  SessionTokens,
  WriteResult,
} from "../../ports/item-store.ts";
import { pagesOf } from "../../runtime/pages.ts";
import { memoryLimits } from "./limits.ts";
import { OwnWrites } from "./own-writes.ts";
import { memoriesContainer, orderField } from "./schema.ts";
import {
  dependsOnSession,
  independent,
  isHidden,
  readSessionRecord,
  sessionRecordId,
  type KnownSession,
  type MessagePosition,
} from "./session-record.ts";

const readKeysMax = 100;
const exactPageItems = 500;

export class MemoryStore {
  readonly #items: ItemStore;
  readonly #clock: Clock;
  readonly #own: OwnWrites;

  constructor({ items, clock }: { readonly items: ItemStore; readonly clock: Clock }) {
    this.#items = items;
    this.#clock = clock;
    this.#own = new OwnWrites(items.capabilities.indexReads === "eventual", clock);
  }

  async batch(scope: Scope, agentId: string, operations: readonly Operation[]): Promise<BatchResult> {
    const result = await this.#items.batch(scope, memoriesContainer, [agentId], operations);
    this.#own.note(scope, agentId, () => result.session);
    return result;
  }

  /** A single operation, whose error is not wrapped as a batch error. */
  async write(scope: Scope, agentId: string, operation: Operation): Promise<WriteResult> {
    const result = await this.#items.write(scope, memoriesContainer, [agentId], operation);
    this.#own.note(scope, agentId, () => result.session);
    return result;
  }

  async read(scope: Scope, agentId: string, id: string): Promise<Item | undefined> {
    if (sessionIdLike(id)) return undefined;
    const item = await this.#items.read(scope, memoriesContainer, { partition: [agentId], id });
    return item === undefined ? undefined : (await this.visible(scope, [item]))[0];
  }

  /** In the order of the keys; undefined for missing ones. */
  async readMany(
    scope: Scope,
    keys: readonly { readonly agentId: string; readonly id: string }[],
  ): Promise<readonly (Item | undefined)[]> {
    const found: (Item | undefined)[] = [];
    for (let at = 0; at < keys.length; at += readKeysMax) {
      const asked = keys.slice(at, at + readKeysMax).map(({ agentId, id }) => ({ partition: [agentId], id }));
      found.push(...(await this.#items.readMany(scope, memoriesContainer, asked)));
    }
    const there = new Set(
      await this.visible(
        scope,
        found.filter((item) => item !== undefined),
      ),
    );
    return found.map((item) => (item !== undefined && there.has(item) && !sessionIdLike(item.id) ? item : undefined));
  }

  /** Which of these ids exist, visible or not. */
  async existing(scope: Scope, agentId: string, ids: readonly string[]): Promise<ReadonlySet<string>> {
    if (ids.length === 0) return new Set();
    const found = await this.#items.readMany(
      scope,
      memoriesContainer,
      ids.map((id) => ({ partition: [agentId], id })),
    );
    return new Set(found.flatMap((item) => (item === undefined ? [] : [item.id])));
  }

  /** One page of an index. It may be short and still have a cursor. On engines with eventually consistent indexes it includes this process's writes. */
  async page(scope: Scope, agentId: string, query: Query, session?: SessionTokens): Promise<Page> {
    const page = await this.#query(scope, agentId, query, session);
    return {
      items: await this.visible(scope, page.items),
      ...(page.cursor === undefined ? {} : { cursor: page.cursor }),
    };
  }

  /** The first item of an index range, visible or not. */
  async first(
    scope: Scope,
    agentId: string,
    query: Omit<Query, "limit" | "cursor">,
    session?: SessionTokens,
  ): Promise<Item | undefined> {
    return (await this.#query(scope, agentId, { ...query, limit: 1 }, session)).items[0];
  }

  async *pages(
    scope: Scope,
    agentId: string,
    query: Omit<Query, "cursor">,
    session?: SessionTokens,
  ): AsyncGenerator<readonly Item[], void> {
    for await (const page of pagesOf((cursor) => this.page(scope, agentId, { ...query, cursor }, session))) {
      yield page.items;
    }
  }

  /** The number of visible messages of a session. */
  async countSession(scope: Scope, agentId: string, sessionId: string): Promise<number> {
    const known = await this.session(scope, agentId, sessionId);
    // Besides invisible messages there may be others, written through the containers API.
    const filter = known !== undefined && isHidden(known.record, this.#clock.now()) ? { filter: independent } : {};
    const query = { index: "bySession", equals: { agent_id: agentId, session_id: sessionId }, ...filter };
    return this.#own.reading(scope, agentId, query.index, (session) =>
      this.#items.count(scope, memoriesContainer, { ...query, session }),
    );
  }

  /**
   * All messages of a session, invisible ones included, for reads that must be complete. Unordered. If
   * indexes are eventually consistent, it reads the partition itself.
   */
  async *exact(scope: Scope, agentId: string, sessionId: string): AsyncGenerator<readonly Item[], void> {
    const strong = this.#items.capabilities.indexReads === "strong";
    const query: Omit<Query, "cursor"> = strong
      ? { index: "bySession", equals: { agent_id: agentId, session_id: sessionId }, limit: exactPageItems }
      : { equals: { agent_id: agentId }, filter: { session_id: sessionId }, limit: exactPageItems };
    for (let cursor: string | undefined; ;) {
      const page: Page = await this.#items.query(scope, memoriesContainer, { ...query, cursor });
      if (page.items.length > 0) yield page.items;
      cursor = page.cursor;
      if (cursor === undefined) return;
    }
  }

  async isEmpty(scope: Scope, agentId: string, sessionId: string): Promise<boolean> {
    for await (const _ of this.exact(scope, agentId, sessionId)) return false;
    return true;
  }

  /** The companion of a session, if it has one. */
  async session(scope: Scope, agentId: string, sessionId: string): Promise<KnownSession | undefined> {
    const item = await this.#items.read(scope, memoriesContainer, {
      partition: [agentId],
      id: sessionRecordId(sessionId),
    });
    return item === undefined ? undefined : { record: readSessionRecord(item.document), etag: item.etag };
  }

  /** The visible ones: most have no companion, and cost nothing here. */
  async visible(scope: Scope, items: readonly Item[]): Promise<readonly Item[]> {
    const asked = new Map<string, { readonly partition: readonly [string]; readonly id: string }>();
    for (const { document } of items) {
      if (!dependsOnSession(document)) continue;
      const { agent_id, session_id } = document as { agent_id: string; session_id: string };
      asked.set(keyOf(document), { partition: [agent_id], id: sessionRecordId(session_id) });
    }
    if (asked.size === 0) return items;
    const hidden = new Set<string>();
    const [names, keys] = [[...asked.keys()], [...asked.values()]];
    for (let at = 0; at < keys.length; at += readKeysMax) {
      const records = await this.#items.readMany(scope, memoriesContainer, keys.slice(at, at + readKeysMax));
      for (const [i, item] of records.entries())
        if (item !== undefined && isHidden(readSessionRecord(item.document), this.#clock.now()))
          hidden.add(names[at + i] as string);
    }
    return items.filter(({ document }) => !dependsOnSession(document) || !hidden.has(keyOf(document)));
  }

  async #query(scope: Scope, agentId: string, query: Query, session?: SessionTokens): Promise<Page> {
    const given = session === undefined ? [] : [session].flat();
    return this.#own.reading(scope, agentId, query.index ?? "", (own) => {
      const tokens = [...given, ...own];
      return this.#items.query(scope, memoriesContainer, tokens.length === 0 ? query : { ...query, session: tokens });
    });
  }
}

function keyOf({ agent_id, session_id }: JsonObject): string {
  return JSON.stringify([agent_id, session_id]);
}

function sessionIdLike(id: string): boolean {
  return typeof id === "string" && id.startsWith("~");
}

export function placeOf({ id, document }: Pick<Item, "id" | "document">): MessagePosition {
  return {
    timestamp: document["timestamp"] as string,
    order: (document[orderField] as number | undefined) ?? null,
    id,
  };
}

/** The order of a session. */
export function comparePlaces(a: MessagePosition, b: MessagePosition): number {
  return compareUtf8(a.timestamp, b.timestamp) || (a.order ?? -1) - (b.order ?? -1) || compareUtf8(a.id, b.id);
}

export function noMessage(agentId: string, id: string): PinakesError {
  return new PinakesError("NOT_FOUND", `There is no message ${show(id)} of agent ${show(agentId)}.`);
}

export function noSession(agentId: string, sessionId: string): PinakesError {
  return new PinakesError("NOT_FOUND", `There is no session ${show(sessionId)} of agent ${show(agentId)}.`);
}

/** Ids of agents and sessions, as arguments. */
export function requireName(name: unknown, where: "agent_id" | "session_id"): string {
  const charsMax = where === "agent_id" ? memoryLimits.agentIdCharsMax : memoryLimits.sessionIdCharsMax;
  if (typeof name === "string" && name.length >= 1 && name.length <= charsMax) return name;
  throw invalid(`${where}: must be a string of 1–${charsMax} characters, got ${show(name)}.`);
}
