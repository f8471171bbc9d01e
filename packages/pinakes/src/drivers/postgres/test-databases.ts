/** What the driver's own tests share: one server, a schema per test, and raw connections to inspect the database. */
import pg from "pg";
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import { until } from "../../../test/support/until.ts";
import { tenantScope } from "../../domain/scope.ts";
import type { ItemStore } from "../../ports/item-store.ts";
import { openPostgresItems, type PostgresItemsOptions } from "./index.ts";
import { startPostgres, type TestServer } from "./test-server.ts";

export const scope = tenantScope("acme");

export class TestDatabases {
  #server: TestServer | undefined;
  #count = 0;
  readonly #open: (() => Promise<void>)[] = [];

  constructor() {
    beforeAll(async () => {
      this.#server = await startPostgres();
    });
    afterEach(async () => {
      for (const close of this.#open.splice(0)) await close();
    });
    afterAll(async () => {
      await this.#server?.stop();
    });
  }

  get server(): TestServer {
    if (this.#server === undefined) throw new Error("the server is not running yet");
    return this.#server;
  }

  fresh(): string {
    return `test-${(this.#count += 1)}`;
  }

  /** As another process would open it: only the server is shared. */
  async store(database: string, options: Omit<PostgresItemsOptions, "url" | "database"> = {}): Promise<ItemStore> {
    const store = await openPostgresItems({ url: this.server.url, database, ...options });
    this.#open.push(() => store.close());
    return store;
  }

  async raw(): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: this.server.url });
    client.on("error", () => undefined);
    await client.connect();
    this.#open.unshift(() => client.end());
    return client;
  }
}

/** Waits until every index is ready, and returns the progress seen on the way. */
export async function untilReady(store: ItemStore, container: string): Promise<number[]> {
  const seen: number[] = [];
  await until(async () => {
    const statuses = await store.indexes(container);
    seen.push(...statuses.map(({ progress }) => progress));
    return statuses.every(({ state }) => state === "ready");
  });
  return seen;
}

export async function refusal(call: Promise<unknown>, code: string): Promise<string> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason as { code?: string; message: string },
  );
  expect(error).toMatchObject({ code });
  return error?.message ?? "";
}
