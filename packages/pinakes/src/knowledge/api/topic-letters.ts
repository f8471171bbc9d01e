/**
 * The queues of the lifecycle (RFC 0007), for admins of a workspace, who see only their own messages. All workspaces share these queues;
 * each message names its workspace. Messages that name none come from LISA and are shown in the workspace `default`.
 */
import type { Queue as QueueView } from "@pinakes/client";
import { isJsonObject } from "../../domain/json.ts";
import type { Scope } from "../../domain/scope.ts";
import { lifecycleTenant, type Lifecycle } from "../../lifecycle/index.ts";
import type { DeadLetter, Queue } from "../../ports/queue.ts";
import type { KnowledgeDependencies } from "../dependencies.ts";
import { deadMessages, discardMessage, redriveMessage, type DeadMessage, type Letterbox } from "./dead-messages.ts";
import { ageSeconds, unfinishedOperations } from "../deletion/deletion-lag.ts";

export type TopicView = QueueView;

const sharedWorkspace = "default";

export class TopicLetters {
  readonly #deps: KnowledgeDependencies;
  readonly #lifecycle: Lifecycle;
  readonly #scope: Scope;

  constructor(deps: KnowledgeDependencies, lifecycle: Lifecycle) {
    this.#deps = deps;
    this.#lifecycle = lifecycle;
    this.#scope = deps.system.forTenant(lifecycleTenant);
  }

  /** One topic per participating store, and that of the replies. */
  async topics(): Promise<readonly string[]> {
    const stores = await this.#lifecycle.participants.list();
    return [...new Set([...stores.map(({ topic }) => topic), this.#lifecycle.topics.replies])].toSorted();
  }

  /** The backlog is counted from the workspace's own operations: messages of other workspaces must not show. */
  async summary(scope: Scope): Promise<readonly TopicView[]> {
    const { items, clock } = this.#deps;
    const rows = (await unfinishedOperations(items, scope)).flatMap(({ status, stores, created_at }) =>
      stores.map((row) => ({ ...row, stuck: status === "failed", since: Date.parse(created_at) })),
    );
    const unknown = deadUnknown(this.#deps.queue);
    const views: TopicView[] = [];
    for (const name of await this.topics()) {
      const own = rows.filter(({ topic, status }) => topic === name && (status === "waiting" || status === "sent"));
      const failed = own.filter(({ stuck, error }) => stuck && error !== null).length;
      const in_progress = own.filter(({ status }) => status === "sent").length;
      const oldest_age_seconds =
        own.length === 0 ? null : ageSeconds(clock.now(), Math.min(...own.map(({ since }) => since)));
      const dead = unknown === undefined ? { dead: (await this.dead(scope, name)).length } : unknown;
      views.push({ name, waiting: own.length - in_progress, in_progress, failed, ...dead, oldest_age_seconds });
    }
    return views;
  }

  async dead(scope: Scope, topic: string): Promise<readonly DeadMessage[]> {
    return deadMessages(this.#box(scope, topic));
  }

  /** Returns false if there is no such letter. */
  async redrive(scope: Scope, topic: string, id: string): Promise<boolean> {
    return redriveMessage(this.#box(scope, topic), id);
  }

  async discard(scope: Scope, topic: string, id: string): Promise<boolean> {
    return discardMessage(this.#box(scope, topic), id);
  }

  #box({ tenant }: Scope, topic: string): Letterbox {
    return {
      queue: this.#deps.queue,
      scope: this.#scope,
      name: topic,
      isOwn: (letter) => workspaceOf(letter) === tenant,
    };
  }
}

function workspaceOf({ body }: DeadLetter): string {
  const named = isJsonObject(body) ? body["workspace_id"] : undefined;
  return typeof named === "string" ? named : sharedWorkspace;
}

/** The driver of a shared queue may not be able to read its dead letters, so their workspaces are unknown. Undefined if it can. */
export function deadUnknown({
  capabilities: { driver, inspectDead },
}: Pick<Queue, "capabilities">): Pick<TopicView, "dead" | "dead_unknown"> | undefined {
  if (inspectDead) return undefined;
  const why = `All workspaces share this queue, and ${driver} cannot list its dead letters by workspace; use the queue service's own tools.`;
  return { dead: null, dead_unknown: why };
}
