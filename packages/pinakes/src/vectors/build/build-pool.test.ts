import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { clusteredVectors } from "../search/testing.ts";
import { buildDelta } from "./build-delta.ts";
import { BuildPool, sharedVerifyBytesMin } from "./build-pool.ts";
import type { CollectionSettings } from "../segment/collection-settings.ts";
import { openFile, pageBytes, readHead, type EncodedFile } from "../segment/file-format.ts";
import { fileBytesOf, loadSegment } from "../segment/load-segment.ts";
import type { Row } from "../row.ts";
import type { SegmentBytes } from "../segment-bytes.ts";

const settings: CollectionSettings = { dims: 16, metric: "cosine", language: "none" };
const rows = 24_000;
const vectors = clusteredVectors(rows, settings.dims, 3);

function rowsOf(first: number, count: number): Row[] {
  return Array.from({ length: count }, (_, i) => {
    const at = (first + i) * settings.dims;
    return { id: `r${first + i}`, op: "put", vector: vectors.slice(at, at + settings.dims), metadata: { n: i % 7 } };
  });
}

function opened({ bytes, sha256, headBytes }: EncodedFile): SegmentBytes {
  return openFile(bytes, { key: "k", sha256, bytes: bytes.byteLength, headBytes });
}

describe("builders in threads", () => {
  const alone = new BuildPool(1);
  const two = new BuildPool(2);
  let segment: SegmentBytes;
  beforeAll(() => {
    segment = opened(buildDelta("c", settings, rowsOf(0, rows)));
  });
  afterAll(() => Promise.all([alone.close(), two.close()]));
  const picks = { source: new Uint32Array(rows), row: Uint32Array.from({ length: rows }, (_, i) => i) };
  const merge = (pool: BuildPool): Promise<EncodedFile> => pool.merge("c", settings, [{ segment, deltaSeq: 1 }], picks);

  it("produce the same bytes as the caller's thread, several at once, with vectors in one block or each in its own", async () => {
    const parts = [rowsOf(0, 500), rowsOf(500, 400), rowsOf(900, 300), rowsOf(0, 3)];
    const expected = parts.map((part) => buildDelta("c", settings, part));
    const block = new Float32Array(new SharedArrayBuffer(vectors.byteLength));
    block.set(vectors);
    const inBlock = (part: readonly Row[], first: number): Row[] =>
      part.map((row, i) => ({
        ...row,
        vector: block.subarray((first + i) * settings.dims, (first + i + 1) * settings.dims),
      }));
    const built = await Promise.all(
      [...parts, inBlock(parts[1] as Row[], 500)].map((part) => two.delta("c", settings, part)),
    );
    for (const [i, file] of built.entries()) {
      const same = expected[i === 4 ? 1 : i] as (typeof expected)[number];
      expect(Buffer.compare(file.bytes, same.bytes)).toBe(0);
      expect(file).toMatchObject({ sha256: same.sha256, contentHash: same.contentHash, rows: same.rows });
    }
  });

  it("build lists with the same bytes alone, with help, and with a busy helper", async () => {
    const [file, helped] = await Promise.all([merge(alone), merge(two)]);
    expect(opened(file).header.ivf?.lists).toBeGreaterThan(100);
    expect(Buffer.compare(helped.bytes, file.bytes)).toBe(0);
    const [first, second] = await Promise.all([merge(two), merge(two)]);
    expect(first.sha256).toBe(file.sha256);
    expect(second.sha256).toBe(file.sha256);
  });

  it("count corrupt pages as the caller's thread does, wherever they are", async () => {
    const file = await merge(two);
    const ref = { key: "k", sha256: file.sha256, bytes: file.bytes.byteLength, headBytes: file.headBytes };
    expect(ref.bytes).toBeGreaterThan(sharedVerifyBytesMin);
    const { header } = readHead(file.bytes, ref);
    for (const places of [
      [],
      [file.headBytes],
      [ref.bytes - 1],
      [file.headBytes, file.headBytes + 3 * pageBytes + 7, ref.bytes - 1],
    ]) {
      const loaded = loadSegment(header, ref.bytes, 1, [{ offset: 0, bytes: file.bytes }]);
      for (const place of places) fileBytesOf(loaded)[place] = 1 + (file.bytes[place] as number);
      expect(await two.damagedPages(loaded, ref)).toBe(places.length);
      expect(await new BuildPool(2).damagedPages(loaded, ref)).toBe(places.length);
    }
    const loaded = loadSegment(header, ref.bytes, 1, [{ offset: 0, bytes: file.bytes }]);
    const [damaged, built] = await Promise.all([
      two.damagedPages(loaded, ref),
      merge(two),
      two.delta("c", settings, rowsOf(0, 500)),
    ]);
    expect(damaged).toBe(0);
    expect(built.sha256).toBe(file.sha256);
  });

  it("fail running work when they are closed, also while one helps another, and later work", async () => {
    const closing = new BuildPool(2);
    const refused = [merge(closing), closing.delta("c", settings, rowsOf(0, 500))].map((work) =>
      work.then(
        () => "built",
        (error: { code: string }) => error.code,
      ),
    );
    await closing.close();
    for (const outcome of await Promise.all(refused)) expect(["built", "UNAVAILABLE"]).toContain(outcome);
    await expect(closing.delta("c", settings, rowsOf(0, 500))).rejects.toMatchObject({
      code: "UNAVAILABLE",
      retryable: false,
    });
  });
});
