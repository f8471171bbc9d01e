/**
 * The queues of the lifecycle (RFC 0007) as a workspace's admins see them: only their own. They are the system's, shared by all workspaces;
 * whose a message is stands in it. A message that does not say so is one of the source, or of nobody: those are shown where the source's
 * messages lead to, in the workspace `default`.
 */
import { hash } from "node:crypto";
import { isJsonObject } from "../../domain/json.ts";
import type { Scope } from "../../domain/scope.ts";
import { lifecycleTenant, type Lifecycle } from "../../lifecycle/index.ts";
import type { DeadKey, DeadLetter } from "../../ports/queue.ts";
import type { KnowledgeParts } from "../parts.ts";
import { ageSeconds, unfinishedOperations } from "./deletion-lag.ts";

export interface TopicView {
  readonly name: string;
  readonly waiting: number;
  readonly in_progress: number;
  readonly failed: number;
  /** Null where the queue's own tools show dead letters, and nothing else can. */
  readonly dead: number | null;
  /** How long the oldest of what waits or is in progress has been there; null where there is none. */
  readonly oldest_age_seconds: number | null;
}

export interface DeadMessage {
  readonly dead_id: string;
  readonly cause: DeadLetter["cause"];
  readonly reason: string | null;
  readonly dead_at: string;
  readonly failures: number;
  /** The message as it came. */
  readonly message: DeadLetter["body"];
}

const sharedWorkspace = "default";
const pageLetters = 100;
/** Letters of all workspaces that are looked at for one answer. */
const lettersMax = 1_000;

export class TopicDesk {
  readonly #parts: KnowledgeParts;
  readonly #lifecycle: Lifecycle;
  readonly #scope: Scope;

  constructor(parts: KnowledgeParts, lifecycle: Lifecycle) {
    this.#parts = parts;
    this.#lifecycle = lifecycle;
    this.#scope = parts.system.forTenant(lifecycleTenant);
  }

  /** One for each store that takes part, and that of the replies. */
  async topics(): Promise<readonly string[]> {
    const stores = await this.#lifecycle.participants.list();
    return [...new Set([...stores.map(({ topic }) => topic), this.#lifecycle.topics.replies])].toSorted();
  }

  /** What waits is counted by the workspace's operations, since a message of another workspace is nobody's business. */
  async summary(scope: Scope): Promise<readonly TopicView[]> {
    const { items, clock } = this.#parts;
    const rows = (await unfinishedOperations(items, scope)).flatMap(({ status, stores, created_at }) =>
      stores.map((row) => ({ ...row, stuck: status === "failed", since: Date.parse(created_at) })),
    );
    const { inspectDead } = this.#parts.queue.capabilities;
    const views: TopicView[] = [];
    for (const name of await this.topics()) {
      const own = rows.filter(({ topic, status }) => topic === name && (status === "waiting" || status === "sent"));
      const failed = own.filter(({ stuck, error }) => stuck && error !== null).length;
      const in_progress = own.filter(({ status }) => status === "sent").length;
      const oldest_age_seconds = own.length === 0 ? null : ageSeconds(clock.now(), Math.min(...own.map(({ since }) => since)));
      const dead = inspectDead ? (await this.dead(scope, name)).length : null;
      views.push({ name, waiting: own.length - in_progress, in_progress, failed, dead, oldest_age_seconds });
    }
    return views;
  }

  async dead(scope: Scope, topic: string): Promise<readonly DeadMessage[]> {
    return (await this.#letters(scope, topic)).map(({ group, id, cause, reason, deadAt, failures, body }) => ({
      dead_id: deadId({ group, id }),
      cause,
      reason: reason ?? null,
      dead_at: new Date(deadAt).toISOString(),
      failures,
      message: body,
    }));
  }

  /** Tells whether it was there. */
  async redrive(scope: Scope, topic: string, id: string): Promise<boolean> {
    const letter = await this.#find(scope, topic, id);
    if (letter === undefined) return false;
    await this.#parts.queue.dead.redrive(this.#scope, topic, letter);
    return true;
  }

  async discard(scope: Scope, topic: string, id: string): Promise<boolean> {
    const letter = await this.#find(scope, topic, id);
    return letter !== undefined && this.#parts.queue.dead.discard(this.#scope, topic, letter);
  }

  async #find(scope: Scope, topic: string, id: string): Promise<DeadKey | undefined> {
    const found = (await this.#letters(scope, topic)).find((letter) => deadId(letter) === id);
    return found === undefined ? undefined : { group: found.group, id: found.id };
  }

  async #letters({ tenant }: Scope, topic: string): Promise<readonly DeadLetter[]> {
    const { dead } = this.#parts.queue;
    const found: DeadLetter[] = [];
    let cursor: string | undefined;
    let seen = 0;
    do {
      const page = await dead.list(this.#scope, topic, { limit: pageLetters, ...(cursor === undefined ? {} : { cursor }) });
      seen += page.letters.length;
      for (const { group, id } of page.letters) {
        const letter = await dead.inspect(this.#scope, topic, { group, id });
        if (letter !== undefined && workspaceOf(letter) === tenant) found.push(letter);
      }
      cursor = page.cursor;
    } while (cursor !== undefined && seen < lettersMax);
    return found;
  }
}

function workspaceOf({ body }: DeadLetter): string {
  const named = isJsonObject(body) ? body["workspace_id"] : undefined;
  return typeof named === "string" ? named : sharedWorkspace;
}

/** Groups of a message that came from outside can hold anything; this is fit for an address. */
function deadId({ group, id }: DeadKey): string {
  return hash("sha256", JSON.stringify([group, id]), "hex").slice(0, 40);
}
