/**
 * The sweeper: removes expired items in bounded steps, container after container. Reads never wait for it, since an expired item is
 * invisible at once; it frees the space and puts the deletes into the feeds.
 */
import { noteSession } from "./noted-sessions.ts";
import type { SystemScope } from "../domain/scope.ts";
import type { ItemStore } from "../ports/item-store.ts";
import type { WriteOutcomes } from "./write-probe.ts";

/** Steps per container and run, so that a large backlog in one container does not keep the others waiting. */
const stepsMax = 10;

export interface SweepOptions {
  readonly items: Pick<ItemStore, "purgeExpired">;
  readonly scope: SystemScope;
  readonly containers: Iterable<string>;
  readonly signal?: AbortSignal | undefined;
}

export async function sweepExpired({ items, scope, containers, signal }: SweepOptions): Promise<number> {
  let purged = 0;
  const errors: Error[] = [];
  for (const container of containers) {
    try {
      purged += await sweepContainer(items, scope, container, signal);
    } catch (error) {
      errors.push(
        new Error(`${container}: ${error instanceof Error ? error.message : String(error)}`, { cause: error }),
      );
    }
  }
  // One failing container must not keep the rest from being swept; all failures are reported at the end.
  if (errors.length > 0) throw new AggregateError(errors, errors.map(({ message }) => message).join("; "));
  return purged;
}

async function sweepContainer(
  items: Pick<ItemStore, "purgeExpired">,
  scope: SystemScope,
  container: string,
  signal?: AbortSignal,
): Promise<number> {
  let purged = 0;
  for (let step = 0; step < stepsMax && signal?.aborted !== true; step += 1) {
    const result = await items.purgeExpired(scope, container);
    purged += result.purged;
    if (result.backlog === 0) break;
  }
  return purged;
}

/** The same store, recording the containers opened through it, for the sweeper, and how its last write ended. */
export function recordingContainers(store: ItemStore, opened: Set<string>, outcomes: WriteOutcomes): ItemStore {
  return {
    capabilities: store.capabilities,
    erasure: store.erasure,
    async openContainer(definition, options) {
      await store.openContainer(definition, options);
      opened.add(definition.name);
    },
    defaultTtl: (scope, container) => store.defaultTtl(scope, container),
    setDefaultTtl: (scope, container, ttl) => store.setDefaultTtl(scope, container, ttl),
    indexes: (container) => store.indexes(container),
    read: (scope, container, key, options) => store.read(scope, container, key, options),
    readRaw: (scope, container, key, options) => store.readRaw(scope, container, key, options),
    readMany: (scope, container, keys) => store.readMany(scope, container, keys),
    write: async (scope, container, partition, operation) =>
      noting(container, await outcomes.of(store.write(scope, container, partition, operation))),
    batch: async (scope, container, partition, operations) =>
      noting(container, await outcomes.of(store.batch(scope, container, partition, operations))),
    query: (scope, container, query) => store.query(scope, container, query),
    count: (scope, container, query) => store.count(scope, container, query),
    deletePartition: (scope, container, partition, options) =>
      store.deletePartition(scope, container, partition, options),
    changes: (scope, container, options) => store.changes(scope, container, options),
    purgeExpired: (scope, container, options) => store.purgeExpired(scope, container, options),
    close: () => store.close(),
    [Symbol.asyncDispose]: () => store.close(),
  };
}

/** Tokens cost time on engines where they matter, and have no effect on the others. */
function noting<Result extends { readonly session: string }>(container: string, result: Result): Result {
  noteSession(container, () => result.session);
  return result;
}
