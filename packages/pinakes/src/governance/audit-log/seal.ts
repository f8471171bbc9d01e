/**
 * Turns complete bundles of blocks into one item each, with the hashes of their leaves as a tile. Runs in the background: unsealed entries
 * are read from their blocks.
 */
import { invariant } from "../../domain/invariant.ts";
import { hasCode } from "../../domain/errors.ts";
import type { Scope } from "../../domain/scope.ts";
import { auditLimits } from "./limits.ts";
import { CompactRange, leafHash, type Hash } from "./merkle.ts";
import { readBlocks } from "./read-log.ts";
import { Block, idOf, logPartition, Sealed, Tile, type LogItems } from "./records.ts";
import { readHead } from "./workspace-log.ts";

const width = auditLimits.bundleLeaves;
const deletesMax = 25;

type Operations = Parameters<LogItems["batch"]>[2][number];

/** Seals all that is complete; how many bundles that were. Another process may do the same: one of them moves on, the other stops. */
export async function seal(items: LogItems, scope: Scope, signal?: AbortSignal): Promise<number> {
  const item = await items.read(scope, { ...logPartition, id: "sealed" });
  let etag = item?._etag;
  let bundles = item === undefined ? 0 : Sealed.parse(item).bundles;
  await removeBlocks(items, scope, bundles);
  const { size } = await readHead(items, scope);
  let count = 0;
  while ((bundles + 1) * width <= size && signal?.aborted !== true) {
    try {
      etag = await sealBundle(items, scope, bundles, etag);
    } catch (error) {
      if (hasCode(error, "CONFLICT", "PRECONDITION_FAILED")) return count;
      // Blocks and tiles of a bundle that another process sealed meanwhile are not those of an unsealed one.
      if (hasCode(error, "CORRUPT") && (await sealedBundles(items, scope)) > bundles) return count;
      throw error;
    }
    bundles += 1;
    count += 1;
    await removeBlocks(items, scope, bundles);
  }
  return count;
}

async function sealedBundles(items: LogItems, scope: Scope): Promise<number> {
  const item = await items.read(scope, { ...logPartition, id: "sealed" });
  return item === undefined ? 0 : Sealed.parse(item).bundles;
}

async function sealBundle(
  items: LogItems,
  scope: Scope,
  index: number,
  etag: string | undefined,
): Promise<string | undefined> {
  const leaves = await readBlocks(items, scope, index);
  invariant(
    leaves.length === width,
    "CORRUPT",
    `bundle ${index} of the audit log has ${leaves.length} entries in its blocks.`,
  );
  const document = { id: "sealed", ...logPartition, bundles: index + 1 } as const;
  const hashes = leaves.map((leaf) => leafHash(Buffer.from(leaf)));
  const { results } = await items.batch(scope, logPartition, [
    etag === undefined ? { op: "create", document } : { op: "replace", document, ifMatch: etag },
    { op: "create", document: { id: idOf.bundle(index), ...logPartition, format: 1, leaves: [...leaves] } },
    ...(await tilesOf(items, scope, index, hashes)),
  ]);
  return results[0]?.etag;
}

/** The tile of the leaves, and the tiles above it, each one hash longer if the one below is full. */
async function tilesOf(items: LogItems, scope: Scope, index: number, leaves: readonly Hash[]): Promise<Operations[]> {
  const operations: Operations[] = [{ op: "create", document: tileOf(idOf.tile(0, index), Buffer.concat(leaves)) }];
  let [full, at] = [leaves, index];
  for (let level = 1; ; level += 1) {
    const id = idOf.tile(level, Math.floor(at / width));
    const item = await items.read(scope, { ...logPartition, id });
    const before = item === undefined ? Buffer.alloc(0) : Buffer.from(Tile.parse(item).hashes, "base64");
    invariant(before.length === (at % width) * 32, "CORRUPT", `tile ${id} of the audit log has a wrong length.`);
    const hashes = Buffer.concat([before, rootOf(full)]);
    const document = tileOf(id, hashes);
    operations.push(item === undefined ? { op: "create", document } : { op: "replace", document, ifMatch: item._etag });
    if (hashes.length < width * 32) return operations;
    full = Array.from({ length: width }, (_, i) => hashes.subarray(i * 32, (i + 1) * 32));
    at = Math.floor(at / width);
  }
}

function tileOf(id: string, hashes: Buffer) {
  return { id, ...logPartition, format: 1 as const, hashes: hashes.toString("base64") };
}

function rootOf(hashes: readonly Hash[]): Hash {
  const range = new CompactRange();
  for (const one of hashes) range.push(0, one);
  return range.root();
}

/** Deletes blocks of sealed bundles, including those that a crash left behind. */
async function removeBlocks(items: LogItems, scope: Scope, bundles: number): Promise<void> {
  if (bundles === 0) return;
  const range = { gte: idOf.block(0), lt: idOf.block(bundles * width) };
  for (;;) {
    const { items: blocks } = await items.list(scope, logPartition, { range, limit: deletesMax });
    if (blocks.length === 0) return;
    try {
      await items.batch(
        scope,
        logPartition,
        blocks.map((block) => ({ op: "delete", id: Block.parse(block).id }) as const),
      );
    } catch (error) {
      // Another process deletes them, too.
      if (!hasCode(error, "NOT_FOUND", "CONFLICT", "PRECONDITION_FAILED")) throw error;
    }
  }
}
