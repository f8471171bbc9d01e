/**
 * The queue of a writer's thread. Everything that has arrived by the end of a turn is committed as one group, so that many requests share
 * one fsync; a bound on the group's size keeps its first member from waiting for the last one's bytes.
 */
export interface GroupQueueOptions<Request> {
  readonly sizeOf: (request: Request) => number;
  /** In the unit of `sizeOf`. The request that reaches it is the last of its group. */
  readonly groupSizeMax: number;
  /** Gets one request at least. */
  readonly commit: (group: readonly Request[]) => void;
  /** Runs after each group, and when `wake` requests it; true while there is more to do. */
  readonly between?: () => boolean;
}

export class GroupQueue<Request> {
  readonly #options: GroupQueueOptions<Request>;
  #waiting: Request[] = [];
  #scheduled = false;

  constructor(options: GroupQueueOptions<Request>) {
    this.#options = options;
  }

  add(request: Request): void {
    this.#waiting.push(request);
    this.wake();
  }

  wake(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    // After all messages that have arrived were read.
    setImmediate(() => this.#work());
  }

  /** Commits everything that waits, now. */
  drain(): void {
    while (this.#waiting.length > 0) this.#work();
  }

  #work(): void {
    this.#scheduled = false;
    const group = this.#take();
    if (group.length > 0) this.#options.commit(group);
    const more = this.#options.between?.() ?? false;
    if (more || this.#waiting.length > 0) this.wake();
  }

  #take(): Request[] {
    const { sizeOf, groupSizeMax } = this.#options;
    let size = 0;
    let count = 0;
    while (count < this.#waiting.length && (count === 0 || size < groupSizeMax)) {
      size += sizeOf(this.#waiting[count] as Request);
      count += 1;
    }
    const group = this.#waiting.slice(0, count);
    this.#waiting = this.#waiting.slice(count);
    return group;
  }
}
