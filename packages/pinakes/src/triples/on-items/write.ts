/** Inserts and removes quads of one shard, in batches that every engine accepts. */
import type { Quad } from "../../domain/rdf.ts";
import type { Support } from "../../ports/triple-store.ts";
import {
  quadDocument,
  quadId,
  supportIds,
  supportPrefix,
  type QuadKeys,
  type StoredQuad,
  type StoredSupport,
} from "./quad-items.ts";
import { operationsMax, type Shard, type ShardBatch } from "./shard.ts";

/** A quad with the hashes of its terms. */
export interface KeyedQuad {
  readonly id: string;
  readonly quad: Quad;
  readonly keys: QuadKeys;
}

export function keyedQuad(quad: Quad, keys: QuadKeys): KeyedQuad {
  return { id: quadId(keys), quad, keys };
}

/** A batch has at most 2 MiB; a term's JSON is at most six times its bytes. */
const bytesMax = 1_500_000;

/** Quads that fit into a batch together if each costs `cost` operations, plus one for each graph name. */
function* chunks(quads: readonly KeyedQuad[], cost: number): Generator<KeyedQuad[]> {
  let chunk: KeyedQuad[] = [];
  let graphs = new Set<string>();
  let bytes = 0;
  for (const one of quads) {
    const { s, p, o, g } = one.quad;
    const own = 6 * (s.length + p.length + o.length + g.length);
    const named = one.keys.g === undefined || graphs.has(one.keys.g) ? 0 : 1;
    if (
      chunk.length > 0 &&
      ((chunk.length + 1) * cost + graphs.size + named > operationsMax || bytes + own > bytesMax)
    ) {
      yield chunk;
      [chunk, graphs, bytes] = [[], new Set(), 0];
    }
    chunk.push(one);
    if (one.keys.g !== undefined) graphs.add(one.keys.g);
    bytes += own;
  }
  if (chunk.length > 0) yield chunk;
}

/** Number of new quads. */
export async function insertQuads(
  shard: Shard,
  quads: readonly KeyedQuad[],
  source: Support | undefined,
): Promise<number> {
  let inserted = 0;
  for (const chunk of chunks(quads, source === undefined ? 1 : 3))
    inserted += await shard.change((batch) => planInserts(shard, batch, chunk, source));
  return inserted;
}

async function planInserts(
  shard: Shard,
  batch: ShardBatch,
  chunk: readonly KeyedQuad[],
  source: Support | undefined,
): Promise<number> {
  const supports = source === undefined ? [] : chunk.map(({ id }) => supportIds(id, source));
  const found = await shard.read([...chunk.map(({ id }) => id), ...supports.map(({ byQuad }) => byQuad)]);
  let inserted = 0;
  for (const [i, { id, quad, keys }] of chunk.entries()) {
    const stored = found[i]?.document as StoredQuad | undefined;
    if (source !== undefined && found[chunk.length + i] === undefined) {
      const ids = supports[i] as (typeof supports)[number];
      const support = { ...batch.home, quad: id, ...source };
      batch.create({ id: ids.byQuad, ...support });
      batch.create({ id: ids.bySource, ...support });
      batch.supports += 1;
      if (stored !== undefined) batch.patch(id, [{ op: "incr", path: "/supports", value: 1 }]);
    }
    if (stored === undefined) {
      batch.create(quadDocument(batch.home, quad, keys, source === undefined));
      batch.graph(keys.g, quad.g, 1);
      batch.quads += 1;
      inserted += 1;
    } else if (source === undefined && !stored.asserted)
      batch.patch(id, [{ op: "set", path: "/asserted", value: true }]);
  }
  return inserted;
}

/** Number of existing quads. */
export async function removeQuads(shard: Shard, quads: readonly KeyedQuad[]): Promise<number> {
  let removed = 0;
  for (const chunk of chunks(quads, 1)) {
    const { gone, supported } = await shard.change((batch) => planRemovals(shard, batch, chunk));
    removed += gone;
    for (const id of supported) removed += await removeSupported(shard, id);
  }
  return removed;
}

/** Quads without supports are removed at once. */
async function planRemovals(
  shard: Shard,
  batch: ShardBatch,
  chunk: readonly KeyedQuad[],
): Promise<{ gone: number; supported: string[] }> {
  const supported: string[] = [];
  let gone = 0;
  for (const item of await shard.read(chunk.map(({ id }) => id))) {
    if (item === undefined) continue;
    const stored = item.document as unknown as StoredQuad;
    if (stored.supports > 0) supported.push(stored.id);
    else {
      removeQuad(batch, stored);
      gone += 1;
    }
  }
  return { gone, supported };
}

export function removeQuad(batch: ShardBatch, { id, kg, g }: StoredQuad): void {
  batch.delete(id);
  batch.graph(kg, g, -1);
  batch.quads -= 1;
}

/** Including the quad and its graph's name. */
const supportsPerBatch = Math.floor((operationsMax - 2) / 2);

/** A quad has any number of supports; it is removed with the last of them. */
async function removeSupported(shard: Shard, id: string): Promise<number> {
  for (;;) {
    const state = await shard.change(async (batch) => {
      const [item] = await shard.read([id]);
      if (item === undefined) return "absent";
      const stored = item.document as unknown as StoredQuad;
      const supports = await shard.list({ prefix: supportPrefix(id) }, supportsPerBatch);
      for (const support of supports) removeSupport(batch, support.document as unknown as StoredSupport);
      if (supports.length < stored.supports) {
        batch.patch(id, [{ op: "incr", path: "/supports", value: -supports.length }]);
        return "supported";
      }
      removeQuad(batch, stored);
      return "removed";
    });
    if (state !== "supported") return state === "removed" ? 1 : 0;
  }
}

/** Both items of a support. */
export function removeSupport(batch: ShardBatch, { quad, source, part }: StoredSupport): void {
  const { byQuad, bySource } = supportIds(quad, { source, part });
  batch.delete(byQuad);
  batch.delete(bySource);
  batch.supports -= 1;
}
