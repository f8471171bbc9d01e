/** The queue of a workspace's drop box, for its admins. Unlike the other queues it belongs to the workspace, so all letters are shown. */
import type { Scope } from "../../domain/scope.ts";
import { dropBoxQueue } from "../../vectors/index.ts";
import type { KnowledgeDependencies } from "../dependencies.ts";
import { deadMessages, discardMessage, redriveMessage, type DeadMessage, type Letterbox } from "./dead-messages.ts";
import type { TopicView } from "./topic-letters.ts";

export class DropBoxLetters {
  readonly #deps: Pick<KnowledgeDependencies, "queue" | "dropBoxes">;

  constructor(deps: Pick<KnowledgeDependencies, "queue" | "dropBoxes">) {
    this.#deps = deps;
  }

  /** Only for workspaces that have a drop box: reading the stats of an SQS queue creates it. */
  has({ tenant }: Scope, queue: string): boolean {
    return queue === dropBoxQueue && this.#deps.dropBoxes?.has(tenant) === true;
  }

  async summary(scope: Scope): Promise<readonly TopicView[]> {
    if (!this.has(scope, dropBoxQueue)) return [];
    const { ready, delayed, inFlight, dead, oldestAgeMs } = await this.#deps.queue.stats(scope, dropBoxQueue);
    const oldest_age_seconds = oldestAgeMs === undefined ? null : Math.floor(oldestAgeMs / 1_000);
    return [
      { name: dropBoxQueue, waiting: ready + delayed, in_progress: inFlight, failed: 0, dead, oldest_age_seconds },
    ];
  }

  async dead(scope: Scope): Promise<readonly DeadMessage[]> {
    return deadMessages(this.#box(scope));
  }

  /** Returns false if there is no such letter. */
  async redrive(scope: Scope, id: string): Promise<boolean> {
    return redriveMessage(this.#box(scope), id);
  }

  async discard(scope: Scope, id: string): Promise<boolean> {
    return discardMessage(this.#box(scope), id);
  }

  #box(scope: Scope): Letterbox {
    return { queue: this.#deps.queue, scope, name: dropBoxQueue, isOwn: () => true };
  }
}
