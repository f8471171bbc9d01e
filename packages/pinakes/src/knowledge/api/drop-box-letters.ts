/** The queue of a workspace's drop box, as its admins see it. Unlike the others it is the workspace's own: all of it is shown. */
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

  /** Only where there is a box: a look at a queue of SQS makes it. */
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

  /** Tells whether it was there. */
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
