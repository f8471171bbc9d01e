/**
 * Read, change, write on the etag that was read; again if somebody else was faster.
 *
 * Updates of one document by one client wait for each other, so a hundred of them at once cost a hundred writes and not thousands of
 * collisions. Those of other processes are met by the etag, and by a little patience.
 */
import { PreconditionFailedError } from "../errors.ts";
import { backoffMs, sleep } from "../waiting.ts";

export interface UpdateOptions {
  /** How often to begin again when somebody else was faster. 20 when absent. */
  readonly retries?: number | undefined;
}

export interface Attempt<Document> {
  read(): Promise<Document>;
  /** The document as it is after the write; what was read when nothing is to be changed. */
  write(before: Document): Promise<Document>;
}

const retriesDefault = 20;
const backoffMsFirst = 10;
const backoffMsMax = 1_000;

export class Updates {
  /** The last update of each document that is under way. */
  readonly #last = new Map<string, Promise<unknown>>();

  async run<Document>(
    key: string,
    attempt: Attempt<Document>,
    { retries = retriesDefault }: UpdateOptions = {},
  ): Promise<Document> {
    const before = this.#last.get(key) ?? Promise.resolve();
    const mine = before.then(() => optimistic(attempt, retries));
    const settled = mine.then(
      () => {},
      () => {},
    );
    this.#last.set(key, settled);
    try {
      return await mine;
    } finally {
      if (this.#last.get(key) === settled) this.#last.delete(key);
    }
  }
}

async function optimistic<Document>(attempted: Attempt<Document>, retries: number): Promise<Document> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await attempted.write(await attempted.read());
    } catch (error) {
      if (!PreconditionFailedError.isInstance(error) || attempt >= retries) throw error;
      await sleep(backoffMs(attempt, backoffMsFirst, backoffMsMax));
    }
  }
}
