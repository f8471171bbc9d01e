/**
 * The record of a space, in one partition for each tenant, and what its shards know of it.
 *
 * A write can check only its own partition in its transaction, so each shard has a state of its own: the record's status as of some version
 * of it. Reads check the record. `fence` and `purge` change the record first and then every shard, and complete only after all shards are
 * updated; a shard that missed an `unfence` learns of it at its next write. A higher version always wins, so two concurrent changes of the
 * status cannot leave shards that differ for good.
 */
import { PinakesError, show } from "../../domain/errors.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { Scope } from "../../domain/scope.ts";
import { retryOnConflict } from "../../runtime/expected-errors.ts";
import type { Item, ItemStore } from "../../ports/item-store.ts";
import type { SpaceInfo } from "../../ports/triple-store.ts";
import type { SpaceStatus } from "../space-errors.ts";
import { shardsPerSpace, stateId, tripleContainer } from "./quad-items.ts";

const format = 1;
const attemptsMax = 20;
/** Cannot be the name of a space. */
const registry = ["~spaces", 0] as const;
const { name: container } = tripleContainer;

export interface SpaceRecord {
  readonly status: SpaceStatus;
  readonly version: number;
}

export interface ShardState {
  readonly status: SpaceStatus;
  readonly version: number;
  readonly quads: number;
  readonly supports: number;
}

export async function readSpace(items: ItemStore, scope: Scope, space: string): Promise<SpaceRecord | undefined> {
  const item = await items.read(scope, container, { partition: registry, id: space });
  return item && recordOf(item);
}

function recordOf({ document }: Item): SpaceRecord {
  if (document["format"] !== format)
    throw new PinakesError(
      "NOT_SUPPORTED",
      `A space of triples has format ${show(document["format"])}; this version of Pinakes reads format ${format}. Update Pinakes.`,
    );
  return document as unknown as SpaceRecord;
}

/** Registers the space with a status, or sets it if the current one is in `from`; returns the resulting status. */
export async function settleStatus(
  items: ItemStore,
  scope: Scope,
  space: string,
  status: SpaceStatus,
  from: readonly SpaceStatus[],
): Promise<SpaceRecord> {
  const write = (version: number, etag?: string) => {
    const document: JsonObject = { id: space, space: registry[0], shard: registry[1], format, status, version };
    return items.write(
      scope,
      container,
      registry,
      etag === undefined ? { op: "create", document } : { op: "replace", document, ifMatch: etag },
    );
  };
  return retryOnConflict(
    async () => {
      const item = await items.read(scope, container, { partition: registry, id: space });
      const record = item && recordOf(item);
      if (record !== undefined && !from.includes(record.status)) return record;
      const version = (record?.version ?? 0) + 1;
      await write(version, item?.etag);
      return { status, version };
    },
    { attemptsMax },
  );
}

export async function tellShards(items: ItemStore, scope: Scope, space: string, record: SpaceRecord): Promise<void> {
  const states = await readStates(items, scope, space);
  const behind = states.flatMap((state, shard) =>
    state !== undefined && state.version >= record.version ? [] : [shard],
  );
  await all(behind.map((shard) => tellShard(items, scope, space, shard, record)));
}

/** Waits for all of them even if one fails: nothing continues in the background after the call. */
export async function all<T>(under: readonly Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(under);
  return Promise.all(under);
}

/** The states of all shards, undefined for one without writes. */
export async function readStates(items: ItemStore, scope: Scope, space: string): Promise<(ShardState | undefined)[]> {
  const keys = Array.from({ length: shardsPerSpace }, (_, shard) => ({ partition: [space, shard], id: stateId }));
  const found = await items.readMany(scope, container, keys);
  return found.map((item) => item?.document as ShardState | undefined);
}

/** Brings one shard to a version of the record, unless it knows a later one. */
export async function tellShard(
  items: ItemStore,
  scope: Scope,
  space: string,
  shard: number,
  { status, version }: SpaceRecord,
): Promise<void> {
  const partition = [space, shard];
  await retryOnConflict(
    async () => {
      const state = await items.read(scope, container, { partition, id: stateId });
      if (state === undefined) {
        await items.write(scope, container, partition, {
          op: "create",
          document: { id: stateId, space, shard, status, version, quads: 0, supports: 0 },
        });
        return;
      }
      if ((state.document as unknown as ShardState).version >= version) return;
      const patch = [
        { op: "set", path: "/status", value: status },
        { op: "set", path: "/version", value: version },
      ] as const;
      await items.write(scope, container, partition, { op: "patch", id: stateId, ifMatch: state.etag, patch });
    },
    // A shard under load changes all the time; each of these attempts conflicts with at most one of those writes.
    { attemptsMax: attemptsMax * 10 },
  );
}

export async function listSpaces(
  items: ItemStore,
  scope: Scope,
  after: string,
  limit: number,
): Promise<{ spaces: SpaceInfo[]; done: boolean }> {
  const page = await items.query(scope, container, {
    equals: { space: registry[0], shard: registry[1] },
    ...(after === "" ? {} : { range: { gt: after } }),
    limit,
  });
  const spaces = page.items.map((item) => ({ space: item.id, status: recordOf(item).status }));
  if (page.cursor === undefined) return { spaces, done: true };
  const more = await items.query(scope, container, {
    equals: { space: registry[0], shard: registry[1] },
    range: { gt: spaces.at(-1)?.space ?? after },
    limit: 1,
  });
  return { spaces, done: more.items.length === 0 };
}
