/** What is not right: told as a problem with every field, in words that help, and nothing of it is left behind. */
import { beforeAll, describe, expect, it } from "vitest";
import { tenantScope } from "../../src/domain/scope.ts";
import { makeDocx, par } from "../../src/drivers/parsers/test-files.ts";
import {
  form,
  newSite,
  openTestServer,
  sendAndSettle,
  type CallOptions,
  type Json,
  type Reply,
  type Site,
} from "./support/server.ts";
import { forAllTests } from "../support/for-tests.ts";

let key: string;
let site: Site;

const server = forAllTests(() => openTestServer());
beforeAll(async () => {
  key = await server.key("w1", "ann", { role: "admin" });
  site = await newSite(server, key);
});

function expectProblem({ status, headers, json, text }: Reply, wanted: number, detail: RegExp): void {
  expect(status, text).toBe(wanted);
  expect(headers.get("content-type")).toBe("application/problem+json");
  expect(headers.get("cache-control")).toBe("no-store");
  expect(Object.keys(json)).toEqual(
    expect.arrayContaining(["type", "title", "status", "detail", "code", "retryable", "request_id"]),
  );
  expect(json).toMatchObject({
    status: wanted,
    retryable: false,
    request_id: headers.get("x-request-id"),
    type: expect.stringMatching(/^urn:pinakes:/) as string,
  });
  expect(json["detail"]).toMatch(detail);
}

/** No record, no byte, no count. */
async function expectNothingLeft(at = site.at): Promise<void> {
  const { json } = await server.call("GET", at, { key });
  expect(json).toMatchObject({ document_count: 0, total_size_bytes: 0, chunk_count: 0, indexing_status: "pending" });
  expect(Object.values(json["documents_by_status"] as Json)).toEqual([0, 0, 0, 0, 0]);
  expect((await server.call("GET", `${at}/documents`, { key })).json).toEqual({ items: [], next_cursor: null });
  expect((await server.call("GET", `${at}/usage`, { key })).json).toMatchObject({
    consistent: true,
    document_count: 0,
  });
  const { items } = (await server.call("GET", "/v1/jobs?limit=100", { key })).json as { items: Json[] };
  expect(items.filter(({ collection_id }) => collection_id === json["collection_id"])).toEqual([]);
  const prefix = `knowledge/${json["incarnation"] as string}/`;
  expect((await server.pinakes.objects.list(tenantScope("w1"), prefix)).keys).toEqual([]);
}

const post = (path: string, options: CallOptions) => server.call("POST", path, { key, ...options });
const collections = () => `/v1/repositories/${site.repository}/collections`;
async function names(): Promise<unknown[]> {
  const { json } = await server.call("GET", `${collections()}?status=all`, { key });
  return (json["items"] as Json[]).map(({ name }) => name);
}

describe("names and descriptions", () => {
  it.each([
    ["a newline", { name: "two\nlines" }, /name: may have letters/],
    ["an emoji", { name: "Papers 📚" }, /name: may have letters/],
    ["101 characters", { name: "n".repeat(101) }, /name: has 101 characters; at most 100/],
    ["only spaces", { name: "   " }, /name: must be a string of 1–100/],
    ["no text", { name: 7 }, /name/],
    ["nothing", {}, /name: is missing/],
    [
      "HTML in the description",
      { name: "Page", description: "<script>alert(1)</script>" },
      /description: must be plain text, without HTML/,
    ],
    [
      "a long description",
      { name: "Page", description: "d".repeat(501) },
      /description: has 501 characters; at most 500/,
    ],
    [
      "a control character in the description",
      { name: "Page", description: "a\u0000b" },
      /description: must not contain control/,
    ],
    [
      "51 tags",
      { name: "Tags", metadata: { tags: Array.from({ length: 51 }, (_, i) => `t${i}`) } },
      /has 51 tags; at most 50/,
    ],
    ["an id with a slash", { name: "Id", collection_id: "a/b" }, /collection_id: an id has/],
    ["an id of two dots", { name: "Id", collection_id: ".." }, /collection_id: an id has/],
    ["an unknown field", { name: "Field", colour: "red" }, /colour/],
    [
      "an unknown model",
      { name: "Model", embedding_model: "gpt-9" },
      /embedding_model: "gpt-9" is not configured; configured are all-MiniLM/,
    ],
    ["an unknown chunking type", { name: "Cut", chunking_strategy: { type: "MAGIC" } }, /FIXED.*RECURSIVE/],
    [
      "overlap as large as the piece",
      { name: "Cut", chunking_strategy: { type: "FIXED", chunk_size: 100, chunk_overlap: 100 } },
      /overlap/,
    ],
  ])("a collection with %s is refused, and not made", async (_, body, detail) => {
    const before = await names();
    expectProblem(await post(collections(), { body }), 400, detail);
    expect(await names()).toEqual(before);
  });

  it("a name of 100 characters and a description of 500 are taken", async () => {
    const made = await post(collections(), { body: { name: "n".repeat(100), description: "d".repeat(500) } });
    expect(made.status, made.text).toBe(201);
  });

  it("R-LISA-70 a change without a field, of an unknown field, of what never changes: 400, and nothing changed", async () => {
    const before = await server.call("GET", site.at, { key });
    for (const [body, detail] of [
      [{}, /./],
      [{ colour: "red" }, /colour/],
      [{ embedding_model: "other" }, /embedding_model/],
      [{ created_by: "me" }, /created_by/],
      [{ status: "DELETED" }, /status/],
    ] as const) {
      expectProblem(await server.call("PATCH", site.at, { key, body }), 400, detail);
    }
    expect((await server.call("GET", site.at, { key })).text).toBe(before.text);
  });

  it("the default collection is not deleted, renamed or archived", async () => {
    const at = `${collections()}/all-MiniLM-L6-v2`;
    expect((await server.call("GET", at, { key })).json["is_default"]).toBe(true);
    expectProblem(await server.call("DELETE", at, { key }), 400, /default collection cannot be deleted/);
    expectProblem(
      await server.call("DELETE", `${at}?purge=true&confirm=all-MiniLM-L6-v2`, { key }),
      400,
      /default collection cannot be deleted/,
    );
    expectProblem(await post(`${at}:archive`, {}), 400, /default collection cannot be archived/);
    expectProblem(
      await server.call("PATCH", at, { key, body: { name: "Other" } }),
      400,
      /default collection cannot be renamed/,
    );
    expect((await server.call("GET", at, { key })).json).toMatchObject({
      status: "ACTIVE",
      name: "Default Collection",
    });
  });

  it("a delete with another id to confirm, and a purge with none, are refused", async () => {
    expectProblem(await server.call("DELETE", `${site.at}?confirm=other`, { key }), 400, /confirm: must be the id/);
    expectProblem(await server.call("DELETE", `${site.at}?purge=true`, { key }), 400, /confirm: must be the id/);
    expectProblem(
      await server.call("DELETE", `/v1/repositories/${site.repository}`, { key }),
      400,
      /confirm: must be the id/,
    );
    expect((await server.call("GET", site.at, { key })).json["status"]).toBe("ACTIVE");
  });
});

describe("files", () => {
  it.each([
    ["../../etc/passwd.txt", /cannot contain "\/"/],
    ["..\\..\\boot.txt", /cannot contain "\/" or/],
    ["a\u0000b.txt", /cannot contain control characters/],
    ["two\nlines.txt", /cannot contain control characters/],
    ["..", /is not a file name|this file type/],
    [`${"n".repeat(252)}.txt`, /1–255 characters; this file name has 256/],
    ["program.exe", /this file type is not accepted; accepted are pdf, docx, txt/],
    ["noextension", /this file type is not accepted/],
    [".txt", /this file type is not accepted/],
  ])("a file called %j is refused, and nothing is left", async (name, detail) => {
    expectProblem(await post(`${site.at}/documents`, { body: { name, text: "content" } }), 400, detail);
    expectProblem(await post(`${site.at}/uploads`, { body: { name } }), 400, detail);
    await expectNothingLeft();
  });

  it("a form cannot bring them in, either: whatever the file name says, it is a name and no path", async () => {
    for (const name of ["../../etc/passwd.txt", "..\\boot.txt", "program.exe"]) {
      const reply = await post(`${site.at}/documents`, { body: form({ [name]: "content" }) });
      expectProblem(reply, 400, /./);
    }
    await expectNothingLeft();
  });

  it("an empty file is refused, as a form, as text, and by a link", async () => {
    expectProblem(await post(`${site.at}/documents`, { body: form({ "empty.txt": "" }) }), 400, /"empty.txt" is empty/);
    expectProblem(
      await post(`${site.at}/documents`, { body: { name: "empty.txt", text: "" } }),
      400,
      /"empty.txt" is empty/,
    );
    const { url } = (await post(`${site.at}/uploads`, { body: { name: "empty.txt" } })).json;
    const put = await server.call("PUT", url as string, {
      body: new Uint8Array(),
      headers: { "content-type": "text/plain" },
    });
    expectProblem(put, 400, /"empty.txt" is empty/);
    await expectNothingLeft();
  });

  it("another chunking where the collection does not allow it, an unknown type, and bad metadata are refused before a byte is kept", async () => {
    const strict = await newSite(server, key, { allow_chunking_override: false });
    const chunking_strategy = { type: "FIXED", chunk_size: 100 };
    const text = { name: "a.txt", text: "content" };
    expectProblem(
      await post(`${strict.at}/documents`, { body: { ...text, chunking_strategy } }),
      400,
      /does not allow an override/,
    );
    const asForm = form({ "a.txt": "content" }, { chunking_strategy: JSON.stringify(chunking_strategy) });
    expectProblem(await post(`${strict.at}/documents`, { body: asForm }), 400, /does not allow an override/);
    await expectNothingLeft(strict.at);
    expectProblem(
      await post(`${site.at}/documents`, { body: { ...text, chunking_strategy: { type: "MAGIC" } } }),
      400,
      /FIXED.*RECURSIVE/,
    );
    expectProblem(
      await post(`${site.at}/documents`, { body: { ...text, metadata: { big: "x".repeat(11_000) } } }),
      413,
      /metadata: has \d+ bytes/,
    );
    expectProblem(
      await post(`${site.at}/documents`, { body: form({ "a.txt": "content" }, { metadata: "{not json" }) }),
      400,
      /metadata: must be JSON/,
    );
    expectProblem(
      await post(`${site.at}/documents`, { body: form({ "a.txt": "content" }, { colour: "red" }) }),
      400,
      /colour: is not a field of this form/,
    );
    expectProblem(await post(`${site.at}/documents`, { body: form({}, { replace: "true" }) }), 400, /has no file/);
    await expectNothingLeft();
  });

  it("a document that cannot be read fails with a reason that a person understands; its neighbour is indexed", async () => {
    const at = (await newSite(server, key)).at;
    const bomb = claiming(makeDocx(par("x") + " ".repeat(1_000_000)), 2 ** 30);
    expect(bomb.length).toBeLessThan(10_000);
    const files = {
      "bomb.docx": bomb,
      "broken.pdf": "%PDF-1.7 and then nothing",
      "page.docx": "no zip at all",
      "good.txt": "good words",
    };
    const { json, status } = await post(`${at}/documents`, { body: form(files) });
    expect(status).toBe(202);
    expect(json["errors"]).toEqual([]);
    const documents = json["documents"] as Json[];
    const told = new Map<string, Json>();
    for (const { document_id, name } of documents)
      told.set(name as string, await server.settled(key, `${at}/documents/${document_id as string}`));
    expect(told.get("good.txt")).toMatchObject({ status: "indexed", error: null });
    for (const name of ["bomb.docx", "broken.pdf", "page.docx"]) {
      expect(told.get(name), name).toMatchObject({
        status: "failed",
        chunk_count: 0,
        error: expect.stringMatching(/\w+ \w+ \w+/) as string,
      });
      expect(told.get(name)?.["error"], name).not.toMatch(/undefined|TypeError|at \w+ \(|\.ts:/);
    }
    expect(told.get("bomb.docx")?.["error"]).toMatch(/unpacked/);
    expect((await server.call("GET", at, { key })).json).toMatchObject({
      document_count: 4,
      indexing_status: "error",
      documents_by_status: { failed: 3, indexed: 1 },
    });
  });

  it("R-KB-44 a name that is there, ignoring case, is 409 over HTTP; with replace it takes its place, and count and size are right", async () => {
    const here = await newSite(server, key);
    const first = await sendAndSettle(here, "Report.txt", "first words");
    const again = await post(`${here.at}/documents`, { body: { name: "REPORT.TXT", text: "other words!" } });
    expectProblem(again, 409, /already exists \(names are case-insensitive\).*replace=true/);
    expect((await post(`${here.at}/documents`, { body: form({ "report.txt": "other words!" }) })).status).toBe(409);
    const taken = await post(`${here.at}/documents`, {
      body: form({ "report.txt": "other words!" }, { replace: "true" }),
    });
    expect(taken.status).toBe(202);
    await server.settled(key, `${here.at}/documents/${first["document_id"] as string}`);
    expect((await server.call("GET", here.at, { key })).json).toMatchObject({
      document_count: 1,
      total_size_bytes: 12,
    });
    expect((await server.call("GET", `${here.at}/usage`, { key })).json).toMatchObject({ consistent: true });
    const found = await post(`${here.at}/search`, { body: { query: "words", mode: "keyword" } });
    expect((found.json["hits"] as Json[]).map(({ text }) => text)).toEqual(["other words!"]);
  });
});

/** A ZIP whose entries say that they are as large as this when they are unpacked. */
function claiming(zip: Uint8Array, bytes: number): Uint8Array {
  const changed = Buffer.from(zip);
  for (const [signature, sizeAt] of [
    ["PK\u0001\u0002", 24],
    ["PK\u0003\u0004", 22],
  ] as const) {
    for (let at = changed.indexOf(signature); at !== -1; at = changed.indexOf(signature, at + 4))
      changed.writeUInt32LE(bytes, at + sizeAt);
  }
  return changed;
}
