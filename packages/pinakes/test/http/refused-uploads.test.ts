/**
 * Uploads that are refused, through a real socket, by clients as browsers are: they send the length and all bytes, and read the answer
 * behind them. A server that answers and closes early would make them say "network error" instead of the reason.
 */
import { request, type IncomingMessage } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, describe, expect, it } from "vitest";
import { serve } from "../../src/http/serve.ts";
import { newSite, openTestServer, type Json, type Site } from "./support/server.ts";
import { forAllTests } from "../support/for-tests.ts";

let key: string;
let site: Site;
const server = forAllTests(() => openTestServer());
const running = forAllTests(() => serve(server.app, { host: "127.0.0.1", port: 0 }));
beforeAll(async () => {
  key = await server.key("w1", "ann", { role: "admin" });
  site = await newSite(server, key);
});

const fileBytes = 51 * 1_048_576;
const piece = Buffer.from("words of a large file\n".repeat(50_000)).subarray(0, 1_048_576);

interface Sent {
  readonly status: number | undefined;
  readonly type: string | undefined;
  readonly json: Json;
  readonly sentBytes: number;
}

interface Wishes {
  readonly as?: string;
  /** Between the beginning of the form and the file. */
  readonly pauseMs?: number;
  /** A part before the file. */
  readonly before?: string;
}

/** Sends all of it, whatever the server says meanwhile, and then reads the answer. Fails as a browser does when the connection breaks. */
async function send(path: string, name: string, { as = key, pauseMs = 0, before = "" }: Wishes = {}): Promise<Sent> {
  const head = Buffer.from(`${before}--b\r\ncontent-disposition: form-data; name="file"; filename="${name}"\r\n\r\n`);
  const foot = Buffer.from("\r\n--b--\r\n");
  const headers = {
    authorization: `Bearer ${as}`,
    "content-type": "multipart/form-data; boundary=b",
    "content-length": head.length + fileBytes + foot.length,
  };
  const client = request(`${running.url}${path}`, { method: "POST", headers });
  const answered = Promise.withResolvers<IncomingMessage>();
  client.on("response", answered.resolve);
  client.on("error", answered.reject);
  let sentBytes = 0;
  const write = async (bytes: Uint8Array): Promise<void> => {
    const flushed = Promise.withResolvers<void>();
    client.write(bytes, (error) => (error ? flushed.reject(error) : flushed.resolve()));
    await flushed.promise;
    sentBytes += bytes.length;
  };
  await write(head);
  // By now the answer may have been given long ago.
  await sleep(pauseMs);
  for (let left = fileBytes; left > 0; left -= piece.length)
    await write(piece.subarray(0, Math.min(left, piece.length)));
  await write(foot);
  client.end();
  const response = await answered.promise;
  const chunks: Buffer[] = [];
  for await (const chunk of response as AsyncIterable<Buffer>) chunks.push(chunk);
  const json = JSON.parse(Buffer.concat(chunks).toString("utf8")) as Json;
  return { status: response.statusCode, type: response.headers["content-type"], json, sentBytes };
}

describe("a client that sends all 51 MB before it reads", () => {
  it.each([
    ["R-KB-21 of a file that is too large", "large.txt", 413, "LIMIT_EXCEEDED", "52428800 bytes"],
    [
      "R-KB-20 of a type that is not taken",
      "program.exe",
      400,
      "INVALID",
      "this file type is not accepted; accepted are pdf",
    ],
    ["of a name that cannot be one", "..", 400, "INVALID", ""],
  ])("reads the problem, %s", async (_what, name, status, code, detail) => {
    const sent = await send(`${site.at}/documents`, name);
    expect(sent).toMatchObject({ status, type: "application/problem+json", json: { status, code } });
    expect(sent.json["detail"]).toContain(detail);
    expect(sent.sentBytes).toBeGreaterThan(fileBytes);
    const { document_count, total_size_bytes } = (await server.call("GET", site.at, { key })).json;
    expect([document_count, total_size_bytes]).toEqual([0, 0]);
  });

  it.each([
    ["a collection that is not there", () => `${site.at}-not/documents`, undefined, 404, "NOT_FOUND"],
    ["a key that is none", () => `${site.at}/documents`, "nobody", 401, "UNAUTHENTICATED"],
  ])(
    "reads the problem of %s, which is known before the first byte, also where its connection is slow",
    async (_what, path, as, status, code) => {
      for (const pauseMs of [0, 1_500]) {
        const sent = await send(path(), "large.txt", { pauseMs, ...(as === undefined ? {} : { as }) });
        expect(sent).toMatchObject({ status, type: "application/problem+json", json: { status, code } });
      }
    },
  );

  it("reads the problem of a field before the file, which is known in the middle of the form", async () => {
    const before = '--b\r\ncontent-disposition: form-data; name="metadata"\r\n\r\nno JSON\r\n';
    for (const pauseMs of [0, 1_500]) {
      const sent = await send(`${site.at}/documents`, "large.txt", { before, pauseMs });
      expect(sent).toMatchObject({ status: 400, json: { code: "INVALID", detail: "metadata: must be JSON." } });
    }
  });

  it("R-KB-20 of several files those that can be taken are, and each of the others has its reason", async () => {
    const form = new FormData();
    form.append("file", new Blob(["fine words"]), "fine.txt");
    form.append("file", new Blob([Buffer.alloc(fileBytes, 0x61)]), "huge.txt");
    form.append("file", new Blob(["x"]), "program.exe");
    form.append("file", new Blob(["more words"]), "also.md");
    const response = await fetch(`${running.url}${site.at}/documents`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}` },
      body: form,
    });
    const json = (await response.json()) as { documents: Json[]; errors: Json[] };
    expect(response.status).toBe(202);
    expect(json.documents.map(({ name }) => name)).toEqual(["fine.txt", "also.md"]);
    expect(json.errors.map(({ name, code }) => [name, code])).toEqual([
      ["huge.txt", "LIMIT_EXCEEDED"],
      ["program.exe", "INVALID"],
    ]);
  });
});
