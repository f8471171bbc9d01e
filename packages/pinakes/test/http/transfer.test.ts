/** Files in and out: forms with many, links without a key, and bytes as they were sent. */
import { createHash } from "node:crypto";
import { beforeAll, describe, expect, it } from "vitest";
import { form, newSite, openTestServer, sendAndSettle, type Json, type Site } from "./support/server.ts";
import { forAllTests } from "../support/for-tests.ts";

let key: string;
let site: Site;

const server = forAllTests(() => openTestServer());
beforeAll(async () => {
  key = await server.key("w1", "ann", { role: "admin" });
  site = await newSite(server, key);
});

const counters = async (at: string): Promise<Json> => (await server.call("GET", at, { key })).json;
const plain = { "content-type": "text/plain" };

describe("forms", () => {
  it("R-KB-43 several files in one upload: each has its own result, and a bad one does not harm the others", async () => {
    const { at } = await newSite(server, key);
    await server.call("POST", `${at}/documents`, { key, body: { name: "here.txt", text: "first" } });
    const files = { "a.txt": "alpha", "b.exe": "no", "here.txt": "again", "c.md": "# gamma", "d.txt": "" };
    const { status, json } = await server.call("POST", `${at}/documents`, {
      key,
      body: form(files, { metadata: '{"batch":7}' }),
    });
    expect(status).toBe(202);
    const documents = json["documents"] as Json[];
    expect(documents.map(({ name, metadata }) => [name, metadata])).toEqual([
      ["a.txt", { batch: 7 }],
      ["c.md", { batch: 7 }],
    ]);
    expect((json["errors"] as Json[]).map(({ name, code }) => [name, code])).toEqual([
      ["b.exe", "INVALID"],
      ["here.txt", "CONFLICT"],
      ["d.txt", "INVALID"],
    ]);
    for (const { document_id } of documents)
      expect(await server.settled(key, `${at}/documents/${document_id as string}`)).toMatchObject({
        status: "indexed",
      });
    expect(await counters(at)).toMatchObject({ document_count: 3, total_size_bytes: 17 });
  });

  it("a field that no file follows is told: it would have been lost", async () => {
    const { at } = await newSite(server, key);
    const send = async () => {
      const sent = new FormData();
      sent.append("file", new Blob(["alpha"]), "a.txt");
      sent.append("replace", "true");
      return server.call("POST", `${at}/documents`, { key, body: sent });
    };
    const first = await send();
    expect([first.status, (first.json["documents"] as Json[]).length]).toEqual([202, 1]);
    expect(first.json["errors"]).toMatchObject([
      { name: "form", code: "INVALID", detail: expect.stringContaining("replace: no file follows it") as string },
    ]);
    const second = await send();
    expect([second.status, second.json["detail"]]).toEqual([
      400,
      expect.stringContaining("replace: no file follows it"),
    ]);
  });

  it("a field that is wrong after a file: the file that was taken is in the answer, what follows is not taken", async () => {
    const { at } = await newSite(server, key);
    const sent = new FormData();
    sent.append("file", new Blob(["alpha"]), "a.txt");
    sent.append("metadata", "{not json");
    sent.append("file", new Blob(["beta"]), "b.txt");
    const { status, json } = await server.call("POST", `${at}/documents`, { key, body: sent });
    expect(status).toBe(202);
    expect((json["documents"] as Json[]).map(({ name }) => name)).toEqual(["a.txt"]);
    expect(json["errors"]).toMatchObject([
      { code: "INVALID", detail: expect.stringContaining("metadata: must be JSON") as string },
    ]);
    expect(await counters(at)).toMatchObject({ document_count: 1 });
  });

  it("a form that breaks off is an error, and leaves nothing of the file that was cut", async () => {
    const { at } = await newSite(server, key);
    const cut = '--b\r\ncontent-disposition: form-data; name="file"; filename="cut.txt"\r\n\r\nhalf of it';
    const headers = { "content-type": "multipart/form-data; boundary=b" };
    const { status, json } = await server.call("POST", `${at}/documents`, { key, body: cut, headers });
    expect([status, json["code"]]).toEqual([400, "INVALID"]);
    expect(await counters(at)).toMatchObject({ document_count: 0, total_size_bytes: 0 });
  });

  it("more than 100 files in one form are refused with the limit; 100 are taken", async () => {
    const { at } = await newSite(server, key);
    const many = (count: number) =>
      form(Object.fromEntries(Array.from({ length: count }, (_, i) => [`f${i}.txt`, `words ${i}`])));
    const full = await server.call("POST", `${at}/documents`, { key, body: many(100) });
    expect((full.json["documents"] as Json[]).length).toBe(100);
    expect(await counters(at)).toMatchObject({ document_count: 100 });
    const other = await newSite(server, key);
    const over = await server.call("POST", `${other.at}/documents`, { key, body: many(101) });
    expect(over.text).toContain("100");
    expect((await counters(other.at))["document_count"]).toBe(
      (over.json["documents"] as Json[] | undefined)?.length ?? 0,
    );
  });
});

describe("content", () => {
  it.each(["plain.txt", "Grüße, 日本語 & «más».txt", `it's (a) "quote" 100%.txt`])(
    "%s comes back byte for byte, to be saved under its name",
    async (name) => {
      const bytes = Buffer.from(`\uFEFFcontent of ${name}\r\n`, "utf8");
      const text = bytes.toString("utf8");
      const { document_id } = await sendAndSettle(site, name, text);
      const response = await server.raw("GET", `${site.at}/documents/${document_id as string}/content`, { key });
      expect(Buffer.from(await response.arrayBuffer()).equals(bytes)).toBe(true);
      expect(response.headers.get("content-type")).toBe("application/octet-stream");
      expect(response.headers.get("content-length")).toBe(String(bytes.length));
      expect(response.headers.get("x-content-type-options")).toBe("nosniff");
      expect(response.headers.get("digest")).toBe(`sha-256=${createHash("sha256").update(bytes).digest("base64")}`);
      const disposition = response.headers.get("content-disposition") as string;
      expect(disposition).toMatch(/^attachment; filename="[\w .()-]+"; filename\*=UTF-8''[\w%.!#$&+^`|~-]+$/);
      expect(decodeURIComponent(disposition.split("UTF-8''")[1] as string)).toBe(name);
    },
  );

  it("older versions stay to be had by their number, and a version that never was is 404", async () => {
    const { document_id } = await sendAndSettle(site, "versions.txt", "one");
    await sendAndSettle(site, "versions.txt", "two", { replace: true });
    const at = `${site.at}/documents/${document_id as string}`;
    expect((await server.call("GET", `${at}/content?version=1`, { key })).text).toBe("one");
    expect((await server.call("GET", `${at}/content`, { key })).text).toBe("two");
    expect((await server.call("GET", `${at}/content?version=9`, { key })).status).toBe(404);
    const { items } = (await server.call("GET", `${at}/versions`, { key })).json as { items: Json[] };
    expect(items.map(({ version, live }) => [version, live])).toEqual([
      [2, true],
      [1, false],
    ]);
  });
});

describe("links", () => {
  const grant = async (name: string, more: object = {}) =>
    server.call("POST", `${site.at}/uploads`, { key, body: { name, ...more } });

  it("R-LISA-79 an upload link takes one file, once, of at most 50 MB, under the name and the key that the server chose, until it expires", async () => {
    const given = await grant("linked.txt", { metadata: { by: "link" } });
    expect(given.json).toMatchObject({
      expires_in_seconds: 300,
      url: expect.stringMatching(/^\/v1\/uploads\/[\w-]{43}$/) as string,
    });
    const url = given.json["url"] as string;
    const put = await server.call("PUT", url, { body: "by link", headers: plain });
    expect([put.status, put.json["name"], put.json["uploaded_by"], put.json["metadata"]]).toEqual([
      202,
      "linked.txt",
      "ann",
      { by: "link" },
    ]);
    const again = await server.call("PUT", url, { body: "once more", headers: plain });
    expect([again.status, again.json["detail"]]).toEqual([
      404,
      expect.stringContaining("was already used, has expired, or is invalid"),
    ]);
    const late = (await grant("late.txt", { expires_in_seconds: 60 })).json["url"] as string;
    server.later(60_001);
    expect((await server.call("PUT", late, { body: "too late", headers: plain })).status).toBe(404);
    expect((await grant("x.txt", { expires_in_seconds: 900 })).status).toBe(201);
    expect((await grant("x.txt", { expires_in_seconds: 901 })).status).toBe(400);
    expect((await grant("x.txt", { expires_in_seconds: 0 })).status).toBe(400);
    const large = (await grant("large.txt")).json["url"] as string;
    const over = await server.call("PUT", large, { body: new Uint8Array(52_428_801), headers: plain });
    expect([over.status, over.json["code"]]).toEqual([413, "LIMIT_EXCEEDED"]);
    const listed = (await server.call("GET", `${site.at}/documents?q=large`, { key })).json["items"];
    expect(listed).toEqual([]);
  });

  it("of twenty uses of one link at the same time one is taken", async () => {
    const url = (await grant("raced.txt")).json["url"] as string;
    const before = (await counters(site.at))["document_count"] as number;
    const replies = await Promise.all(
      Array.from({ length: 20 }, (_, i) => server.call("PUT", url, { body: `by ${i}`, headers: plain })),
    );
    expect(replies.map(({ status }) => status).toSorted()).toEqual([202, ...Array.from({ length: 19 }, () => 404)]);
    expect((await counters(site.at))["document_count"]).toBe(before + 1);
  });

  it("R-LISA-79 a download link works without a key for as long as it says, and then no more", async () => {
    const { document_id } = await sendAndSettle(site, "lent.txt", "lent words");
    const at = `${site.at}/documents/${document_id as string}/download`;
    const { json } = await server.call("GET", `${at}?expires_in_seconds=120`, { key });
    expect(json).toMatchObject({ expires_in_seconds: 120 });
    for (let i = 0; i < 3; i += 1) expect((await server.call("GET", json["url"] as string)).text).toBe("lent words");
    const usual = (await server.call("GET", at, { key })).json;
    expect(usual["expires_in_seconds"]).toBe(300);
    server.later(120_001);
    expect((await server.call("GET", json["url"] as string)).status).toBe(404);
    expect((await server.call("GET", usual["url"] as string)).status).toBe(200);
    expect((await server.call("GET", `${at}?expires_in_seconds=901`, { key })).status).toBe(400);
    expect((await server.call("GET", (json["url"] as string).replace("downloads", "uploads"))).status).toBe(405);
    expect(
      (
        await server.call("PUT", (usual["url"] as string).replace("downloads", "uploads"), {
          body: "x",
          headers: plain,
        })
      ).status,
    ).toBe(404);
    await server.call("DELETE", `${site.at}/documents/${document_id as string}`, { key });
    expect((await server.call("GET", usual["url"] as string)).status).toBe(404);
  });
});
