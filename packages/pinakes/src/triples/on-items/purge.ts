/** Purges a shard: removes everything except its state, which stays to reject late writes. Verified by reading the partition itself. */
import { stateId, type StoredQuad, type StoredSupport } from "./quad-items.ts";
import { operationsMax, type Shard, type ShardBatch } from "./shard.ts";
import { removeQuad, removeSupport } from "./write.ts";

/** A support is two items, and removing a quad may also remove the name of its graph. */
const rowsPerBatch = Math.floor(operationsMax / 2);

export interface PurgeStep {
  readonly deleted: number;
  readonly done: boolean;
}

export async function purgeShard(shard: Shard, limit: number): Promise<PurgeStep> {
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
