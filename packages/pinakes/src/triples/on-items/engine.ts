/** The triple engine on any item store; it owns only a container. Each part of the work has its own file. */
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
import { KeyedQueue } from "../../runtime/keyed-queue.ts";
import { badCursor, requireNotClosed, requireRestorable, requireWritable } from "../space-errors.ts";
import type {
  MatchRequest,
  MatchResult,
  PreparedChange,
  SourceRequest,
  SourceResult,
  SourceRow,
  SpaceKey,
  TripleEngine,
} from "../triple-engine.ts";
import { countQuads, matchQuads, readPage } from "./match.ts";
import {
  graphId,
  Keys,
  quadId,
  quadOf,
  shardOf,
  shardsPerSpace,
  sourcePrefix,
  stateId,
  type StoredQuad,
  type StoredSupport,
  supportPrefix,
} from "./quad-items.ts";
import { type RemovedStep, removeSourceOf } from "./remove-source.ts";
import { operationsMax, Shard, type ShardBatch } from "./shard.ts";
import { all, listSpaces, readSpace, readStates, settleStatus, tellShards } from "./spaces.ts";
import { insertQuads, keyedQuad, type KeyedQuad, removeQuad, removeQuads, removeSupport } from "./write.ts";

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

/** The graph names of a space: merges the sorted names of its shards. */
const itemsPerListMax = 1_000;
const keyPattern = /^[A-Za-z0-9_-]{27}$/;

async function listGraphs(
  shards: readonly Shard[],
  after: string | undefined,
  limit: number,
): Promise<{ graphs: TermText[]; next: string | undefined }> {
  if (after !== undefined && !keyPattern.test(after)) throw badCursor();
  const found = new Map<string, TermText>();
  let complete = true;
  for (const shard of shards) {
    // The full limit from each shard, so the first names of the space are among these.
    const range = after === undefined ? { gte: graphId(""), lt: "h" } : { gt: graphId(after), lt: "h" };
    const items = await shard.list(range, Math.min(itemsPerListMax, limit + 1));
    if (items.length === itemsPerListMax) complete = false;
    for (const { id, document } of items) found.set(id, document["g"] as TermText);
  }
  const sorted = [...found].toSorted(([a], [b]) => (a < b ? -1 : 1));
  const page = sorted.slice(0, limit);
  const more = sorted.length > limit || (!complete && sorted.length === limit);
  return { graphs: page.map(([, g]) => g), next: more ? page.at(-1)?.[0].slice(graphId("").length) : undefined };
}

/**
 * What a source supports, shard by shard, read from the partitions themselves. A position is the number of a shard and the item store's own
 * cursor in it. A support contains only the id of its quad, which is in the same partition.
 */
interface SourceCursor {
  readonly shard: number;
  /** If absent, starts at the beginning. */
  readonly cursor?: string | undefined;
}

async function rowsOfSource(
  items: ItemStore,
  scope: Scope,
  space: string,
  { source, after, limit }: SourceRequest,
): Promise<SourceResult> {
  const rows: SourceRow[] = [];
  let examined = 0;
  let place: SourceCursor = after === undefined ? { shard: 0 } : parsePlace(after);
  while (place.shard < shardsPerSpace && examined < limit) {
    const { shard, cursor } = place;
    const range = { equals: { space, shard }, range: { prefix: sourcePrefix(source) } };
    const page = await readPage(items, scope, range, limit - examined, cursor);
    examined += page.examined;
    const supports = page.items.map(({ document }) => document as unknown as StoredSupport);
    const quads = await readQuads(new Shard(items, scope, space, shard), new Set(supports.map(({ quad }) => quad)));
    for (const [i, { quad: id, part }] of supports.entries()) {
      const quad = quads.get(id);
      if (quad !== undefined) rows.push({ quad, part, place: placeText({ shard, cursor: page.after(i) }) });
    }
    place = page.cursor === undefined ? { shard: shard + 1 } : { shard, cursor: page.cursor };
  }
  return { rows, next: place.shard < shardsPerSpace ? placeText(place) : undefined, examined };
}

/** Without quads that were removed since their support was read. */
async function readQuads(shard: Shard, ids: ReadonlySet<string>): Promise<Map<string, Quad>> {
  const quads = new Map<string, Quad>();
  for (const item of await shard.read([...ids])) if (item !== undefined) quads.set(item.id, quadOf(item.document));
  return quads;
}

function placeText({ shard, cursor = "" }: SourceCursor): string {
  return `${shard}:${cursor}`;
}

function parsePlace(text: string): SourceCursor {
  const [, shard = "", cursor = ""] = /^(\d):(.*)$/s.exec(text) ?? [];
  if (shard === "" || Number(shard) >= shardsPerSpace) throw badCursor();
  return cursor === "" ? { shard: Number(shard) } : { shard: Number(shard), cursor };
}

// Purges a shard: removes everything except its state, which stays to reject late writes. Verified by reading the partition itself.

/** A support is two items, and removing a quad may also remove the name of its graph. */
const rowsPerBatch = Math.floor(operationsMax / 2);

interface PurgeStep {
  readonly deleted: number;
  readonly done: boolean;
}

async function purgeShard(shard: Shard, limit: number): Promise<PurgeStep> {
  let deleted = 0;
  for (;;) {
    const left = Math.min(rowsPerBatch, limit - deleted);
    if (left === 0) return { deleted, done: false };
    const step = await shard.change((batch) => plan(shard, batch, left), "purged");
    if (step === "empty") return { deleted, done: true };
    deleted += step;
  }
}

/** Number of quads or supports that the batch removes. */
async function plan(shard: Shard, batch: ShardBatch, limit: number): Promise<number | "empty"> {
  const supports = await shard.list({ prefix: "u" }, limit);
  for (const { document } of supports) removeSupport(batch, document as unknown as StoredSupport);
  if (supports.length > 0) return supports.length;
  for (const kind of ["d", "n"]) {
    const quads = await shard.list({ prefix: kind }, limit);
    for (const { document } of quads) removeQuad(batch, document as unknown as StoredQuad);
    if (quads.length > 0) return quads.length;
  }
  // Graph names and the second items of supports were removed with them. Any leftovers are removed too.
  const rest = await shard.list({ gt: stateId }, operationsMax);
  for (const { id } of rest) batch.delete(id);
  return rest.length === 0 ? "empty" : 0;
}
