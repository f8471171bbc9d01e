import { describe, expect, it } from "vitest";
import { systemScope, tenantScope } from "../../domain/scope.ts";
import { failure } from "../../testing/object-store/fixture.ts";
import { objectStoreSuite } from "../../testing/object-store-suite.ts";
import { connectS3Driver, openS3Objects } from "./index.ts";
import { startS3 } from "./test-server.ts";
import { partBytes } from "./upload.ts";
import { forAllTests } from "../../../test/support/for-tests.ts";

const server = forAllTests(() => startS3());

let buckets = 0;
const bucket = () => server.bucket(`bucket-${(buckets += 1)}`);
let suiteBucket: Awaited<ReturnType<typeof bucket>> | undefined;

objectStoreSuite(
  "s3",
  async () => {
    const fresh = { ...(await bucket()), prefix: "some/folder" };
    suiteBucket ??= fresh;
    return openS3Objects(fresh);
  },
  { reopen: () => openS3Objects(suiteBucket as NonNullable<typeof suiteBucket>) },
);

const scope = tenantScope("acme");

describe("s3", () => {
  it("an object of several parts is returned whole, in ranges across parts, and with the same etag for the same content", async () => {
    await using store = await openS3Objects(await bucket());
    const content = Buffer.alloc(partBytes * 2 + 12_345, "0123456789abcdef");
    async function* pieces(size: number) {
      for (let start = 0; start < content.length; start += size) yield content.subarray(start, start + size);
    }
    const first = await store.put(scope, "large", pieces(1_000_003));
    const second = await store.put(scope, "again", pieces(5_000_001));
    expect(first).toEqual({ bytes: content.length, etag: second.etag });
    expect(Buffer.compare((await store.get(scope, "large")) as Uint8Array, content)).toBe(0);
    const range = { start: partBytes - 10, end: partBytes + 10 };
    expect(await store.get(scope, "large", { range })).toEqual(
      new Uint8Array(content.subarray(range.start, range.end)),
    );
    expect(await store.head(scope, "large")).toMatchObject({ bytes: content.length, etag: first.etag });
  });

  it("content of exactly one part and of one byte more both work", async () => {
    await using store = await openS3Objects(await bucket());
    for (const bytes of [partBytes, partBytes + 1]) {
      await store.put(scope, `b${bytes}`, Buffer.alloc(bytes, 7));
      expect((await store.head(scope, `b${bytes}`))?.bytes).toBe(bytes);
    }
  });

  it("a source that breaks after several parts leaves no object and no upload behind", async () => {
    const options = await bucket();
    await using store = await openS3Objects(options);
    async function* broken() {
      for (let i = 0; i < 3; i += 1) yield Buffer.alloc(partBytes, i);
      throw new Error("the source broke");
    }
    await expect(store.put(scope, "x", broken())).rejects.toThrow("the source broke");
    expect(await store.head(scope, "x")).toBeUndefined();
    const driver = await connectS3Driver(options);
    expect(await driver.abortStaleUploads(new Date(Date.now() + 86_400_000))).toBe(0);
    await driver.close();
  });

  it("a missing bucket and an unreachable server are reported as such", async () => {
    const options = await bucket();
    await using nowhere = await openS3Objects({ ...options, bucket: "no-such-bucket" });
    expect((await failure(nowhere.put(scope, "x", Buffer.from("x")), "NOT_FOUND")).detail).toContain("no-such-bucket");
    await using dead = await openS3Objects({ ...options, endpoint: "http://127.0.0.1:1", attemptsMax: 1 });
    expect((await failure(dead.get(scope, "x"), "UNAVAILABLE")).retryable).toBe(true);
  });

  it("two stores under different prefixes of one bucket do not see each other", async () => {
    const options = await bucket();
    await using one = await openS3Objects({ ...options, prefix: "a" });
    await using two = await openS3Objects({ ...options, prefix: "a/b" });
    await one.put(scope, "x", Buffer.from("1"));
    await two.put(scope, "x", Buffer.from("2"));
    expect(Buffer.from((await one.get(scope, "x")) ?? []).toString()).toBe("1");
    const system = systemScope("test", () => {});
    expect((await two.list(system, "")).keys.map(({ key }) => key)).toEqual(["t/acme/x"]);
  });
});
