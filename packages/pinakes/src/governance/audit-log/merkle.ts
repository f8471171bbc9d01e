/**
 * The Merkle tree of RFC 6962: hashes, roots and proofs. Pure; hashes come from a source for any complete subtree.
 *
 * A frontier is the list of complete subtrees, largest first, that make up a tree of some size: enough to append and to compute the root.
 */
import { hash } from "node:crypto";
import { PinakesError } from "../../domain/errors.ts";
import { invariant } from "../../domain/invariant.ts";

export type Hash = Buffer;
/** The hash of the complete subtree over leaves [index · 2^level, (index + 1) · 2^level). */
export type SubtreeHash = (level: number, index: number) => Promise<Hash>;

const hashBytes = 32;
const leafPrefix = Buffer.from([0]);
const nodePrefix = Buffer.from([1]);

export function leafHash(leaf: Uint8Array): Hash {
  return hash("sha256", Buffer.concat([leafPrefix, leaf]), "buffer");
}

export function nodeHash(left: Hash, right: Hash): Hash {
  return hash("sha256", Buffer.concat([nodePrefix, left, right]), "buffer");
}

/** A range of leaves as complete subtrees, from left to right. */
export class CompactRange {
  readonly #nodes: { level: number; hash: Hash }[] = [];
  #end: number;

  constructor(first = 0) {
    this.#end = first;
  }

  /** From the hashes of the complete subtrees of [first, end). */
  static of(first: number, end: number, hashes: readonly Hash[]): CompactRange {
    const parts = subtrees(first, end);
    if (parts.length !== hashes.length)
      throw new PinakesError(
        "CORRUPT",
        `A range of the audit log has ${hashes.length} hashes; ${parts.length} belong to it.`,
      );
    const range = new CompactRange(first);
    parts.forEach(({ level }, i) => range.push(level, hashes[i] as Hash));
    return range;
  }

  get end(): number {
    return this.#end;
  }

  get hashes(): readonly Hash[] {
    return this.#nodes.map(({ hash: one }) => one);
  }

  /** Appends a complete subtree; it must start at a multiple of its size. */
  push(level: number, added: Hash): void {
    invariant(added.length === hashBytes, "CORRUPT", "a hash of the audit log has the wrong length.");
    invariant(this.#end % 2 ** level === 0, "CORRUPT", "a subtree of the audit log starts at the wrong leaf.");
    this.#end += 2 ** level;
    let node = { level, hash: added };
    for (;;) {
      const last = this.#nodes.at(-1);
      // Merges the two halves of a subtree; a left half without its right half is kept.
      const index = this.#end / 2 ** node.level - 1;
      if (last?.level !== node.level || index % 2 === 0) break;
      this.#nodes.pop();
      node = { level: node.level + 1, hash: nodeHash(last.hash, node.hash) };
    }
    this.#nodes.push(node);
  }

  /** Of a range that starts at leaf 0. */
  root(): Hash {
    const [last, ...more] = this.#nodes.map(({ hash: one }) => one).toReversed();
    if (last === undefined) return hash("sha256", "", "buffer");
    return more.reduce((right, left) => nodeHash(left, right), last);
  }
}

export interface Subtree {
  readonly level: number;
  readonly index: number;
}

/** The complete subtrees of [first, end), each as large as its place allows. */
export function subtrees(first: number, end: number): readonly Subtree[] {
  const parts: Subtree[] = [];
  for (let at = first; at < end;) {
    let level = 0;
    while (at % 2 ** (level + 1) === 0 && at + 2 ** (level + 1) <= end) level += 1;
    parts.push({ level, index: at / 2 ** level });
    at += 2 ** level;
  }
  return parts;
}

/** The tree hash of leaves [first, end), where `first` is a place at which RFC 6962 splits. */
async function rangeHash(first: number, end: number, hashOf: SubtreeHash): Promise<Hash> {
  const parts = await Promise.all(subtrees(first, end).map(({ level, index }) => hashOf(level, index)));
  const [last, ...more] = parts.toReversed() as [Hash, ...Hash[]];
  return more.reduce((right, left) => nodeHash(left, right), last);
}

/** That the leaf at `index` is in the tree of `size`. */
export async function inclusionProof(index: number, size: number, hashOf: SubtreeHash): Promise<readonly Hash[]> {
  const proof: Hash[] = [];
  let [low, high] = [0, size];
  while (high - low > 1) {
    const middle = low + splitOf(high - low);
    if (index < middle) {
      proof.push(await rangeHash(middle, high, hashOf));
      high = middle;
    } else {
      proof.push(await rangeHash(low, middle, hashOf));
      low = middle;
    }
  }
  return proof.toReversed();
}

/** That the tree of `from` leaves is the beginning of the tree of `size`. */
export async function consistencyProof(from: number, size: number, hashOf: SubtreeHash): Promise<readonly Hash[]> {
  if (from === 0 || from === size) return [];
  const proof: Hash[] = [];
  let [low, high, whole] = [0, size, true];
  while (high !== from) {
    const middle = low + splitOf(high - low);
    if (from <= middle) {
      proof.push(await rangeHash(middle, high, hashOf));
      high = middle;
    } else {
      proof.push(await rangeHash(low, middle, hashOf));
      low = middle;
      whole = false;
    }
  }
  if (!whole) proof.push(await rangeHash(low, high, hashOf));
  return proof.toReversed();
}

/** RFC 9162, 2.1.3.2. */
export function provesInclusion(
  { index, size, root }: { readonly index: number; readonly size: number; readonly root: Hash },
  leaf: Hash,
  proof: readonly Hash[],
): boolean {
  if (index >= size) return false;
  let [at, last, current] = [index, size - 1, leaf];
  for (const sibling of proof) {
    if (last === 0) return false;
    if (at % 2 === 1 || at === last) {
      current = nodeHash(sibling, current);
      while (at % 2 === 0 && at !== 0) [at, last] = [half(at), half(last)];
    } else current = nodeHash(current, sibling);
    [at, last] = [half(at), half(last)];
  }
  return last === 0 && current.equals(root);
}

export interface TreeHead {
  readonly size: number;
  readonly root: Hash;
}

/** RFC 9162, 2.1.4.2. */
export function provesConsistency(from: TreeHead, to: TreeHead, proof: readonly Hash[]): boolean {
  if (from.size > to.size) return false;
  if (from.size === to.size) return proof.length === 0 && from.root.equals(to.root);
  if (from.size === 0) return proof.length === 0;
  const path = isPowerOfTwo(from.size) ? [from.root, ...proof] : [...proof];
  let [at, last] = [from.size - 1, to.size - 1];
  while (at % 2 === 1) [at, last] = [half(at), half(last)];
  const [begin, ...rest] = path;
  if (begin === undefined) return false;
  let [old, next] = [begin, begin];
  for (const sibling of rest) {
    if (last === 0) return false;
    if (at % 2 === 1 || at === last) {
      [old, next] = [nodeHash(sibling, old), nodeHash(sibling, next)];
      while (at % 2 === 0 && at !== 0) [at, last] = [half(at), half(last)];
    } else next = nodeHash(next, sibling);
    [at, last] = [half(at), half(last)];
  }
  return last === 0 && old.equals(from.root) && next.equals(to.root);
}

/** The largest power of two below a number above 1. */
function splitOf(count: number): number {
  let split = 1;
  while (split * 2 < count) split *= 2;
  return split;
}

function half(value: number): number {
  return Math.floor(value / 2);
}

function isPowerOfTwo(value: number): boolean {
  return subtrees(0, value).length === 1;
}
