/**
 * Connections: a pool for calls, single sessions for background work, and transactions that are repeated where that is safe.
 *
 * Invariants
 * - a connection that broke, or may be inside a transaction, never returns to the pool;
 * - a transaction is repeated only while its COMMIT has not been sent; afterwards the outcome is reported as unknown (unless the
 *   caller says that repeating it is safe);
 * - a connection is checked before it is used (`onConnect`): it may lead to another server than the last one;
 * - a commit is durable before others see it (synchronous_commit), whatever the server's default: the feed relies on it;
 * - every call ends: if the network goes silent, the client times out;
 * - statements are sent in the order of the calls without waiting for answers (pipelining); each still has its own snapshot.
 */
import { createHash } from "node:crypto";
import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import type { Client, ClientBase, ClientConfig, Pool, PoolClient } from "pg";
import { PinakesError } from "../../domain/errors.ts";
import { invariant } from "../../domain/invariant.ts";
import {
  isConflict,
  isConnectionLoss,
  isLockTimeout,
  isServerAnswer,
  isSilence,
  outcomeUnknown,
  toPinakesError,
  wasNotSent,
} from "./errors.ts";
import { RunningCalls } from "../../runtime/running-calls.ts";

const attemptsMaxDefault = 5;
const backoffMsMin = 20;
const backoffMsMax = 1_000;
const connectMsMax = 10_000;
const idleMsMax = 60_000;
const statementMsMax = 60_000;
/** The server cancels a statement before that, and says so: without an answer by then the connection is dead. */
const answerMsMaxDefault = statementMsMax + 5_000;
const keepAliveMs = 10_000;
const lockMsMax = 30_000;
/** A process that stops in the middle of a transaction must not hold a partition for ever. */
const idleInTransactionMsMax = 60_000;

export type Row = readonly unknown[];

export interface Session {
  query<R extends Row>(text: string, values?: readonly unknown[], options?: QueryOptions): Promise<R[]>;
}

export interface QueryOptions {
  /** False for a text that depends on a caller's filter: as prepared statements, the many variants would fill the connection's memory. */
  readonly prepare?: boolean | undefined;
}

type OnConnect = (connection: Transaction) => Promise<void>;

export interface TransactionOptions {
  readonly attemptsMax?: number | undefined;
  /** Also repeat if a lock was not granted in time. */
  readonly retryLockTimeout?: boolean | undefined;
  /** Also repeat if the outcome is unknown: it is idempotent. */
  readonly idempotent?: boolean | undefined;
}

export class Database implements Session {
  readonly #pool: Pool;
  readonly #connect: () => Client;
  readonly #hook: { onConnect?: OnConnect };
  readonly #bornAt = new WeakMap<PoolClient, number>();
  /** When a connection last timed out: older ones are probably dead, too. */
  #silentAt = -Infinity;
  readonly #running = new RunningCalls();
  #closed = false;

  private constructor(pool: Pool, connect: () => Client, hook: { onConnect?: OnConnect }) {
    this.#pool = pool;
    this.#connect = connect;
    this.#hook = hook;
    pool.on("connect", (client) => {
      this.#bornAt.set(client, performance.now());
      client.on("error", () => undefined);
    });
  }

  static async open(url: string, poolSize: number, answerMsMax = answerMsMaxDefault): Promise<Database> {
    const { default: pg } = await import("pg");
    // All our int8 values (times, counts) are safe integers; pg would return text.
    const types = new pg.TypeOverrides();
    types.setTypeParser(pg.types.builtins.INT8, Number);
    const config: ClientConfig = {
      connectionString: url,
      application_name: "pinakes",
      options: "-c synchronous_commit=on",
      keepAlive: true,
      keepAliveInitialDelayMillis: keepAliveMs,
      pipeline: true,
      connectionTimeoutMillis: connectMsMax,
      types,
    };
    const limits = {
      statement_timeout: statementMsMax,
      lock_timeout: lockMsMax,
      idle_in_transaction_session_timeout: idleInTransactionMsMax,
    };
    const hook: { onConnect?: OnConnect } = {};
    // Options in the address override ours.
    const foreignOptions = /[?&]options=/.test(url);
    // The pool waits for `onConnect`, though its types do not say so.
    const poolConfig = {
      ...config,
      ...limits,
      query_timeout: answerMsMax,
      max: poolSize,
      idleTimeoutMillis: idleMsMax,
      allowExitOnIdle: true,
      onConnect: async (client: ClientBase): Promise<void> => {
        if (foreignOptions) await client.query("SET synchronous_commit = on");
        await hook.onConnect?.(new Transaction(client));
      },
    };
    const pool = new pg.Pool(poolConfig);
    // The pool has already removed a connection that breaks while idle; one in use fails its query. An unhandled error event would end the
    // process.
    pool.on("error", () => undefined);
    return new Database(pool, () => new pg.Client(config), hook);
  }

  /** New connections of the pool are used only after `onConnect` accepted them. */
  onConnect(onConnect: OnConnect): void {
    this.#hook.onConnect = onConnect;
  }

  /** For idempotent statements: the call is repeated if the connection breaks. */
  async query<R extends Row>(text: string, values: readonly unknown[] = [], options: QueryOptions = {}): Promise<R[]> {
    return this.#tracked(() => repeat(() => this.#ask<R>(text, values, options)));
  }

  async #ask<R extends Row>(text: string, values: readonly unknown[], { prepare = true }: QueryOptions): Promise<R[]> {
    const client = await this.#checkOut();
    let broken = false;
    try {
      const sent = prepare ? statement(text, values) : { text, values: values as unknown[], rowMode: "array" as const };
      return (await client.query<never[]>(sent)).rows as unknown as R[];
    } catch (error) {
      broken = this.#isBroken(error);
      throw error;
    } finally {
      client.release(broken);
    }
  }

  async #checkOut(): Promise<PoolClient> {
    for (;;) {
      const client = await this.#pool.connect();
      if ((this.#bornAt.get(client) ?? 0) > this.#silentAt) return client;
      client.release(true);
    }
  }

  #isBroken(error: unknown): boolean {
    if (isSilence(error)) this.#silentAt = performance.now();
    return isConnectionLoss(error);
  }

  /** What `work` has not committed when it returns is rolled back. */
  async transact<T>(work: (transaction: Transaction) => Promise<T>, options: TransactionOptions = {}): Promise<T> {
    return this.#tracked(() => repeat(() => this.#attempt(work, options), options));
  }

  /** Closing waits for running calls; the pool alone would never answer those that wait for a connection. */
  async #tracked<T>(call: () => Promise<T>): Promise<T> {
    if (this.#closed)
      throw new PinakesError("UNAVAILABLE", "This store has been closed; open it again.", { retryable: false });
    return this.#running.run(call);
  }

  async #attempt<T>(
    work: (transaction: Transaction) => Promise<T>,
    { idempotent = false }: TransactionOptions,
  ): Promise<T> {
    const client = await this.#checkOut();
    const transaction = new Transaction(client);
    let broken = false;
    try {
      const result = await work(transaction);
      await transaction.end();
      return result;
    } catch (error) {
      broken = this.#isBroken(error);
      if (broken && transaction.commitSent && !idempotent) throw outcomeUnknown(error);
      if (!broken) {
        broken = await transaction.end().then(
          () => false,
          () => true,
        );
      }
      throw error;
    } finally {
      client.release(broken);
    }
  }

  /** A dedicated connection without time limits, for long work. */
  async session(): Promise<OwnSession> {
    const client = this.#connect();
    client.on("error", () => undefined);
    await client.connect();
    return new OwnSession(client);
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#running.settled();
    await this.#pool.end();
  }
}

/** Connection loss and conflicts are retried a few times; other errors, and the last, are translated to PinakesErrors. */
async function repeat<T>(
  attempt: () => Promise<T>,
  { attemptsMax = attemptsMaxDefault, retryLockTimeout = false }: TransactionOptions = {},
): Promise<T> {
  for (let count = 1; ; count += 1) {
    try {
      return await attempt();
    } catch (error) {
      const again = isConnectionLoss(error) || isConflict(error) || (retryLockTimeout && isLockTimeout(error));
      if (!again || count >= attemptsMax) throw toPinakesError(error);
      const pause = Math.min(backoffMsMax, backoffMsMin * 2 ** count);
      await sleep(pause / 2 + (Math.random() * pause) / 2);
    }
  }
}

export class Transaction implements Session {
  commitSent = false;
  #ended = false;
  readonly #client: ClientBase;

  constructor(client: ClientBase) {
    this.#client = client;
  }

  /**
   * Several statements without parameters; the first is BEGIN. Returns the last one's first row. Nothing is awaited: pass the promise to
   * `settle` or `commit`.
   */
  async run(text: string): Promise<Row> {
    const answer: unknown = await this.#client.query<never[]>({ text, rowMode: "array" });
    const last = (Array.isArray(answer) ? answer.at(-1) : answer) as { readonly rows: readonly Row[] };
    return last.rows[0] ?? [];
  }

  async query<R extends Row>(text: string, values: readonly unknown[] = []): Promise<R[]> {
    return (await this.#client.query<never[]>(statement(text, values))).rows as unknown as R[];
  }

  /** COMMIT is pipelined after the running statements: after a failure PostgreSQL treats it as a ROLLBACK. */
  async commit(underWay: readonly Promise<unknown>[] = []): Promise<void> {
    this.commitSent = true;
    const commit = this.#client.query("COMMIT");
    try {
      await settle([...underWay, commit]);
    } catch (error) {
      // Either the server itself failed a statement before the COMMIT, which then cannot have succeeded, or the connection was dead before
      // any of this was sent. In both cases nothing is stored, and everything may be repeated.
      const before = (await Promise.allSettled(underWay)).some(
        (outcome) => outcome.status === "rejected" && outcome.reason === error,
      );
      if ((before && isServerAnswer(error)) || wasNotSent(error)) this.commitSent = false;
      throw error;
    }
    this.#ended = true;
    invariant(
      (await commit).command === "COMMIT",
      "INTERNAL",
      "PostgreSQL rolled a transaction back without saying why",
    );
  }

  /** Rolls back unless it was committed. */
  async end(): Promise<void> {
    if (this.#ended) return;
    this.#ended = true;
    await this.#client.query("ROLLBACK");
  }
}

/** One connection for background work. Errors are PostgreSQL's own. */
export class OwnSession implements Session, AsyncDisposable {
  readonly #client: Client;

  constructor(client: Client) {
    this.#client = client;
  }

  async run(text: string): Promise<void> {
    await this.#client.query(text);
  }

  async query<R extends Row>(text: string, values: readonly unknown[] = []): Promise<R[]> {
    return (await this.#client.query<never[]>(statement(text, values))).rows as unknown as R[];
  }

  async transact<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    const transaction = new Transaction(this.#client);
    try {
      return await work(transaction);
    } finally {
      await transaction.end();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client.end();
  }
}

/** Waits until all are answered, so that none remains in flight on the connection; then throws the first error, which caused the rest. */
export async function settle(underWay: readonly Promise<unknown>[]): Promise<void> {
  const failed = (await Promise.allSettled(underWay)).find((outcome) => outcome.status === "rejected");
  if (failed !== undefined) throw failed.reason;
}

const statementNames = new Map<string, string>();

/** Prepared once per connection: a statement's name is derived from its text. */
function statement(
  text: string,
  values: readonly unknown[],
): { name: string; text: string; values: unknown[]; rowMode: "array" } {
  let name = statementNames.get(text);
  if (name === undefined)
    statementNames.set(text, (name = `p_${createHash("sha256").update(text).digest("hex").slice(0, 32)}`));
  return { name, text, values: values as unknown[], rowMode: "array" };
}
