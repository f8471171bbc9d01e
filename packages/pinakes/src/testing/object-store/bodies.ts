/** What is put is returned: whole, in ranges, as a stream; replaced in one step; or, if the put fails, not at all. */
import { expect } from "vitest";
import { limits } from "../../domain/limits.ts";
import type { ByteRange, ObjectBody } from "../../ports/object-store.ts";
import { collect, errorOf, failure, sha256, utf8, type ObjectFixture } from "./fixture.ts";
import { pattern } from "./pattern.ts";

const mebibyte = 1_048_576;

export function bodies(fixture: ObjectFixture): void {
  roundTrips(fixture);
  ranges(fixture);
  replacing(fixture);
  failing(fixture);
}

function roundTrips(fixture: ObjectFixture): void {
  fixture.test("objects of 0 bytes, 1 byte and 100 kB are returned with their size, etag and time", async () => {
    const folder = fixture.folder();
    const before = Date.now();
    for (const bytes of [0, 1, 100_000]) {
      const content = pattern(bytes);
      const key = `${folder}${bytes}`;
      const put = await fixture.store.put(fixture.scope, key, content);
      expect(put.bytes).toBe(bytes);
      expect(sha256((await fixture.store.get(fixture.scope, key)) ?? utf8("absent"))).toBe(sha256(content));
      expect(await collect(await fixture.store.stream(fixture.scope, key))).toHaveLength(bytes);
      const head = await fixture.store.head(fixture.scope, key);
      expect(head).toMatchObject({ bytes, etag: put.etag });
      // File systems round times down, some to two seconds.
      expect(head?.modifiedAt).toBeGreaterThan(before - 3_000);
      expect(Number.isInteger(head?.modifiedAt)).toBe(true);
    }
  });

  fixture.test("a stream of 5 MB in uneven chunks is returned unchanged, whole and streamed", async () => {
    const content = pattern(5 * mebibyte);
    async function* chunks() {
      for (let start = 0, size = 1; start < content.length; start += size, size = (size * 3) % 700_001)
        yield content.subarray(start, start + size);
    }
    const key = `${fixture.folder()}large`;
    expect(await fixture.store.put(fixture.scope, key, chunks())).toMatchObject({ bytes: content.length });
    expect(sha256((await fixture.store.get(fixture.scope, key)) ?? utf8("absent"))).toBe(sha256(content));
    expect(sha256(await collect(await fixture.store.stream(fixture.scope, key)))).toBe(sha256(content));
  });

  fixture.test("a stream that is left early or never read blocks nothing", async () => {
    const key = `${fixture.folder()}left`;
    await fixture.store.put(fixture.scope, key, pattern(3 * mebibyte));
    await fixture.store.stream(fixture.scope, key);
    for await (const chunk of (await fixture.store.stream(fixture.scope, key)) ?? []) {
      expect(chunk.length).toBeGreaterThan(0);
      break;
    }
    await fixture.store.delete(fixture.scope, [key]);
    expect(await fixture.store.head(fixture.scope, key)).toBeUndefined();
  });

  fixture.test("an absent object is undefined for get, stream and head", async () => {
    const key = `${fixture.folder()}absent`;
    expect(await fixture.store.get(fixture.scope, key)).toBeUndefined();
    expect(await fixture.store.get(fixture.scope, key, { range: { start: 5 } })).toBeUndefined();
    expect(await fixture.store.stream(fixture.scope, key)).toBeUndefined();
    expect(await fixture.store.head(fixture.scope, key)).toBeUndefined();
  });

  fixture.test("the returned bytes are the caller's: changing them changes nothing stored", async () => {
    const key = `${fixture.folder()}own`;
    await fixture.put(key, "abc");
    (await fixture.store.get(fixture.scope, key))?.fill(0);
    (await collect(await fixture.store.stream(fixture.scope, key))).fill(0);
    expect(await fixture.text(key)).toBe("abc");
  });

  fixture.test("the etag depends on the content alone", async () => {
    const folder = fixture.folder();
    const [a, b, other] = await Promise.all(
      ["x", "x", "y"].map((text, i) => fixture.store.put(fixture.scope, `${folder}${i}`, utf8(text))),
    );
    expect(a?.etag).toBe(b?.etag);
    expect(a?.etag).not.toBe(other?.etag);
  });
}

function ranges(fixture: ObjectFixture): void {
  fixture.test("ranges: inside, at the end, across the end, beyond it, and empty ones", async () => {
    const key = `${fixture.folder()}range`;
    const content = "0123456789";
    await fixture.put(key, content);
    const cases: ByteRange[] = [
      { start: 0 },
      { start: 0, end: 10 },
      { start: 3, end: 7 },
      { start: 9 },
      { start: 9, end: 10 },
      { start: 9, end: 11 },
      { start: 10 },
      { start: 10, end: 20 },
      { start: 11 },
      { start: 1_000, end: 2_000 },
      { start: 4, end: 4 },
      { start: 0, end: 0 },
    ];
    for (const range of cases) {
      const expected = content.slice(range.start, range.end);
      expect(
        Buffer.from((await fixture.store.get(fixture.scope, key, { range })) ?? utf8("absent")).toString(),
        JSON.stringify(range),
      ).toBe(expected);
      expect(
        Buffer.from(await collect(await fixture.store.stream(fixture.scope, key, { range }))).toString(),
        JSON.stringify(range),
      ).toBe(expected);
    }
  });

  fixture.test("a range across chunks of a large object", async () => {
    const key = `${fixture.folder()}large`;
    const content = pattern(3 * mebibyte, 7);
    await fixture.store.put(fixture.scope, key, content);
    const range = { start: mebibyte - 1, end: 2 * mebibyte + 2 };
    expect(sha256((await fixture.store.get(fixture.scope, key, { range })) ?? utf8("absent"))).toBe(
      sha256(content.subarray(range.start, range.end)),
    );
  });

  fixture.test("malformed ranges are rejected", async () => {
    const key = `${fixture.folder()}range`;
    await fixture.put(key, "x");
    for (const range of [
      { start: -1 },
      { start: 0.5 },
      { start: Number.NaN },
      { start: 2, end: 1 },
      { start: 0, end: Infinity },
      { start: "0" },
      {},
    ]) {
      await failure(fixture.store.get(fixture.scope, key, { range: range as ByteRange }), "INVALID");
      await failure(fixture.store.stream(fixture.scope, key, { range: range as ByteRange }), "INVALID");
    }
  });
}

function replacing(fixture: ObjectFixture): void {
  fixture.test("a put replaces: bytes, size and etag are the new ones, the list has one entry", async () => {
    const folder = fixture.folder();
    const key = `${folder}x`;
    const first = await fixture.store.put(fixture.scope, key, utf8("first"));
    const second = await fixture.store.put(fixture.scope, key, utf8("the second"));
    expect(second.etag).not.toBe(first.etag);
    expect(await fixture.text(key)).toBe("the second");
    expect(await fixture.store.head(fixture.scope, key)).toMatchObject({ bytes: 10, etag: second.etag });
    expect(await fixture.keys(folder)).toEqual([key]);
  });

  fixture.test(
    "readers see the old object or the new one, never a mixture, while four writers replace it",
    async () => {
      const key = `${fixture.folder()}hot`;
      const versions = [1, 2, 3, 4].map((seed) => pattern(300_000 + seed, seed));
      const known = new Set(versions.map((version) => sha256(version)));
      await fixture.store.put(fixture.scope, key, versions[0] as Uint8Array);
      let writing = true;
      const writers = versions.map(async (version) => {
        for (let i = 0; i < 10; i += 1) await fixture.store.put(fixture.scope, key, halves(version));
      });
      const reader = async () => {
        for (let reads = 0; writing || reads < 5; reads += 1) {
          expect(known).toContain(sha256((await fixture.store.get(fixture.scope, key)) ?? utf8("absent")));
          expect(known).toContain(sha256(await collect(await fixture.store.stream(fixture.scope, key))));
          await turn();
        }
      };
      const readers = [reader(), reader()];
      await Promise.all(writers).finally(() => (writing = false));
      await Promise.all(readers);
    },
  );

  fixture.test(
    "ifAbsent: the first of many concurrent creations wins, the others are CONFLICT and change nothing",
    async () => {
      if (!fixture.store.capabilities.conditionalPut) {
        await failure(
          fixture.store.put(fixture.scope, `${fixture.folder()}x`, utf8("x"), { ifAbsent: true }),
          "NOT_SUPPORTED",
        );
        return;
      }
      const key = `${fixture.folder()}once`;
      const tries = await Promise.allSettled(
        "abcdefgh".split("").map((text) => fixture.store.put(fixture.scope, key, utf8(text), { ifAbsent: true })),
      );
      expect(tries.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
      expect(await fixture.text(key)).toBe("abcdefgh"[tries.findIndex(({ status }) => status === "fulfilled")]);
      await failure(fixture.store.put(fixture.scope, key, utf8("late"), { ifAbsent: true }), "CONFLICT");
    },
  );
}

/** Yields: a store in memory never waits for anything, so a loop over it would starve other tasks. */
function turn(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}

async function* halves(content: Uint8Array): AsyncGenerator<Uint8Array, void> {
  const middle = content.length >> 1;
  yield content.subarray(0, middle);
  await turn();
  yield content.subarray(middle);
}

function failing(fixture: ObjectFixture): void {
  fixture.test("a stream that breaks leaves the key as it was: absent, or with the old bytes", async () => {
    const folder = fixture.folder();
    const broken = new Error("the source broke");
    async function* chunks() {
      yield pattern(200_000);
      throw broken;
    }
    expect(await errorOf(fixture.store.put(fixture.scope, `${folder}new`, chunks()))).toBe(broken);
    await fixture.put(`${folder}old`, "old");
    expect(await errorOf(fixture.store.put(fixture.scope, `${folder}old`, chunks()))).toBe(broken);
    expect(await fixture.keys(folder)).toEqual([`${folder}old`]);
    expect(await fixture.text(`${folder}old`)).toBe("old");
  });

  fixture.test("bodies that are not bytes are rejected", async () => {
    const key = `${fixture.folder()}x`;
    async function* strings() {
      yield "text";
    }
    for (const body of ["text", undefined, null, 5, {}, [1, 2], strings(), new ArrayBuffer(4)]) {
      await failure(fixture.store.put(fixture.scope, key, body as ObjectBody), "INVALID");
    }
    expect(await fixture.store.head(fixture.scope, key)).toBeUndefined();
  });

  fixture.test("a stream past the size limit is rejected and leaves nothing", async () => {
    // The chunks are one shared buffer of zeros, so that 5 GiB cost no memory; the store must stop at once.
    const key = `${fixture.folder()}huge`;
    const fake = { byteLength: limits.objectBytesMax + 1 };
    async function* chunks() {
      yield Object.setPrototypeOf(fake, Uint8Array.prototype) as Uint8Array;
    }
    await failure(fixture.store.put(fixture.scope, key, chunks()), "LIMIT_EXCEEDED");
    expect(await fixture.store.head(fixture.scope, key)).toBeUndefined();
  });
}
