/** The triple engine on any item store; it owns only a container. Each part of the work has its own file. */
import { KeyedQueue } from "../../runtime/keyed-queue.ts";
import type { Quad, TermText } from "../../domain/rdf.ts";
import type { Scope, SystemScope } from "../../domain/scope.ts";
import type { ScrubReport } from "../../ports/item-erasure.ts";
import type { ItemStore } from "../../ports/item-store.ts";
import type {
  QuadChanges,
  QuadPattern,
  SpaceInfo,
  SpaceUsage,
  Support,
  TripleStoreCapabilities,
} from "../../ports/triple-store.ts";
import { requireNotClosed, requireRestorable, requireWritable } from "../space-errors.ts";
import type {
  MatchRequest,
  MatchResult,
  PreparedChange,
  SourceRequest,
  SourceResult,
  SpaceKey,
  TripleEngine,
} from "../triple-engine.ts";
import { listGraphs } from "./graphs.ts";
import { countQuads, matchQuads } from "./match.ts";
import { rowsOfSource } from "./of-source.ts";
import { purgeShard, type PurgeStep } from "./purge.ts";
import { Keys, quadId, shardOf, shardsPerSpace, supportPrefix, type StoredSupport } from "./quad-items.ts";
import { removeSourceOf, type RemovedStep } from "./remove-source.ts";
import { Shard } from "./shard.ts";
import { all, listSpaces, readSpace, readStates, settleStatus, tellShards } from "./spaces.ts";
import { insertQuads, keyedQuad, removeQuads, type KeyedQuad } from "./write.ts";

const readsAtOnce = 16;

export class ItemTripleEngine implements TripleEngine {
  readonly capabilities: TripleStoreCapabilities;
  /** Quads may be in several partitions, and no transaction spans two of them, but many are planned and sent together. */
  readonly writeQuadsMax = 1_000;
  readonly #items: ItemStore;
  readonly #system: SystemScope;
  /** Within a process writers of one shard queue up instead of conflicting with each other. */
  readonly #queue = new KeyedQueue();

  constructor(items: ItemStore, system: SystemScope) {
    this.#items = items;
    this.#system = system;
    const { engine, indexReads, durable } = items.capabilities;
    this.capabilities = { engine: `items on ${engine}`, reads: indexReads, atomicQuadsMax: 1, durable };
  }

  async open({ tenant, space }: SpaceKey): Promise<void> {
    requireNotClosed(space, (await settleStatus(this.#items, this.#scope(tenant), space, "open", [])).status);
  }

  async write(key: SpaceKey, { terms, insert, remove, source }: PreparedChange): Promise<QuadChanges> {
    requireWritable(key.space, (await readSpace(this.#items, this.#scope(key.tenant), key.space))?.status);
    const keys = new Keys();
    const shards = Array.from({ length: shardsPerSpace }, () => ({
      insert: new Map<string, KeyedQuad>(),
      remove: new Map<string, KeyedQuad>(),
    }));
    const sort = (places: Uint32Array, kind: "insert" | "remove"): void => {
      for (let i = 0; i < places.length; i += 4) {
        const [s, p, o, g] = Array.from(places.subarray(i, i + 4), (place) => terms[place]) as [
          string,
          string,
          string,
          string,
        ];
        const quad = { s, p, o, g };
        const one = keyedQuad(quad, keys.quad(quad));
        shards[shardOf(one.keys.s)]?.[kind].set(one.id, one);
      }
    };
    sort(remove, "remove");
    sort(insert, "insert");
    const changes = await all(
      shards.map(async (change, number) => {
        if (change.insert.size + change.remove.size === 0) return { inserted: 0, removed: 0 };
        return this.#inTurn(key, number, async (shard) => {
          const removed = await removeQuads(shard, [...change.remove.values()]);
          return { removed, inserted: await insertQuads(shard, [...change.insert.values()], source) };
        });
      }),
    );
    return { inserted: sum(changes, ({ inserted }) => inserted), removed: sum(changes, ({ removed }) => removed) };
  }

  async removeSource(key: SpaceKey, source: string, limit: number): Promise<RemovedStep> {
    requireWritable(key.space, (await readSpace(this.#items, this.#scope(key.tenant), key.space))?.status);
    const left = { supports: limit };
    let removed = 0;
    for (let number = 0; number < shardsPerSpace; number += 1) {
      const step = await this.#inTurn(key, number, (shard) => removeSourceOf(shard, source, left));
      removed += step.removed;
      if (!step.done) return { removed, done: false };
    }
    return { removed, done: true };
  }

  async match({ tenant, space }: SpaceKey, request: MatchRequest): Promise<MatchResult> {
    const scope = this.#scope(tenant);
    if (!(await this.#isOpen(scope, space))) return { quads: [], next: undefined, examined: 0 };
    return matchQuads(this.#items, scope, space, request);
  }

  async count(key: SpaceKey, pattern: QuadPattern, max: number | undefined): Promise<number> {
    const scope = this.#scope(key.tenant);
    if (!(await this.#isOpen(scope, key.space))) return 0;
    const { s, p, o, g } = pattern;
    if (s !== undefined || p !== undefined || o !== undefined || g !== undefined)
      return countQuads(this.#items, scope, key.space, pattern, max);
    return Math.min(max ?? Infinity, (await this.usage(key)).quads);
  }

  async supports(
    { tenant, space }: SpaceKey,
    quads: readonly Quad[],
    limit: number,
  ): Promise<readonly (readonly Support[])[]> {
    const scope = this.#scope(tenant);
    if (!(await this.#isOpen(scope, space))) return quads.map(() => []);
    const keys = new Keys();
    const found: Support[][] = [];
    for (let start = 0; start < quads.length; start += readsAtOnce) {
      const some = quads.slice(start, start + readsAtOnce).map(async (quad) => {
        const quadKeys = keys.quad(quad);
        const items = await new Shard(this.#items, scope, space, shardOf(quadKeys.s)).list(
          { prefix: supportPrefix(quadId(quadKeys)) },
          limit,
        );
        return items.map(({ document }) => {
          const { source, part } = document as unknown as StoredSupport;
          return { source, part };
        });
      });
      found.push(...(await Promise.all(some)));
    }
    return found;
  }

  async asserted({ tenant, space }: SpaceKey, quads: readonly Quad[]): Promise<readonly boolean[]> {
    const scope = this.#scope(tenant);
    const asserted = quads.map(() => false);
    if (!(await this.#isOpen(scope, space))) return asserted;
    const keys = new Keys();
    const asked = quads.map((quad, place) => ({ place, keys: keys.quad(quad) }));
    for (const [number, some] of Map.groupBy(asked, ({ keys: { s } }) => shardOf(s))) {
      const found = await new Shard(this.#items, scope, space, number).read(some.map((one) => quadId(one.keys)));
      for (const [i, { place }] of some.entries()) asserted[place] = found[i]?.document["asserted"] === true;
    }
    return asserted;
  }

  /** Terms are stored inside the quads; searching for each would cost as much as the query itself. */
  async mayUse({ tenant, space }: SpaceKey, terms: readonly TermText[]): Promise<readonly boolean[]> {
    const open = await this.#isOpen(this.#scope(tenant), space);
    return terms.map(() => open);
  }

  async ofSource({ tenant, space }: SpaceKey, request: SourceRequest): Promise<SourceResult> {
    const scope = this.#scope(tenant);
    if (!(await this.#isOpen(scope, space))) return { rows: [], next: undefined, examined: 0 };
    return rowsOfSource(this.#items, scope, space, request);
  }

  async graphs(
    { tenant, space }: SpaceKey,
    after: string | undefined,
    limit: number,
  ): Promise<{ readonly graphs: readonly TermText[]; readonly next?: string | undefined }> {
    const scope = this.#scope(tenant);
    if (!(await this.#isOpen(scope, space))) return { graphs: [] };
    return listGraphs(
      Array.from({ length: shardsPerSpace }, (_, number) => new Shard(this.#items, scope, space, number)),
      after,
      limit,
    );
  }

  /** Terms are stored inside the quads, so there are none to count. */
  async usage({ tenant, space }: SpaceKey): Promise<SpaceUsage> {
    const states = await readStates(this.#items, this.#scope(tenant), space);
    return {
      quads: sum(states, (state) => state?.quads ?? 0),
      supports: sum(states, (state) => state?.supports ?? 0),
      terms: 0,
    };
  }

  async spaces(
    tenant: string,
    after: string,
    limit: number,
  ): Promise<{ readonly spaces: readonly SpaceInfo[]; readonly done: boolean }> {
    return listSpaces(this.#items, this.#scope(tenant), after, limit);
  }

  async fence({ tenant, space }: SpaceKey): Promise<void> {
    const scope = this.#scope(tenant);
    // Even if it was fenced before: that call may have stopped before every shard was updated.
    await tellShards(this.#items, scope, space, await settleStatus(this.#items, scope, space, "fenced", ["open"]));
  }

  async unfence({ tenant, space }: SpaceKey): Promise<void> {
    const scope = this.#scope(tenant);
    requireRestorable(space, (await readSpace(this.#items, scope, space))?.status);
    requireNotClosed(space, (await settleStatus(this.#items, scope, space, "open", ["fenced"])).status);
  }

  async purge(key: SpaceKey, limit: number): Promise<PurgeStep> {
    const scope = this.#scope(key.tenant);
    await tellShards(
      this.#items,
      scope,
      key.space,
      await settleStatus(this.#items, scope, key.space, "purged", ["open", "fenced"]),
    );
    let deleted = 0;
    for (let number = 0; number < shardsPerSpace; number += 1) {
      const step = await this.#inTurn(key, number, (shard) => purgeShard(shard, limit - deleted));
      deleted += step.deleted;
      if (!step.done) return { deleted, done: false };
    }
    return { deleted, done: true };
  }

  /** The data are items: their store compacts its own files. */
  async scrub(): Promise<ScrubReport> {
    return { outcome: "managed", bytes: null };
  }

  /** The caller owns the items and closes them. */
  async close(): Promise<void> {
    await this.#queue.idle();
  }

  #scope(tenant: string): Scope {
    return this.#system.forTenant(tenant);
  }

  /** False for a space that never existed. */
  async #isOpen(scope: Scope, space: string): Promise<boolean> {
    const record = await readSpace(this.#items, scope, space);
    requireNotClosed(space, record?.status);
    return record !== undefined;
  }

  #inTurn<T>({ tenant, space }: SpaceKey, number: number, work: (shard: Shard) => Promise<T>): Promise<T> {
    return this.#queue.run([`${tenant} ${space} ${number}`], () =>
      work(new Shard(this.#items, this.#scope(tenant), space, number)),
    );
  }
}

function sum<T>(list: readonly T[], value: (one: T) => number): number {
  return list.reduce((total, one) => total + value(one), 0);
}
