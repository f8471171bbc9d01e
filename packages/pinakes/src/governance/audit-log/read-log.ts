/** Leaves and hashes of a stored log: sealed bundles and tiles, followed by blocks. */
import { PinakesError } from "../../domain/errors.ts";
import type { Scope } from "../../domain/scope.ts";
import { auditLimits } from "./limits.ts";
import { nodeHash, leafHash, subtrees, type Hash } from "./merkle.ts";
import { Block, Bundle, idOf, logPartition, Tile, type LogItems } from "./records.ts";

const width = auditLimits.bundleLeaves;
const tileLevels = 8;
const hashBytes = 32;
/** Blocks of one page; a bundle that is not sealed has at most as many as leaves. */
const blocksPageMax = 256;

/** The reads of one call, cached for its duration. */
export class LogReader {
  readonly #items: LogItems;
  readonly #scope: Scope;
  readonly #bundles = new Map<number, Promise<readonly string[]>>();
  readonly #tiles = new Map<string, Promise<Buffer>>();

  constructor(items: LogItems, scope: Scope) {
    this.#items = items;
    this.#scope = scope;
  }

  /** The existing leaves of a bundle; fewer than 256 only at the end of the log. */
  bundle(index: number): Promise<readonly string[]> {
    return remembered(this.#bundles, index, () => this.#readBundle(index));
  }

  /** Leaves [first, end), all of which exist. */
  async *leaves(first: number, end: number): AsyncGenerator<readonly [index: number, leaf: string], void> {
    for (let bundle = Math.floor(first / width); bundle * width < end; bundle += 1) {
      const leaves = await this.bundle(bundle);
      // A long export must not keep all of it.
      this.#bundles.delete(bundle);
      for (let i = Math.max(first, bundle * width); i < Math.min(end, (bundle + 1) * width); i += 1)
        yield [i, present(leaves[i - bundle * width], i)];
    }
  }

  readonly subtree = async (level: number, index: number): Promise<Hash> => {
    const hash = await this.#stored(level, index);
    if (hash !== undefined) return hash;
    if (level === 0) {
      const leaves = await this.bundle(Math.floor(index / width));
      return leafHash(Buffer.from(present(leaves[index % width], index)));
    }
    const [left, right] = await Promise.all([
      this.subtree(level - 1, index * 2),
      this.subtree(level - 1, index * 2 + 1),
    ]);
    return nodeHash(left, right);
  };

  /** The hashes of the complete subtrees of [first, end). */
  hashesOf(first: number, end: number): Promise<readonly Hash[]> {
    return Promise.all(subtrees(first, end).map(({ level, index }) => this.subtree(level, index)));
  }

  /** From the tile that has the subtree, or its parts. */
  async #stored(level: number, index: number): Promise<Hash | undefined> {
    const tileLevel = Math.floor(level / tileLevels);
    const count = 2 ** (level % tileLevels);
    const first = index * count;
    const tile = await this.#tile(tileLevel, Math.floor(first / width));
    const from = (first % width) * hashBytes;
    if (tile.length < from + count * hashBytes) return undefined;
    let hashes = Array.from({ length: count }, (_, i) =>
      tile.subarray(from + i * hashBytes, from + (i + 1) * hashBytes),
    );
    while (hashes.length > 1)
      hashes = Array.from({ length: hashes.length / 2 }, (_, i) =>
        nodeHash(hashes[i * 2] as Hash, hashes[i * 2 + 1] as Hash),
      );
    return hashes[0];
  }

  /** Its hashes; empty if there is no tile yet. */
  #tile(level: number, index: number): Promise<Buffer> {
    const id = idOf.tile(level, index);
    return remembered(this.#tiles, id, async () => {
      const item = await this.#items.read(this.#scope, { ...logPartition, id });
      return item === undefined ? Buffer.alloc(0) : Buffer.from(Tile.parse(item).hashes, "base64");
    });
  }

  async #readBundle(index: number): Promise<readonly string[]> {
    const sealed = await this.#readSealed(index);
    if (sealed !== undefined) return sealed;
    const leaves = await readBlocks(this.#items, this.#scope, index);
    // Sealed meanwhile: some of its blocks may already be deleted.
    return leaves.length === width ? leaves : ((await this.#readSealed(index)) ?? leaves);
  }

  async #readSealed(index: number): Promise<readonly string[] | undefined> {
    const item = await this.#items.read(this.#scope, { ...logPartition, id: idOf.bundle(index) });
    return item === undefined ? undefined : Bundle.parse(item).leaves;
  }
}

/** The leaves of the blocks of a bundle, up to the first gap. */
export async function readBlocks(items: LogItems, scope: Scope, index: number): Promise<readonly string[]> {
  const leaves: string[] = [];
  const range = { gte: idOf.block(index * width), lt: idOf.block((index + 1) * width) };
  let cursor: string | undefined;
  do {
    const page = await items.list(scope, logPartition, { range, limit: blocksPageMax, cursor });
    for (const item of page.items) {
      const block = Block.parse(item);
      if (block.first !== index * width + leaves.length) return leaves;
      leaves.push(...block.leaves);
    }
    cursor = page.cursor;
  } while (cursor !== undefined);
  return leaves;
}

function present(leaf: string | undefined, index: number): string {
  if (leaf !== undefined) return leaf;
  throw new PinakesError("CORRUPT", `Entry ${index} of the audit log is missing from the store.`);
}

function remembered<Key, Value>(map: Map<Key, Promise<Value>>, key: Key, read: () => Promise<Value>): Promise<Value> {
  let value = map.get(key);
  if (value === undefined) {
    value = read();
    map.set(key, value);
  }
  return value;
}
