import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../../../test/support/temporary-folder.ts";
import { PinakesError } from "../../domain/errors.ts";
import { tenantScope } from "../../domain/scope.ts";
import { MemoryObjectDriver } from "../../drivers/memory-objects/driver.ts";
import { openFileObjects } from "../../drivers/fs/index.ts";
import { systemClock } from "../../ports/clock.ts";
import type { ObjectStore } from "../../ports/object-store.ts";
import { failure } from "../../testing/object-store/fixture.ts";
import { objectStoreSuite } from "../../testing/object-store-suite.ts";
import { createObjectStore } from "../create-object-store.ts";
import { encryptedDriver } from "./encrypted-driver.ts";
import { contentBytes, pageBytes, storedBytes } from "./layout.ts";
import type { DataKey, ObjectKeys } from "./object-keys.ts";

/** One key for each owner, in memory; `encryption/workspace-keys.test.ts` has the real ones. */
class Keys implements ObjectKeys {
  readonly #keys = new Map<string, DataKey>();
  async current(owner: string): Promise<DataKey> {
    const key = this.#keys.get(owner) ?? { id: randomBytes(16), key: randomBytes(32) };
    this.#keys.set(owner, key);
    return key;
  }
  async byId(owner: string, id: Uint8Array): Promise<DataKey> {
    const key = this.#keys.get(owner);
    if (key === undefined || !Buffer.from(id).equals(key.id)) throw new PinakesError("NOT_FOUND", "no such key");
    return key;
  }
}

const base = temporaryFolder("encrypted");
let folders = 0;
const keys = new Keys();
objectStoreSuite("encrypted fs", () => openFileObjects({ dir: `${base}/${(folders += 1)}`, keys }), {
  reopen: () => openFileObjects({ dir: `${base}/1`, keys }),
});

const scope = tenantScope("acme");
const sizes = [0, 1, pageBytes - 1, pageBytes, pageBytes + 1, 3 * pageBytes, 3 * pageBytes + 17];

interface Opened {
  readonly driver: MemoryObjectDriver;
  readonly objects: ObjectStore;
}
function opened(): Opened {
  const driver = new MemoryObjectDriver(systemClock);
  return { driver, objects: createObjectStore(encryptedDriver(driver, new Keys())) };
}
const storedKey = (key: string, tenant = "acme") => `t/${tenant}/${key}`;
async function stored(driver: MemoryObjectDriver, key: string): Promise<Buffer> {
  return Buffer.from((await driver.get(storedKey(key), { start: 0 }, Infinity)) as Uint8Array);
}
async function replace(driver: MemoryObjectDriver, key: string, bytes: Uint8Array): Promise<void> {
  await driver.put(
    storedKey(key),
    (async function* () {
      yield bytes;
    })(),
    { ifAbsent: false },
  );
}
async function collected(chunks: AsyncIterable<Uint8Array> | undefined): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const chunk of chunks ?? []) parts.push(chunk);
  return Buffer.concat(parts);
}

describe("encrypted objects", () => {
  it("the sizes of content and stored object determine each other; other sizes are refused", () => {
    for (const size of sizes) expect(contentBytes(storedBytes(size))).toBe(size);
    expect(contentBytes(95)).toBeUndefined();
    expect([1, 16].map((rest) => contentBytes(storedBytes(pageBytes) + rest))).toEqual([undefined, undefined]);
  });

  it.each(sizes)(
    "%d bytes: whole, streamed, by ranges, listed; nothing of them is stored in the clear",
    async (size) => {
      const { driver, objects } = opened();
      const content = randomBytes(size);
      const { etag, bytes } = await objects.put(scope, "a", content);
      expect(bytes).toBe(size);
      expect(await objects.get(scope, "a")).toEqual(new Uint8Array(content));
      expect(await collected(await objects.stream(scope, "a"))).toEqual(content);
      expect(await objects.head(scope, "a")).toMatchObject({ bytes: size, etag });
      expect((await objects.list(scope, "")).keys).toMatchObject([{ key: "a", bytes: size }]);
      const edges = [0, 1, pageBytes - 1, pageBytes, pageBytes + 1, size - 1, size, size + 5].filter((at) => at >= 0);
      for (const start of edges)
        for (const end of [...edges.filter((at) => at >= start), undefined]) {
          const range = end === undefined ? { start } : { start, end };
          const wanted = content.subarray(start, end);
          expect(
            Buffer.from((await objects.get(scope, "a", { range })) as Uint8Array).equals(wanted),
            `${start}…${end}`,
          ).toBe(true);
          expect((await collected(await objects.stream(scope, "a", { range }))).equals(wanted), `${start}…${end}`).toBe(
            true,
          );
        }
      const raw = await stored(driver, "a");
      expect(raw.length).toBe(storedBytes(size));
      if (size >= 32) expect(raw.includes(content.subarray(0, 32))).toBe(false);
    },
  );

  it("equal contents are stored differently and have the same etag", async () => {
    const { driver, objects } = opened();
    const content = randomBytes(1_000);
    const [a, b] = [await objects.put(scope, "a", content), await objects.put(scope, "b", content)];
    expect(a.etag).toBe(b.etag);
    expect((await stored(driver, "a")).subarray(56).equals((await stored(driver, "b")).subarray(56))).toBe(false);
  });

  const reads: Readonly<Record<string, (objects: ObjectStore, size: number) => Promise<unknown>>> = {
    get: (objects) => objects.get(scope, "a"),
    stream: async (objects) => collected(await objects.stream(scope, "a")),
    range: (objects, size) => objects.get(scope, "a", { range: { start: 0, end: size } }),
    head: (objects) => objects.head(scope, "a"),
  };

  it("a flipped byte anywhere is detected, or not part of what was read", async () => {
    const size = 200;
    const [driver, shared] = [new MemoryObjectDriver(systemClock), new Keys()];
    const objects = createObjectStore(encryptedDriver(driver, shared));
    const content = randomBytes(size);
    await objects.put(scope, "a", content);
    const raw = await stored(driver, "a");
    for (let at = 0; at < raw.length; at += 1) {
      const changed = Buffer.from(raw);
      changed[at] = (changed[at] as number) ^ 1;
      await replace(driver, "a", changed);
      for (const [name, read] of Object.entries(reads)) {
        const fresh = createObjectStore(encryptedDriver(driver, shared));
        const outcome = await read(fresh, size).then(
          (value) => value,
          (error: unknown) => error,
        );
        const refused = outcome instanceof PinakesError && ["CORRUPT", "NOT_FOUND"].includes(outcome.code);
        const isRead = name !== "head" || at < 56 || at >= raw.length - 40;
        if (isRead) expect(refused, `${name}, byte ${at}`).toBe(true);
      }
    }
  });

  it("an object cut at any length, or longer by a byte, is detected", async () => {
    const size = pageBytes + 50;
    const { driver, objects } = opened();
    await objects.put(scope, "a", randomBytes(size));
    const raw = await stored(driver, "a");
    const lengths = [
      0,
      1,
      55,
      56,
      57,
      96,
      97,
      pageBytes,
      raw.length - 41,
      raw.length - 40,
      raw.length - 1,
      raw.length + 1,
    ];
    for (const length of lengths) {
      await replace(driver, "a", Buffer.concat([raw, Buffer.alloc(1)]).subarray(0, length));
      for (const [name, read] of Object.entries(reads))
        expect((await failure(read(objects, size), "CORRUPT")).code, `${name}, ${length} bytes`).toBe("CORRUPT");
    }
  });

  it("swapped pages, an object under another key and one of another workspace are detected", async () => {
    const { driver, objects } = opened();
    await objects.put(scope, "a", randomBytes(2 * pageBytes));
    const raw = await stored(driver, "a");
    const page = pageBytes + 16;
    const swapped = Buffer.concat([
      raw.subarray(0, 56),
      raw.subarray(56 + page, 56 + 2 * page),
      raw.subarray(56, 56 + page),
      raw.subarray(56 + 2 * page),
    ]);
    await replace(driver, "a", swapped);
    await failure(objects.get(scope, "a"), "CORRUPT");
    await failure(objects.get(scope, "a", { range: { start: 0, end: 5 } }), "CORRUPT");
    await replace(driver, "b", raw);
    await failure(objects.get(scope, "b"), "CORRUPT");
    const other = tenantScope("other");
    await objects.put(other, "x", randomBytes(10));
    await driver.put(
      storedKey("a", "other"),
      (async function* () {
        yield raw;
      })(),
      { ifAbsent: false },
    );
    await failure(objects.get(other, "a"), "NOT_FOUND");
    await replace(
      driver,
      "plain",
      Buffer.from("a plain object of another program, longer than a header and a trailer together are"),
    );
    await failure(objects.get(scope, "plain"), "CORRUPT");
  });

  it("after an object was replaced by another process, ranges are those of the new one", async () => {
    const driver = new MemoryObjectDriver(systemClock);
    const shared = new Keys();
    const [one, two] = [1, 2].map(() => createObjectStore(encryptedDriver(driver, shared))) as [
      ObjectStore,
      ObjectStore,
    ];
    for (const next of [300, 300, 20, 2 * pageBytes]) {
      const content = randomBytes(next);
      await two.put(scope, "a", content);
      for (const end of [10, next])
        expect(Buffer.from((await one.get(scope, "a", { range: { start: 5, end } })) as Uint8Array)).toEqual(
          content.subarray(5, end),
        );
      expect(await one.head(scope, "a")).toMatchObject({ bytes: next });
    }
    await two.delete(scope, ["a"]);
    expect(await one.get(scope, "a", { range: { start: 5, end: 10 } })).toBeUndefined();
  });

  it("a body that fails leaves nothing", async () => {
    const { objects } = opened();
    const broken = (async function* () {
      yield randomBytes(100_000);
      throw new Error("the source broke");
    })();
    await expect(objects.put(scope, "a", broken)).rejects.toThrow("the source broke");
    expect(await objects.head(scope, "a")).toBeUndefined();
  });
});
