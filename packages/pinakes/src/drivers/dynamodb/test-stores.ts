/** For tests: stores on a local server, each with tables of its own. */
import { PinakesError } from "../../domain/errors.ts";
import { systemScope, type Scope } from "../../domain/scope.ts";
import type { Change, ItemStore } from "../../ports/item-store.ts";
import { openMemoryObjects } from "../memory-objects/index.ts";
import { openDynamoItems, type DynamoItemsOptions } from "./index.ts";
import { testConnection } from "./test-server.ts";

export class TestStores {
  readonly #endpoint: () => string;
  #count = 0;
  #last: DynamoItemsOptions | undefined;

  constructor(endpoint: () => string) {
    this.#endpoint = endpoint;
  }

  /** Options of a separate store. Definitions are short-lived, so that online changes need no waiting. */
  options(more: Partial<DynamoItemsOptions> = {}): DynamoItemsOptions {
    this.#count += 1;
    const objects = { store: openMemoryObjects(), scope: systemScope("tests of the DynamoDB driver", () => undefined) };
    return {
      ...testConnection,
      endpoint: this.#endpoint(),
      prefix: `test-${this.#count}`,
      objects,
      definitionMaxAgeMs: 50,
      inFlightMsMax: 0,
      ...more,
    };
  }

  open(more: Partial<DynamoItemsOptions> = {}): Promise<ItemStore> {
    this.#last = this.options(more);
    return openDynamoItems(this.#last);
  }

  /** The tables and objects of the store opened last. */
  reopen(more: Partial<DynamoItemsOptions> = {}): Promise<ItemStore> {
    if (this.#last === undefined) throw new Error("no store was opened yet");
    return openDynamoItems({ ...this.#last, ...more });
  }
}

/** The error of a call that must fail. */
export async function failure(promise: Promise<unknown>): Promise<PinakesError> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!PinakesError.isInstance(error)) throw new Error(`expected a PinakesError, got ${String(error)}`);
  return error;
}

/** The feed of container "notes" from its beginning, page by page. */
export async function wholeFeed(store: ItemStore, scope: Scope, limit: number): Promise<Change[]> {
  const changes: Change[] = [];
  for (let cursor: string | undefined; ;) {
    const page = await store.changes(scope, "notes", { limit, cursor });
    changes.push(...page.changes);
    cursor = page.cursor;
    if (!page.more) return changes;
  }
}
