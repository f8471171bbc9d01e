/** Through a real socket, on the stores that people run: large files, many at once, clients that go away, and a server that closes. */
import { createHash } from "node:crypto";
import { request } from "node:http";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { beforeAll, describe, expect, it } from "vitest";
import { tenantScope } from "../../src/domain/scope.ts";
import { serve } from "../../src/http/serve.ts";
import { until } from "../support/until.ts";
import {
  form,
  newSite,
  openTestServer,
  readReply,
  requestInit,
  type CallOptions,
  type Json,
  type Site,
} from "./support/server.ts";
import { forAllTests } from "../support/for-tests.ts";

let key: string;

const server = forAllTests(() => openTestServer("sqlite"));
const running = forAllTests(() => serve(server.app, { host: "127.0.0.1", port: 0 }));
beforeAll(async () => {
  key = await server.key("w1", "ann", { role: "admin" });
});

const fetched = async (method: string, path: string, options: CallOptions = {}) =>
  readReply(await fetch(`${running.url}${path}`, requestInit(method, { key, ...options })));
const fileBytesMax = 52_428_800;
const mebibyte = 1_048_576;
setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

/** A form with one file of so many bytes, made while it is sent. */
function largeForm(
  name: string,
  bytes: number,
  onPiece: () => void = () => {},
): {
  readonly headers: Record<string, string>;
  readonly body: ReadableStream<Uint8Array>;
  readonly sha256: Promise<string>;
} {
  const hash = createHash("sha256");
  const done = Promise.withResolvers<string>();
  async function* chunks(): AsyncGenerator<Uint8Array> {
    yield Buffer.from(`--large\r\ncontent-disposition: form-data; name="file"; filename="${name}"\r\n\r\n`);
    // Words, so that it is a text; the last piece makes the size exact.
    const piece = Buffer.from("words of a large file\n".repeat(65_536)).subarray(0, mebibyte);
    for (let left = bytes; left > 0; left -= piece.length) {
      const next = piece.subarray(0, Math.min(left, piece.length));
      hash.update(next);
      onPiece();
      yield next;
    }
    done.resolve(hash.digest("hex"));
    yield Buffer.from("\r\n--large--\r\n");
  }
  return {
    headers: { "content-type": "multipart/form-data; boundary=large" },
    body: ReadableStream.from(chunks()),
    sha256: done.promise,
  };
}

async function objectsOf({ at }: Site): Promise<readonly unknown[]> {
  const { incarnation } = (await server.call("GET", at, { key })).json;
  return (await server.pinakes.objects.list(tenantScope("w1"), `knowledge/${incarnation as string}/`)).keys;
}

describe("large files", () => {
  it("R-KB-21 52,428,800 bytes are taken and come back the same; one byte more is 413 and nothing of it is stored", async () => {
    const site = await newSite(server, key);
    const { sha256, ...exact } = largeForm("exact.rtf", fileBytesMax);
    const taken = await fetched("POST", `${site.at}/documents`, exact);
    expect(taken.status, taken.text).toBe(202);
    const document = (taken.json["documents"] as Json[])[0] as Json;
    expect(document).toMatchObject({ size_bytes: fileBytesMax, sha256: await sha256 });
    const back = await fetch(
      `${running.url}${site.at}/documents/${document["document_id"] as string}/content`,
      requestInit("GET", { key }),
    );
    const hash = createHash("sha256");
    for await (const chunk of back.body as ReadableStream<Uint8Array>) hash.update(chunk);
    expect(hash.digest("hex")).toBe(await sha256);
    await server.settled(key, `${site.at}/documents/${document["document_id"] as string}`);
    const other = await newSite(server, key);
    const over = await fetched("POST", `${other.at}/documents`, largeForm("over.rtf", fileBytesMax + 1));
    expect([over.status, over.json["code"]], over.text).toEqual([413, "LIMIT_EXCEEDED"]);
    expect(over.json["detail"]).toContain("52428800");
    expect((await fetched("GET", other.at)).json).toMatchObject({ document_count: 0, total_size_bytes: 0 });
    expect((await fetched("GET", `${other.at}/usage`)).json).toMatchObject({ consistent: true });
    expect(await objectsOf(other)).toEqual([]);
  });

  it("what is refused before its end is told all the same: too large by far, a place that is not there, no credentials", async () => {
    const site = await newSite(server, key);
    const far = await fetched("POST", `${site.at}/documents`, largeForm("far.rtf", fileBytesMax * 2));
    expect([far.status, far.json["code"]]).toEqual([413, "LIMIT_EXCEEDED"]);
    const nowhere = await fetched("POST", `${site.at}-not/documents`, largeForm("lost.rtf", fileBytesMax));
    expect([nowhere.status, nowhere.json["code"]]).toEqual([404, "NOT_FOUND"]);
    const nobody = await fetched("POST", `${site.at}/documents`, {
      ...largeForm("lost.rtf", fileBytesMax),
      key: undefined,
    });
    expect([nobody.status, nobody.json["code"]]).toEqual([401, "UNAUTHENTICATED"]);
    expect(await objectsOf(site)).toEqual([]);
  });

  it("an upload of 50 MB goes through with less than 40 MB of memory held at any time", async () => {
    const site = await newSite(server, key);
    // Client and server are one process here, so this counts both; what nobody holds any more is collected before each look.
    const held = () => {
      collectGarbage();
      const { external, heapUsed } = process.memoryUsage();
      return external + heapUsed;
    };
    // Memory that earlier tests still hold must be released first, or its release would count as growth.
    const before = await until(async () => {
      const first = held();
      await new Promise((resolve) => setTimeout(resolve, 50));
      return Math.abs(held() - first) < mebibyte / 4 ? held() : undefined;
    });
    const looks: number[] = [];
    // Refused at its last byte, so that the whole file goes through and none of it is parsed.
    const over = await fetched(
      "POST",
      `${site.at}/documents`,
      largeForm("memory.rtf", fileBytesMax + 1, () => void looks.push(held())),
    );
    expect(over.status).toBe(413);
    expect(looks.length).toBeGreaterThan(50);
    expect((Math.max(...looks) - before) / mebibyte).toBeLessThan(40);
  });
});

describe("many at once", () => {
  it("a hundred uploads at the same time: each is taken, none is lost, and the counters are exact", async () => {
    const site = await newSite(server, key);
    const replies = await Promise.all(
      Array.from({ length: 100 }, (_, i) =>
        fetched("POST", `${site.at}/documents`, { body: form({ [`f${i}.txt`]: `words of file ${i}` }) }),
      ),
    );
    expect(replies.map(({ status }) => status)).toEqual(Array.from({ length: 100 }, () => 202));
    const bytes = Array.from({ length: 100 }, (_, i) => `words of file ${i}`.length).reduce(
      (sum, length) => sum + length,
      0,
    );
    const settled = await until(async () => {
      const { json } = await fetched("GET", site.at);
      return json["indexing_status"] === "indexing" ? undefined : json;
    });
    expect(settled).toMatchObject({
      document_count: 100,
      total_size_bytes: bytes,
      chunk_count: 100,
      indexing_status: "ready",
      documents_by_status: { uploading: 0, pending: 0, indexing: 0, indexed: 100, failed: 0 },
    });
    expect((await fetched("GET", `${site.at}/usage`)).json).toMatchObject({ consistent: true, document_count: 100 });
  });

  it("R-KB-44 of twenty uploads of one name at the same time one is taken, the others are 409", async () => {
    const site = await newSite(server, key);
    const replies = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        fetched("POST", `${site.at}/documents`, {
          body: { name: i % 2 === 0 ? "Same.txt" : "SAME.TXT", text: `by ${i}` },
        }),
      ),
    );
    expect(replies.map(({ status }) => status).toSorted()).toEqual([202, ...Array.from({ length: 19 }, () => 409)]);
    expect((await fetched("GET", site.at)).json["document_count"]).toBe(1);
  });
});

describe("connections that end", () => {
  it("a client that goes away in the middle of a file leaves a document that says so, and no bytes", async () => {
    const site = await newSite(server, key);
    const url = new URL(`${running.url}${site.at}/documents`);
    const headers = {
      authorization: `Bearer ${key}`,
      "content-type": "multipart/form-data; boundary=b",
      "transfer-encoding": "chunked",
    };
    const client = request(url, { method: "POST", headers });
    client.on("error", () => {});
    client.write('--b\r\ncontent-disposition: form-data; name="file"; filename="left.txt"\r\n\r\nhalf of');
    await until(async () => ((await fetched("GET", site.at)).json["documents_by_status"] as Json)["uploading"] === 1);
    client.destroy();
    await until(async () => ((await fetched("GET", site.at)).json["documents_by_status"] as Json)["uploading"] === 0);
    const { items } = (await fetched("GET", `${site.at}/documents`)).json as { items: Json[] };
    for (const item of items)
      expect(item).toMatchObject({
        status: "failed",
        error: expect.stringContaining("was interrupted") as string,
        size_bytes: 0,
      });
    expect((await fetched("GET", `${site.at}/usage`)).json).toMatchObject({ consistent: true });
    await until(async () => (await objectsOf(site)).length === 0);
  });

  it("a server that closes lets an upload under way finish, and takes no other", async () => {
    const site = await newSite(server, key);
    const second = await serve(server.app, { host: "127.0.0.1", port: 0 });
    const sent = Promise.withResolvers<void>();
    async function* slowly(): AsyncGenerator<Uint8Array> {
      yield Buffer.from('--b\r\ncontent-disposition: form-data; name="file"; filename="slow.txt"\r\n\r\nfirst ');
      await sent.promise;
      yield Buffer.from("and last\r\n--b--\r\n");
    }
    const headers = { "content-type": "multipart/form-data; boundary=b" };
    const body = ReadableStream.from(slowly());
    const upload = fetch(`${second.url}${site.at}/documents`, requestInit("POST", { key, body, headers }));
    await until(async () => ((await fetched("GET", site.at)).json["documents_by_status"] as Json)["uploading"] === 1);
    const closed = second.close();
    sent.resolve();
    const reply = await readReply(await upload);
    await closed;
    expect(reply.status, reply.text).toBe(202);
    const { document_id } = (reply.json["documents"] as Json[])[0] as Json;
    expect((await fetched("GET", `${site.at}/documents/${document_id as string}/content`)).text).toBe("first and last");
    await expect(fetch(`${second.url}/healthz`)).rejects.toThrow("fetch failed");
  });
});
