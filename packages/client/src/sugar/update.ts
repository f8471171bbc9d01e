/**
 * Read-modify-write, conditional on the etag that was read; retried after a lost race. Updates of one document by one client run
 * sequentially, so a hundred concurrent ones cost a hundred writes and not thousands of collisions. Conflicts with other processes are
 * detected by the etag, and retried with a delay.
 */
import { PreconditionFailedError } from "../errors.ts";
import { backoffMs, sleep } from "../waiting.ts";

export interface UpdateOptions {
  /** Maximum number of retries after a lost race. Default 20. */
  readonly retries?: number | undefined;
}

export interface Attempt<Document> {
  read(): Promise<Document>;
  /** The document after the write, or as read if nothing is to be changed. */
  write(before: Document): Promise<Document>;
}

const retriesDefault = 20;
const backoffMsFirst = 10;
const backoffMsMax = 1_000;

export class Updates {
  /** The last update in progress of each document. */
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
