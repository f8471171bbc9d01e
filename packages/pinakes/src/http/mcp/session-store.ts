/**
 * Sessions of MCP clients of the revisions up to 2025-11-25, in the item store: any process of a deployment can serve the next request of a
 * session. What lives in a process (open streams, pending requests to the client) is rebuilt from here.
 *
 * Invariants
 * - a session belongs to a workspace (the scope) and to one user: another user's id finds nothing;
 * - answers of a client to a server's request are delivered once, to the process that asked.
 */
import { z } from "zod";
import { defineContainer, type Container } from "../../containers/index.ts";
import { jsonObject } from "../../contract/index.ts";
import type { Caller } from "../../domain/caller.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { ItemStore } from "../../ports/item-store.ts";
import { ifMissing, isConflict } from "../../runtime/expected-errors.ts";

/** Idle seconds after which a session ends. */
export const sessionIdleSeconds = 3_600;
/** A session in use is written again after this time, not at each request. */
const touchMs = 300_000;
export const subscriptionsMax = 1_000;

export function tooManySubscriptions(wanted: number): string {
  return `At most ${subscriptionsMax} resources can be subscribed to at once, got ${wanted}. Unsubscribe from others first.`;
}
const attemptsMax = 10;

const Record = z.looseObject({
  id: z.string(),
  session: z.string(),
  user_id: z.string(),
  /** Parameters of the client's `initialize`. */
  initialize: jsonObject(),
  subscriptions: z.array(z.string()),
  touched_at: z.number(),
});
/** A message on its way to another process. */
const Delivery = z.looseObject({ id: z.string(), session: z.string(), message: jsonObject() });

const container = defineContainer({
  name: "mcp-sessions",
  partitionKey: ["session"],
  schema: z.looseObject({ id: z.string(), session: z.string() }),
  ttl: sessionIdleSeconds,
});
type Records = Container<{ id: string; session: string }, { id: string; session: string }, "session", {}>;

export interface SessionRecord extends z.output<typeof Record> {
  readonly _etag: string;
}

const recordId = "session";
const deliveryId = (requestId: string): string => `answer:${requestId}`;

export class SessionStore {
  readonly #records: Records;

  private constructor(records: Records) {
    this.#records = records;
  }

  static async open(items: ItemStore): Promise<SessionStore> {
    return new SessionStore(await container.open(items));
  }

  async create(caller: Caller, session: string, initialize: JsonObject): Promise<void> {
    const record = { id: recordId, session, user_id: caller.userId, initialize, subscriptions: [] };
    await this.#records.create(caller.scope, { ...record, touched_at: Date.now() } as never);
  }

  /** Undefined for an unknown, ended or foreign session alike. */
  async read(caller: Caller, session: string): Promise<SessionRecord | undefined> {
    const found = await this.#records.read(caller.scope, { session, id: recordId });
    if (found === undefined) return undefined;
    const record = { ...Record.parse(found), _etag: found._etag };
    return record.user_id === caller.userId ? record : undefined;
  }

  /** Keeps a session in use from expiring. */
  async touch(caller: Caller, record: SessionRecord): Promise<void> {
    if (Date.now() - record.touched_at < touchMs) return;
    await this.#replace(caller, record, record.subscriptions).catch((error: unknown) => {
      if (!isConflict(error)) throw error;
    });
  }

  /** Changes the subscriptions of a session; false where it has ended. */
  async subscribe(
    caller: Caller,
    session: string,
    change: (uris: readonly string[]) => readonly string[],
  ): Promise<boolean> {
    for (let attempt = 1; ; attempt += 1) {
      const record = await this.read(caller, session);
      if (record === undefined) return false;
      try {
        await this.#replace(caller, record, change(record.subscriptions));
        return true;
      } catch (error) {
        if (!isConflict(error) || attempt >= attemptsMax) throw error;
      }
    }
  }

  async end(caller: Caller, session: string): Promise<void> {
    await ifMissing(this.#records.delete(caller.scope, { session, id: recordId }));
  }

  /** For the process whose request it answers. */
  async deliver(caller: Caller, session: string, requestId: string, message: JsonObject): Promise<void> {
    const delivery = { id: deliveryId(requestId), session, message };
    await this.#records.create(caller.scope, delivery as never).catch((error: unknown) => {
      if (!isConflict(error)) throw error;
    });
  }

  /** Takes what was delivered. */
  async collect(caller: Caller, session: string, requestId: string): Promise<JsonObject | undefined> {
    const key = { session, id: deliveryId(requestId) };
    const found = await this.#records.read(caller.scope, key);
    if (found === undefined) return undefined;
    await ifMissing(this.#records.delete(caller.scope, key));
    return Delivery.parse(found).message;
  }

  async #replace(caller: Caller, { _etag, ...record }: SessionRecord, subscriptions: readonly string[]): Promise<void> {
    const next = { ...record, subscriptions: [...subscriptions], touched_at: Date.now() };
    await this.#records.replace(caller.scope, next, { ifMatch: _etag });
  }
}
