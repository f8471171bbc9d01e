/**
 * Small writes that no call waits for: the last use of a key, or that a workspace was seen. At most one per subject at a time; a failed
 * write is logged and repeated by a later call.
 */
import { identityLimits } from "./limits.ts";

export class Notes {
  readonly #log: (line: string) => void;
  readonly #waiting = new Map<string, Promise<void>>();

  constructor(log: (line: string) => void) {
    this.#log = log;
  }

  /** Returns whether it was accepted. */
  write(subject: string, work: () => Promise<void>): boolean {
    if (this.#waiting.has(subject) || this.#waiting.size >= identityLimits.notesWaitingMax) return false;
    const done = work()
      .catch((error: unknown) =>
        this.#log(`identity: ${subject} could not be noted: ${error instanceof Error ? error.message : String(error)}`),
      )
      .finally(() => this.#waiting.delete(subject));
    this.#waiting.set(subject, done);
    return true;
  }

  async idle(): Promise<void> {
    while (this.#waiting.size > 0) await Promise.all(this.#waiting.values());
  }
}
