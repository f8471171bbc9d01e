import { createHash } from "node:crypto";
import { connect } from "node:net";
import { Hono } from "hono";
import { afterAll, describe, expect, it } from "vitest";
import { makeCaller } from "../../../domain/caller.ts";
import { PinakesError, type ErrorCode } from "../../../domain/errors.ts";
import { serve } from "../../serve.ts";
import { defineRoute, mount, ok, type KitEnv, type Part } from "../index.ts";
import { multipartLimitsDefault, parts, type MultipartLimits } from "./multipart.ts";

const boundary = "----x";
const disposition = (rest: string, body: string | Buffer, type = ""): Buffer =>
  Buffer.concat([
    Buffer.from(
      `--${boundary}\r\nContent-Disposition: form-data; ${rest}\r\n${type === "" ? "" : `Content-Type: ${type}\r\n`}\r\n`,
    ),
    Buffer.from(body),
    Buffer.from("\r\n"),
  ]);
const end = Buffer.from(`--${boundary}--\r\n`);

function requestOf(
  body: Uint8Array | AsyncIterable<Uint8Array>,
  type = `multipart/form-data; boundary=${boundary}`,
): Request {
  const stream = body instanceof Uint8Array ? new Blob([body]).stream() : ReadableStream.from(body);
  return new Request("http://x/", { method: "POST", headers: { "content-type": type }, body: stream, duplex: "half" });
}

async function text(stream: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}

async function all(request: Request, limits?: Partial<MultipartLimits>): Promise<unknown[]> {
  const found: unknown[] = [];
  for await (const part of parts(request, limits)) {
    if (part.kind === "field") found.push([part.name, part.value]);
    else found.push([part.field, part.filename, part.contentType, await text(part.stream)]);
  }
  return found;
}

async function refusal(work: Promise<unknown>, code: ErrorCode): Promise<string> {
  const error: unknown = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!PinakesError.isInstance(error)) throw new Error(`expected ${code}, got ${String(error)}`, { cause: error });
  expect(error.code).toBe(code);
  return error.detail;
}

/** The same bytes in pieces of every kind, so that boundaries are cut anywhere. */
async function* pieces(body: Buffer, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < body.length; at += size) yield body.subarray(at, at + size);
}

describe("http kit: multipart", () => {
  it("fields and files come in their order, however the bytes are cut", async () => {
    const file = `a\r\n--${boundary.slice(0, 3)}\r\nb${"\r\n".repeat(3)}`;
    const body = Buffer.concat([
      disposition('name="title"', "naïve"),
      disposition('name="file"; filename="a.txt"', file, "Text/Plain"),
      disposition('name="file"; filename="empty.bin"', ""),
      disposition('name="blank"', ""),
      end,
      Buffer.from("what follows is ignored"),
    ]);
    const expected = [
      ["title", "naïve"],
      ["file", "a.txt", "text/plain", file],
      ["file", "empty.bin", "application/octet-stream", ""],
      ["blank", ""],
    ];
    expect(await all(requestOf(body))).toEqual(expected);
    for (const size of [1, 2, 3, 7, 64]) expect(await all(requestOf(pieces(body, size)))).toEqual(expected);
  });

  it("what fetch sends is what comes out", async () => {
    const form = new FormData();
    form.set("a", "1");
    form.append("file", new File(["hällo"], "größe.txt", { type: "text/plain" }));
    expect(await all(new Request("http://x/", { method: "POST", body: form }))).toEqual([
      ["a", "1"],
      ["file", "größe.txt", "text/plain", "hällo"],
    ]);
    expect(await all(requestOf(end))).toEqual([]);
  });

  it("filenames are UTF-8 and otherwise as sent: paths and backslashes stay, filename* wins", async () => {
    const name = async (rest: string) =>
      ((await all(requestOf(Buffer.concat([disposition(`name="f"; ${rest}`, "x"), end]))))[0] as string[])[1];
    expect(await name('filename="../../etc/passwd"')).toBe("../../etc/passwd");
    expect(await name(String.raw`filename="C:\dir\a.txt"`)).toBe(String.raw`C:\dir\a.txt`);
    expect(await name(String.raw`filename="say \"hi\" \\ there.txt"`)).toBe(String.raw`say "hi" \ there.txt`);
    expect(await name("filename=\"plain.txt\"; filename*=UTF-8''na%C3%AFve%20file.txt")).toBe("naïve file.txt");
    expect(await name("filename*=utf-8'en'%e2%82%ac.txt")).toBe("€.txt");
    expect(await name('filename=""')).toBe("");
    await refusal(name("filename*=latin1''x"), "INVALID");
    await refusal(name("filename*=UTF-8''%ff"), "INVALID");
    const bad = Buffer.concat([
      Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="f"; filename="`),
      Buffer.from([0xff]),
      Buffer.from('"\r\n\r\nx\r\n'),
      end,
    ]);
    expect(await refusal(all(requestOf(bad)), "INVALID")).toContain("UTF-8");
  });

  it("a long run of quotes and backslashes in a header is read in linear time", async () => {
    const rest = `name="f"; filename="${"\\\\".repeat(3_000)}`;
    expect(await all(requestOf(Buffer.concat([disposition(rest, "x"), end])))).toHaveLength(1);
  });

  it("each limit holds, and one past it is refused", async () => {
    const files = (count: number) =>
      Buffer.concat([...Array.from({ length: count }, (_, i) => disposition(`name="f"; filename="${i}"`, "x")), end]);
    const fields = (count: number) =>
      Buffer.concat([...Array.from({ length: count }, (_, i) => disposition(`name="f${i}"`, "x")), end]);
    const { filesMax, fieldsMax, fieldBytesMax } = multipartLimitsDefault;
    expect(await all(requestOf(files(filesMax)))).toHaveLength(100);
    expect(await refusal(all(requestOf(files(filesMax + 1))), "LIMIT_EXCEEDED")).toContain("more than 100 files");
    expect(await all(requestOf(fields(fieldsMax)))).toHaveLength(100);
    expect(await refusal(all(requestOf(fields(fieldsMax + 1))), "LIMIT_EXCEEDED")).toContain("more than 100 fields");
    const field = (bytes: number) => Buffer.concat([disposition('name="f"', "x".repeat(bytes)), end]);
    expect(await all(requestOf(field(fieldBytesMax)))).toEqual([["f", "x".repeat(fieldBytesMax)]]);
    expect(await refusal(all(requestOf(field(fieldBytesMax + 1))), "LIMIT_EXCEEDED")).toContain(
      "larger than 65536 bytes",
    );
    const start = 'Content-Disposition: form-data; name="f"; filename="'.length + '"\r\n'.length;
    const named = (bytes: number) =>
      Buffer.concat([disposition(`name="f"; filename="${"n".repeat(bytes - start)}"`, "x"), end]);
    const { partHeaderBytesMax } = multipartLimitsDefault;
    expect(await all(requestOf(named(partHeaderBytesMax)))).toEqual([
      ["f", "n".repeat(partHeaderBytesMax - start), "application/octet-stream", "x"],
    ]);
    for (const past of [1, 63, 64, 65, 5_000]) {
      expect(await refusal(all(requestOf(named(partHeaderBytesMax + past))), "LIMIT_EXCEEDED")).toContain(
        "larger than 8192 bytes",
      );
    }
    const body = files(1);
    expect(await all(requestOf(body), { bodyBytesMax: body.length })).toHaveLength(1);
    expect(await refusal(all(requestOf(body), { bodyBytesMax: body.length - 1 }), "LIMIT_EXCEEDED")).toContain(
      "The body is larger",
    );
  });

  it("what is no form, has no names or no boundary is refused in words", async () => {
    expect(await refusal(all(requestOf(end, "text/plain")), "INVALID")).toContain("multipart/form-data");
    expect(await refusal(all(requestOf(end, "multipart/form-data")), "INVALID")).toContain("boundary");
    expect(await refusal(all(requestOf(end, `multipart/form-data; boundary=${"b".repeat(71)}`)), "INVALID")).toContain(
      "1–70",
    );
    expect(await refusal(all(requestOf(Buffer.from("no form at all"))), "INVALID")).toContain(
      "ends before its last boundary",
    );
    expect(
      await refusal(all(requestOf(Buffer.concat([Buffer.from(`--${boundary}\r\nX: y\r\n\r\nz\r\n`), end]))), "INVALID"),
    ).toContain("Content-Disposition");
    expect(await refusal(all(requestOf(Buffer.concat([disposition('filename="x"', "x"), end]))), "INVALID")).toContain(
      "no name",
    );
  });

  it("a body that is cut throws inside the stream of the file, wherever it is cut", async () => {
    const whole = Buffer.concat([disposition('name="file"; filename="a.bin"', "x".repeat(100)), end]);
    for (let at = 0; at < whole.length - 4; at += 1) {
      expect(await refusal(all(requestOf(whole.subarray(0, at))), "INVALID")).toMatch(
        /ends before its last boundary|ends in the middle/,
      );
    }
    const seen: string[] = [];
    const read = async (): Promise<void> => {
      for await (const part of parts(requestOf(whole.subarray(0, 150)))) {
        if (part.kind === "file") await text(part.stream).catch((error: unknown) => void seen.push(String(error)));
      }
    };
    await refusal(read(), "INVALID");
    expect(seen).toHaveLength(1);
  });

  it("a client that goes away throws inside the stream of the file", async () => {
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield disposition('name="file"; filename="a.bin"', "x".repeat(100)).subarray(0, 90);
      throw new Error("socket hang up");
    }
    const consumed = async (): Promise<void> => {
      for await (const part of parts(requestOf(broken())))
        if (part.kind === "file") await expect(text(part.stream)).rejects.toThrow("connection closed");
    };
    expect(await refusal(consumed(), "INVALID")).toContain("connection closed");
  });

  it("files that nobody reads, or only begins, are skipped", async () => {
    const large = "x".repeat(300_000);
    const body = Buffer.concat([
      disposition('name="a"; filename="1"', large),
      disposition('name="b"; filename="2"', large),
      disposition('name="c"', "last"),
      end,
    ]);
    const names: string[] = [];
    const kept: Part[] = [];
    for await (const part of parts(requestOf(pieces(body, 10_000)))) {
      names.push(part.kind === "file" ? part.field : part.name);
      kept.push(part);
      if (part.kind === "file" && part.field === "b")
        for await (const chunk of part.stream) if (chunk.byteLength > 0) break;
    }
    expect(names).toEqual(["a", "b", "c"]);
    const [first] = kept;
    if (first?.kind !== "file") throw new Error("the first part is a file");
    await expect(text(first.stream)).rejects.toThrow("read each file first");
  });

  it("nothing is read ahead of the consumer, and the body is let go when it stops", async () => {
    let sent = 0;
    let released = false;
    async function* source(): AsyncGenerator<Uint8Array> {
      try {
        yield disposition('name="f"; filename="big"', "").subarray(0, -2);
        for (; sent < 1_000; sent += 1) yield Buffer.alloc(10_000, 120);
      } finally {
        released = true;
      }
    }
    for await (const part of parts(requestOf(source()))) {
      if (part.kind !== "file") continue;
      let chunks = 0;
      for await (const chunk of part.stream) {
        chunks += chunk.byteLength > 0 ? 1 : 0;
        expect(sent).toBeLessThan(chunks + 10);
        if (chunks === 20) break;
      }
      break;
    }
    expect(sent).toBeLessThan(40);
    await expect.poll(() => released).toBe(true);
  });
});

describe("http kit: multipart through a socket", async () => {
  const memory: number[] = [];
  const failures: string[] = [];
  const upload = defineRoute({
    method: "POST",
    path: "/v1/upload",
    operationId: "upload",
    summary: "Upload",
    tag: "t",
    auth: "caller",
    body: { multipart: true },
    answers: { 200: { description: "x" } },
    handler: async ({ body }) => {
      const files: unknown[] = [];
      try {
        for await (const part of body.parts()) {
          if (part.kind === "field") throw new PinakesError("INVALID", "No fields here.");
          const hash = createHash("sha256");
          let bytes = 0;
          for await (const chunk of part.stream) {
            hash.update(chunk);
            bytes += chunk.byteLength;
            memory.push(process.memoryUsage.rss());
          }
          files.push({ name: part.filename, bytes, sha256: hash.digest("hex") });
        }
      } catch (error) {
        failures.push(String(error));
        throw error;
      }
      return ok({ files });
    },
  });
  const app = new Hono<KitEnv>();
  mount(app, [upload], {
    authenticate: async () => ({ caller: makeCaller({ tenant: "w", userId: "u" }), via: "key" }),
  });
  const server = await serve(app, { host: "127.0.0.1", port: 0 });
  afterAll(() => server.close());
  const headers = { "content-type": `multipart/form-data; boundary=${boundary}` };

  it("50 MB pass through while less than 100 MB of memory are added", async () => {
    const chunk = Buffer.alloc(64 * 1024, "0123456789abcdef");
    const count = 800;
    const expected = createHash("sha256");
    for (let i = 0; i < count; i += 1) expected.update(chunk);
    async function* body(): AsyncGenerator<Uint8Array> {
      yield disposition('name="file"; filename="big.bin"', "").subarray(0, -2);
      for (let i = 0; i < count; i += 1) yield chunk;
      yield Buffer.concat([Buffer.from("\r\n"), end]);
    }
    const before = process.memoryUsage.rss();
    const response = await fetch(`${server.url}/v1/upload`, {
      method: "POST",
      headers,
      body: ReadableStream.from(body()),
      duplex: "half",
    });
    expect(await response.json()).toEqual({
      files: [{ name: "big.bin", bytes: count * chunk.length, sha256: expected.digest("hex") }],
    });
    expect(memory.length).toBeGreaterThan(100);
    expect(Math.max(...memory) - before).toBeLessThan(100 * 1024 ** 2);
  });

  it("a client that closes its connection in the middle of a file ends the handler with an error", async () => {
    failures.length = 0;
    const socket = connect(Number(new URL(server.url).port), "127.0.0.1");
    socket.on("error", () => {});
    const before = memory.length;
    socket.write(
      `POST /v1/upload HTTP/1.1\r\nHost: x\r\nContent-Type: ${headers["content-type"]}\r\nContent-Length: 1000000\r\n\r\n`,
    );
    socket.write(Buffer.concat([disposition('name="file"; filename="a"', "x".repeat(100_000)).subarray(0, -2)]));
    await expect.poll(() => memory.length).toBeGreaterThan(before);
    socket.destroy();
    await expect.poll(() => failures).toHaveLength(1);
    expect(failures[0]).toContain("connection closed");
  });

  it("a refusal before the body is read to its end still reaches the client", async () => {
    const body = Buffer.concat([
      disposition('name="field"', "x"),
      disposition('name="file"; filename="a"', Buffer.alloc(2_000_000, 120)),
      end,
    ]);
    const response = await fetch(`${server.url}/v1/upload`, { method: "POST", headers, body });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ detail: "No fields here." });
  });
});
