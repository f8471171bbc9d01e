import { hash } from "node:crypto";
import { expect, it } from "vitest";
import {
  CompactRange,
  consistencyProof,
  inclusionProof,
  leafHash,
  nodeHash,
  provesConsistency,
  provesInclusion,
  subtrees,
  type Hash,
} from "./merkle.ts";

const leaves = Array.from({ length: 70 }, (_, i) => leafHash(Buffer.from(`leaf ${i}`)));

/** As RFC 6962, 2.1 defines it. */
function rootOf(hashes: readonly Hash[]): Hash {
  if (hashes.length === 0) return hash("sha256", "", "buffer");
  if (hashes.length === 1) return hashes[0] as Hash;
  let split = 1;
  while (split * 2 < hashes.length) split *= 2;
  return nodeHash(rootOf(hashes.slice(0, split)), rootOf(hashes.slice(split)));
}

const subtree = async (level: number, index: number): Promise<Hash> =>
  rootOf(leaves.slice(index * 2 ** level, (index + 1) * 2 ** level));

it("the known roots of RFC 6962's test vectors", () => {
  const inputs = ["", "00", "10", "2021", "3031", "40414243"].map((hex) => leafHash(Buffer.from(hex, "hex")));
  const range = new CompactRange();
  for (const one of inputs) range.push(0, one);
  expect(new CompactRange().root().toString("hex")).toBe(
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
  );
  expect(range.root().toString("hex")).toBe("76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef");
});

it("a frontier gives the root of every size, also when it is taken up again", () => {
  let range = new CompactRange();
  for (const [i, one] of leaves.entries()) {
    range.push(0, one);
    expect(range.root()).toEqual(rootOf(leaves.slice(0, i + 1)));
    range = CompactRange.of(0, i + 1, range.hashes);
  }
  expect(() => CompactRange.of(0, 3, range.hashes)).toThrow("hashes");
});

it("the hashes around any range complete it to the root", async () => {
  const size = 37;
  for (let first = 0; first <= size; first += 1) {
    for (let end = first; end <= size; end += 3) {
      const hashesOf = (from: number, to: number) =>
        Promise.all(subtrees(from, to).map(({ level, index }) => subtree(level, index)));
      const range = CompactRange.of(0, first, await hashesOf(0, first));
      for (const one of leaves.slice(first, end)) range.push(0, one);
      for (const { level, index } of subtrees(end, size)) range.push(level, await subtree(level, index));
      expect(range.root()).toEqual(rootOf(leaves.slice(0, size)));
    }
  }
});

it("each leaf is proven to be in the tree, and no other", async () => {
  for (const size of [1, 2, 3, 7, 8, 33, 70]) {
    const root = rootOf(leaves.slice(0, size));
    for (let index = 0; index < size; index += 1) {
      const proof = await inclusionProof(index, size, subtree);
      expect(provesInclusion({ index, size, root }, leaves[index] as Hash, proof)).toBe(true);
      expect(provesInclusion({ index, size, root }, leaves[(index + 1) % 70] as Hash, proof)).toBe(false);
      expect(provesInclusion({ index: (index + 1) % (size + 1), size, root }, leaves[index] as Hash, proof)).toBe(
        false,
      );
    }
  }
});

it("each smaller tree is proven to be the beginning, and no other", async () => {
  for (const size of [1, 2, 5, 8, 21, 64, 70]) {
    const to = { size, root: rootOf(leaves.slice(0, size)) };
    for (let from = 1; from <= size; from += 1) {
      const proof = await consistencyProof(from, size, subtree);
      const before = { size: from, root: rootOf(leaves.slice(0, from)) };
      expect(provesConsistency(before, to, proof)).toBe(true);
      expect(provesConsistency({ size: from, root: leafHash(Buffer.from("other")) }, to, proof)).toBe(false);
      if (proof.length > 0) expect(provesConsistency(before, to, proof.slice(1))).toBe(false);
    }
  }
});
