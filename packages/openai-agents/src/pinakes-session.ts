/**
 * A session of the OpenAI Agents SDK in a thread of Pinakes. Changes by one process are visible to others, and a failed call can be
 * repeated: data it already stored is not stored again.
 */
import {
  applySessionHistoryMutations,
  UserError,
  type AgentInputItem,
  type SessionHistoryRewriteArgs,
  type SessionHistoryRewriteAwareSession,
  type SessionHistoryTransactionArgs,
  type SessionHistoryTransactionAwareSession,
} from "@openai/agents-core";
import type { JsonObject, StateApi } from "@pinakes/client";
import { canonicalJson, decodeItem, encodeItem } from "./item-codec.ts";
import { untilApplied } from "./log/until-applied.ts";
import { SessionLog, type LogView } from "./log/session-log.ts";
import { inTurn } from "./log/turns.ts";
import { applyTransaction } from "./transaction.ts";
import { sha256 } from "./sha256.ts";

export interface PinakesSessionOptions {
  readonly api: Pick<StateApi, "threads">;
  /** The thread's id. Absent: a new one. */
  readonly sessionId?: string | undefined;
}

/** Failed calls whose repetition is recognised, at a time. */
export const failedCallsMax = 100;

export class PinakesSession implements SessionHistoryRewriteAwareSession, SessionHistoryTransactionAwareSession {
  readonly #sessionId: string;
  readonly #threads: StateApi["threads"];
  readonly #log: SessionLog;
  /** By the content of the call: under which name its items are, or are not, stored. */
  readonly #failed = new Map<string, string>();

  constructor(options: PinakesSessionOptions) {
    this.#sessionId = options.sessionId ?? crypto.randomUUID();
    this.#threads = options.api.threads;
    this.#log = new SessionLog(this.#threads, this.#sessionId);
  }

  async getSessionId(): Promise<string> {
    return Promise.resolve(this.#sessionId);
  }

  async getItems(limit?: number): Promise<AgentInputItem[]> {
    if (limit !== undefined && limit <= 0) return [];
    const { items } = await this.#log.read(limit ?? Infinity);
    return items.map(({ item }) => decodeItem(item));
  }

  /** The items of one call stay together and in order, also when others add at the same time. */
  async addItems(items: AgentInputItem[]): Promise<void> {
    if (items.length === 0) return;
    const encoded = items.map(encodeItem);
    const content = await sha256(canonicalJson(encoded));
    const group = this.#failed.get(content) ?? newName();
    this.#failed.delete(content);
    try {
      await this.#log.append(group, encoded);
    } catch (error) {
      this.#remember(content, group);
      throw error;
    }
  }

  async popItem(): Promise<AgentInputItem | undefined> {
    const takeLast = ({ items }: LogView) => {
      const last = items.at(-1);
      return last === undefined
        ? { result: undefined }
        : { result: last, change: { ...newChange(), removes: [last.id] } };
    };
    const popped = await this.#inTurn(() => untilApplied(this.#log, 1, takeLast));
    return popped === undefined ? undefined : decodeItem(popped.item);
  }

  async clearSession(): Promise<void> {
    this.#failed.clear();
    await this.#inTurn(() => this.#log.clear());
  }

  async applyHistoryMutations(args: SessionHistoryRewriteArgs): Promise<void> {
    if (args.mutations.length === 0) return;
    await this.#rewrite((items) => applySessionHistoryMutations(items.map(decodeItem), args.mutations).map(encodeItem));
  }

  /**
   * Once per operation id, even if another process repeats it; reusing the id for another operation, or a suffix that does not match, is a
   * UserError.
   */
  async applyHistoryTransaction(args: SessionHistoryTransactionArgs): Promise<void> {
    if (typeof args.operationId !== "string" || args.operationId.trim() === "") {
      throw new UserError("Session history transaction operationId must be a non-empty string.");
    }
    await this.#inTurn(() => applyTransaction(this.#log, args));
  }

  async replaceHistoryWithCompaction(items: AgentInputItem[]): Promise<void> {
    const encoded = items.map(encodeItem);
    await this.#rewrite(() => encoded);
  }

  /** Only what differs is replaced: from the first item that is not the same to the end. */
  async #rewrite(next: (items: readonly JsonObject[]) => readonly JsonObject[]): Promise<void> {
    const rewriteFrom = ({ items }: LogView) => {
      const rewritten = next(items.map(({ item }) => item));
      let same = 0;
      while (
        same < items.length &&
        same < rewritten.length &&
        canonicalJson(items[same]?.item) === canonicalJson(rewritten[same])
      )
        same += 1;
      if (same === items.length && same === rewritten.length) return { result: undefined };
      const change = { ...newChange(), removes: items.slice(same).map(({ id }) => id), items: rewritten.slice(same) };
      return { result: undefined, change };
    };
    await this.#inTurn(() => untilApplied(this.#log, Infinity, rewriteFrom));
  }

  async #inTurn<Result>(run: () => Promise<Result>): Promise<Result> {
    return inTurn(this.#threads, this.#sessionId, run);
  }

  #remember(content: string, group: string): void {
    this.#failed.set(content, group);
    const oldest = this.#failed.keys().next();
    if (this.#failed.size > failedCallsMax && !oldest.done) this.#failed.delete(oldest.value);
  }
}

const newName = () => crypto.randomUUID().replaceAll("-", "").slice(0, 20);

function newChange(): { readonly id: string; readonly group: string; readonly items: readonly JsonObject[] } {
  const name = newName();
  return { id: name, group: name, items: [] };
}
