/** Removing a source from one shard. */
import { sourcePrefix, type StoredQuad, type StoredSupport } from "./quad-items.ts";
import { operationsMax, type Shard, type ShardBatch } from "./shard.ts";
import { removeQuad, removeSupport } from "./write.ts";

/** Two items of the support, its quad, and the name of the quad's graph. */
const supportsPerBatch = Math.floor(operationsMax / 4);

export interface RemovedStep {
  readonly removed: number;
  readonly done: boolean;
}

/** Up to about `limit` supports; `left` counts down over shards. */
export async function removeSourceOf(shard: Shard, source: string, left: { supports: number }): Promise<RemovedStep> {
  let removed = 0;
  for (;;) {
    if (left.supports <= 0) return { removed, done: false };
    const step = await shard.change((batch) => plan(shard, batch, source));
    if (step.supports === 0) return { removed, done: true };
    removed += step.removed;
    left.supports -= step.supports;
  }
}

async function plan(shard: Shard, batch: ShardBatch, source: string): Promise<{ supports: number; removed: number }> {
  const supports = (await shard.list({ prefix: sourcePrefix(source) }, supportsPerBatch)).map(
    ({ document }) => document as unknown as StoredSupport,
  );
  const counts = new Map<string, number>();
  for (const support of supports) {
    removeSupport(batch, support);
    counts.set(support.quad, (counts.get(support.quad) ?? 0) + 1);
  }
  let removed = 0;
  for (const item of await shard.read([...counts.keys()])) {
    if (item === undefined) continue;
    const stored = item.document as unknown as StoredQuad;
    const gone = counts.get(stored.id) ?? 0;
    if (stored.asserted || stored.supports > gone)
      batch.patch(stored.id, [{ op: "incr", path: "/supports", value: -gone }]);
    else {
      removeQuad(batch, stored);
      removed += 1;
    }
  }
  return { supports: supports.length, removed };
}
