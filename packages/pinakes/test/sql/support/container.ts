/** The container of these tests, and what they do with it. */
import { expect } from "vitest";
import { PinakesError } from "../../../src/domain/errors.ts";
import type { JsonObject, JsonValue } from "../../../src/domain/json.ts";
import { tenantScope, type Scope } from "../../../src/domain/scope.ts";
import type { ContainerDefinition, IndexDefinition, ItemStore } from "../../../src/ports/item-store.ts";
import { runQuery, type QueryDefinition, type QueryOptions, type QueryResult } from "../../../src/sql/index.ts";

export const indexes: Readonly<Record<string, IndexDefinition>> = {
  all: { partition: [], sort: ["id"] },
  byN: { partition: [], sort: ["n"] },
  byW: { partition: ["w"], sort: ["n"] },
  byWs: { partition: ["w"], sort: [{ path: "s", order: "desc" }, "n"] },
  byU: { partition: ["m.u"], sort: ["s"] },
  byPn: { partition: ["p"], sort: ["n", { path: "s", order: "desc" }] },
};

export const container: ContainerDefinition = { name: "docs", partitionKey: ["p"], indexes };
export const definition: QueryDefinition = { name: "docs", partitionKey: ["p"], indexes, scanIndex: "all" };
export const key = new Uint8Array(32).fill(7);

let tenants = 0;

/** A tenant of its own for each test: the engines and their tables are shared. */
export class Documents {
  readonly store: ItemStore;
  readonly scope: Scope;
  sessions: string[] = [];

  constructor(store: ItemStore, scope = tenantScope(`tenant-${(tenants += 1)}`)) {
    this.store = store;
    this.scope = scope;
  }

  async put(documents: readonly JsonObject[]): Promise<void> {
    for (const [p, group] of Map.groupBy(documents, (document) => document["p"] as string)) {
      for (let from = 0; from < group.length; from += 25) {
        const operations = group.slice(from, from + 25).map((document) => ({ op: "upsert", document }) as const);
        this.sessions.push((await this.store.batch(this.scope, "docs", [p], operations)).session);
      }
    }
  }

  async remove(p: string, id: string): Promise<void> {
    this.sessions.push((await this.store.write(this.scope, "docs", [p], { op: "delete", id })).session);
  }

  run(
    query: string,
    options: QueryOptions & {
      readonly parameters?: Readonly<Record<string, JsonValue>>;
      readonly definition?: QueryDefinition;
    } = {},
  ): Promise<QueryResult> {
    const { parameters, definition: other, ...rest } = options;
    const merged = { key, session: this.sessions, ...rest };
    return runQuery({
      items: this.store,
      scope: this.scope,
      container: "docs",
      definition: other ?? definition,
      query,
      parameters,
      options: merged,
    });
  }

  /** All pages together. */
  async walk(query: string, options: Parameters<Documents["run"]>[1] = {}): Promise<JsonValue[]> {
    const found: JsonValue[] = [];
    for (let cursor = options.cursor, pages = 0; ; pages += 1) {
      const page = await this.run(query, { ...options, cursor });
      found.push(...page.items);
      cursor = page.cursor;
      if (cursor === undefined) return found;
      expect(pages).toBeLessThan(1_000);
    }
  }
}

/** The detail of the INVALID that a call must end with. */
export async function refusal(promise: Promise<unknown>): Promise<string> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!PinakesError.isInstance(error)) throw new Error(`expected INVALID, got ${String(error)}`);
  expect(error.code).toBe("INVALID");
  return error.detail;
}
