/**
 * One partition of a space, and its changes.
 *
 * Every change is a batch that also changes the shard's state, on condition of the etag that the state had before the first of the change's
 * reads. So a plan based on stale reads is rejected and repeated: each batch behaves as if there were no concurrent writers. The status is
 * in the same item, so a fence that came before the batch rejects it too.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { PinakesError } from "../../domain/errors.ts";
import type { JsonObject } from "../../domain/json.ts";
import { limits } from "../../domain/limits.ts";
import type { PatchStep } from "../../domain/patch.ts";
import type { Scope } from "../../domain/scope.ts";
import { isConflict } from "../../runtime/expected-errors.ts";
import type { Item, ItemStore, Operation, Range } from "../../ports/item-store.ts";
import { requireWritable, type SpaceStatus } from "../space-errors.ts";
import { graphId, stateId, tripleContainer, type Home } from "./quad-items.ts";
import { readSpace, tellShard, type ShardState } from "./spaces.ts";

/** Maximum operations besides the state's own that a batch may contain on every engine. */
export const operationsMax = 24;
const attemptsMax = 60;
const backoffMsMax = 200;
const { name: container } = tripleContainer;

interface Known {
  readonly etag: string;
  readonly state: ShardState;
}

export class Shard {
  readonly home: Home;
  readonly #items: ItemStore;
  readonly #scope: Scope;
  readonly #partition: readonly [string, number];
  /** Also set after our own batch, so that the next one need not read it. A shard object lives only for one call, so it is never stale. */
  #known: Known | undefined;

  constructor(items: ItemStore, scope: Scope, space: string, shard: number) {
    this.home = { space, shard };
    this.#items = items;
    this.#scope = scope;
    this.#partition = [space, shard];
  }

  async read(ids: readonly string[]): Promise<(Item | undefined)[]> {
    const found: (Item | undefined)[] = [];
    for (let start = 0; start < ids.length; start += limits.readManyKeysMax) {
      const keys = ids.slice(start, start + limits.readManyKeysMax).map((id) => ({ partition: this.#partition, id }));
      found.push(...(await this.#items.readMany(this.#scope, container, keys)));
    }
    return found;
  }

  /** The first items whose ids are in a range, from the partition itself. */
  async list(range: Range, limit: number): Promise<readonly Item[]> {
    const { space, shard } = this.home;
    return (await this.#items.query(this.#scope, container, { equals: { space, shard }, range, limit })).items;
  }

  /** `plan` reads, and fills a batch; it is repeated if others wrote meanwhile. A plan without operations writes nothing. */
  async change<T>(plan: (batch: ShardBatch) => Promise<T>, status: SpaceStatus = "open"): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      const known = (this.#known ??= await this.#readState());
      if (known.state.status !== status) await this.#learn(known.state);
      else {
        const batch = new ShardBatch(this.home);
        const result = await plan(batch);
        if (batch.size === 1 || (await this.#commit(known, batch))) return result;
      }
      this.#known = undefined;
      if (attempt === attemptsMax)
        throw new PinakesError(
          "UNAVAILABLE",
          `Too many others write to the space ${JSON.stringify(this.home.space)} at once. Try again.`,
        );
      if (attempt > 1) await sleep(Math.random() * Math.min(backoffMsMax, 2 ** attempt));
    }
  }

  /** False if another writer changed the shard first. */
  async #commit({ etag, state }: Known, batch: ShardBatch): Promise<boolean> {
    const graphs = await this.#graphOperations(batch);
    const next = { ...state, quads: state.quads + batch.quads, supports: state.supports + batch.supports };
    const operation = { op: "replace", document: { id: stateId, ...this.home, ...next }, ifMatch: etag } as const;
    // The state becomes known only if this succeeds; an unknown outcome leaves it unknown.
    this.#known = undefined;
    try {
      const { results } = await this.#items.batch(this.#scope, container, this.#partition, [
        operation,
        ...batch.operations,
        ...graphs,
      ]);
      this.#known = { etag: results[0]?.etag as string, state: next };
      return true;
    } catch (error) {
      if (isConflict(error)) return false;
      throw error;
    }
  }

  async #graphOperations({ graphs }: ShardBatch): Promise<Operation[]> {
    const changed = [...graphs].filter(([, { change }]) => change !== 0);
    const found = await this.read(changed.map(([key]) => graphId(key)));
    return changed.map(([key, { g, change }], i): Operation => {
      const count = found[i]?.document["quads"] as number | undefined;
      const id = graphId(key);
      if (count === undefined) return { op: "create", document: { id, ...this.home, g, quads: change } };
      if (count + change === 0) return { op: "delete", id };
      return { op: "patch", id, patch: [{ op: "incr", path: "/quads", value: change }] };
    });
  }

  async #readState(): Promise<Known> {
    const item = await this.#items.read(this.#scope, container, { partition: this.#partition, id: stateId });
    if (item !== undefined) return { etag: item.etag, state: stateOf(item.document) };
    const record = await readSpace(this.#items, this.#scope, this.home.space);
    requireWritable(this.home.space, record?.status);
    if (record !== undefined) await tellShard(this.#items, this.#scope, this.home.space, this.home.shard, record);
    return this.#readState();
  }

  /** Either the record is newer, or the shard is right and the call is rejected. */
  async #learn({ version }: ShardState): Promise<void> {
    const { space, shard } = this.home;
    const record = await readSpace(this.#items, this.#scope, space);
    requireWritable(space, record?.status);
    if (record !== undefined && record.version > version)
      await tellShard(this.#items, this.#scope, space, shard, record);
  }
}

function stateOf({ status, version, quads, supports }: JsonObject): ShardState {
  return { status, version, quads, supports } as unknown as ShardState;
}

/** The operations of one batch, and their changes to the shard's counters. */
export class ShardBatch {
  readonly home: Home;
  readonly operations: Operation[] = [];
  /** By key: how many quads a graph gains or loses. */
  readonly graphs = new Map<string, { readonly g: string; change: number }>();
  quads = 0;
  supports = 0;

  constructor(home: Home) {
    this.home = home;
  }

  /** Including that of the state. */
  get size(): number {
    return 1 + this.operations.length + this.graphs.size;
  }

  create(document: JsonObject): void {
    this.operations.push({ op: "create", document });
  }

  patch(id: string, patch: readonly PatchStep[]): void {
    this.operations.push({ op: "patch", id, patch });
  }

  delete(id: string): void {
    this.operations.push({ op: "delete", id });
  }

  /** Adds or removes one quad in a graph's count; nothing for the default graph. */
  graph(key: string | undefined, g: string | undefined, change: number): void {
    if (key === undefined || g === undefined) return;
    const known = this.graphs.get(key);
    if (known === undefined) this.graphs.set(key, { g, change });
    else known.change += change;
  }
}
