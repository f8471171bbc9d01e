/** Requests that are not well formed: each is told what is wrong with it, and where. */
import { beforeAll, describe, expect, it } from "vitest";
import { show } from "../../src/domain/errors.ts";
import { askedIdCharsMax } from "../../src/knowledge/records/names.ts";
import { newSite, openTestServer, sendText, type Reply, type Site } from "./support/server.ts";
import { forAllTests } from "../support/for-tests.ts";

let key: string;
let site: Site;
let collections: string;

const server = forAllTests(() => openTestServer());
beforeAll(async () => {
  key = await server.key("w1", "ann", { role: "admin" });
  site = await newSite(server, key);
  collections = `/v1/repositories/${site.repository}/collections`;
});

function expectProblem({ status, headers, json, text }: Reply, wanted: number, detail: RegExp): void {
  expect(status, text).toBe(wanted);
  expect(headers.get("content-type")).toBe("application/problem+json");
  expect(json).toMatchObject({
    status: wanted,
    code: expect.any(String) as string,
    title: expect.any(String) as string,
    request_id: headers.get("x-request-id"),
  });
  expect(json["detail"]).toMatch(detail);
}
const send = (body: string | Uint8Array, type?: string) =>
  server.call("POST", collections, { key, body, headers: type === undefined ? {} : { "content-type": type } });

describe("bodies", () => {
  it("JSON that is none is 400 with the place where it breaks", async () => {
    expectProblem(await send('{"name": "Papers",\n  "description": }', "application/json"), 400, /line 2, column 18/);
    expectProblem(await send("", "application/json"), 400, /./);
    expectProblem(await send("[]", "application/json"), 400, /./);
    expectProblem(await send("null", "application/json"), 400, /./);
    expectProblem(await send(Buffer.from([0x22, 0xff, 0xfe, 0x22]), "application/json"), 400, /UTF-8/);
  });

  it("another content type is 415 and says which are taken; a compressed body too", async () => {
    expectProblem(await send("name: Papers", "text/yaml"), 415, /text\/yaml; send application\/json/);
    const none = await server.call("POST", `${site.at}/documents`, {
      key,
      body: "words",
      headers: { "content-type": "text/plain" },
    });
    expectProblem(none, 415, /multipart\/form-data or application\/json/);
    const zipped = await server.call("POST", collections, {
      key,
      body: { name: "Zip" },
      headers: { "content-encoding": "gzip" },
    });
    expectProblem(zipped, 415, /uncompressed/);
  });

  it("a body of the largest size is read, one byte more is 413, and so is one that only says so", async () => {
    const sized = (bytes: number) => {
      const empty = JSON.stringify({ name: "Large", description: "" });
      return JSON.stringify({ name: "Large", description: "d".repeat(bytes - empty.length) });
    };
    expectProblem(await send(sized(1_048_576), "application/json"), 400, /description: has \d+ characters/);
    expectProblem(await send(sized(1_048_577), "application/json"), 413, /larger than 1048576 bytes/);
    const said = await server.call("POST", collections, {
      key,
      body: { name: "Said" },
      headers: { "content-length": "1048577" },
    });
    expectProblem(said, 413, /larger than 1048576 bytes/);
  });

  it("JSON that is too deep is refused before it is looked at", async () => {
    const nested = (depth: number) =>
      `{"name":"Deep","metadata":{"custom_fields":${'{"a":'.repeat(depth)}1${"}".repeat(depth)}}}`;
    expectProblem(await send(nested(63), "application/json"), 400, /deep/);
    expectProblem(await send(nested(100_000), "application/json"), 400, /deep/);
    expect((await send(nested(20), "application/json")).status).toBe(201);
  });

  it("keys that mean something to JavaScript mean nothing here", async () => {
    const reply = await send(
      '{"name":"Proto","metadata":{"custom_fields":{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}}}',
      "application/json",
    );
    expect(reply.status === 201 || reply.status === 400, reply.text).toBe(true);
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });
});

describe("paths, queries and headers", () => {
  it("R-TG-102 an id that can be of nothing is told as the caller wrote it, and not as the stores keep it", async () => {
    const rule = (where: string, id: string) =>
      `${where}: an id has 1–128 letters, digits, ".", "_" or "-"; got ${show(id)}.`;
    const wrong = [
      [`${collections}/..%2Fx`, "collection_id", "../x"],
      [`${collections}/x?deleted=true&incarnation=a%2Fb`, "incarnation", "a/b"],
      ["/v1/repositories/a%00b", "repository_id", "a\0b"],
      [`${site.at}/documents/a%3Fb`, "document_id", "a?b"],
      ["/v1/jobs/a%2Fb", "job_id", "a/b"],
      ["/v1/operations/a%2Fb", "operation_id", "a/b"],
      ["/v1/evaluations/a%2Fb", "evaluation_id", "a/b"],
    ] as const;
    for (const [path, where, id] of wrong) {
      const reply = await server.call("GET", path, { key });
      expectProblem(reply, 400, /an id has/);
      expect(reply.json["detail"]).toBe(rule(where, id));
    }
    expectProblem(
      await server.call("POST", `${collections}/..%2Fx:restore`, { key }),
      400,
      /^collection_id: .* got "\.\.\/x"/,
    );
    expectProblem(
      await server.call("POST", "/v1/fsck", { key, body: { repository: site.repository, collection: "a/b" } }),
      400,
      /^collection: .* got "a\/b"/,
    );
    // Where no path limits them: the longest that is looked for is not there, and a longer one is none.
    const { knowledge } = server.pinakes;
    const ann = server.pinakes.as({ tenant: "w1", userId: "ann", role: "admin" });
    const looking: Readonly<Record<string, (id: string) => Promise<unknown>>> = {
      repository_id: (id) => knowledge.collections.get(ann, id, "x"),
      collection_id: (id) => knowledge.collections.get(ann, site.repository, id),
      job_id: (id) => knowledge.jobs.get(ann, id),
      operation_id: (id) => knowledge.operations.get(ann, id),
      evaluation_id: (id) => knowledge.evaluations.get(ann, id),
    };
    for (const [where, look] of Object.entries(looking)) {
      await expect(look("x".repeat(askedIdCharsMax)), where).rejects.toMatchObject({ code: "NOT_FOUND" });
      const long = "x".repeat(askedIdCharsMax + 1);
      await expect(look(long), where).rejects.toMatchObject({ code: "INVALID", detail: rule(where, long) });
      await expect(look("\ud800"), where).rejects.toMatchObject({ code: "INVALID", detail: rule(where, "\ud800") });
    }
  });

  it("an unknown or repeated query parameter, and one of another type, are 400 with their name", async () => {
    expectProblem(await server.call("GET", `${collections}?colour=red`, { key }), 400, /colour/);
    for (const limit of ["ten", "1e999", "NaN", "Infinity"])
      expectProblem(
        await server.call("GET", `${collections}?limit=${limit}`, { key }),
        400,
        new RegExp(`^limit: must be a number, got "${limit}"\\.$`),
      );
    expectProblem(
      await server.call("GET", `${collections}?limit=0`, { key }),
      400,
      /limit: must be a whole number from 1 to 100/,
    );
    expectProblem(await server.call("GET", `${collections}?limit=101`, { key }), 400, /limit/);
    expectProblem(await server.call("GET", `${collections}?limit=1&limit=2`, { key }), 400, /limit/);
    expectProblem(await server.call("GET", `${collections}?sort=colour`, { key }), 400, /sort/);
    expectProblem(await server.call("GET", `${collections}?status=LOST`, { key }), 400, /status/);
    expect((await server.call("GET", `${collections}?limit=100`, { key })).status).toBe(200);
  });

  it("a cursor that no list gave, or another list, is 400 and never a mixture", async () => {
    for (let i = 0; i < 3; i += 1) await server.call("POST", collections, { key, body: { name: `Page ${i}` } });
    for (let i = 0; i < 3; i += 1) await sendText(site, `c${i}.txt`, "x");
    const { next_cursor } = (await server.call("GET", `${collections}?limit=1`, { key })).json;
    const cursor = encodeURIComponent(next_cursor as string);
    for (const path of [
      `${collections}?cursor=nonsense`,
      `${collections}?limit=1&sort=name&cursor=${cursor}`,
      `/v1/collections?limit=1&cursor=${cursor}`,
    ]) {
      expectProblem(await server.call("GET", path, { key }), 400, /cursor/i);
    }
    expectProblem(await server.call("GET", `${site.at}/documents?cursor=${cursor}`, { key }), 400, /cursor/i);
    expectProblem(await server.call("GET", `/v1/jobs?cursor=nonsense`, { key }), 400, /cursor/i);
    expectProblem(await server.call("GET", `/v1/repositories?cursor=nonsense`, { key }), 400, /cursor/i);
    expectProblem(await server.call("GET", `/v1/keys?cursor=nonsense`, { key }), 400, /cursor/i);
    const changed = (next_cursor as string).replace(/.$/, (last) => (last === "A" ? "B" : "A"));
    expectProblem(
      await server.call("GET", `${collections}?limit=1&cursor=${encodeURIComponent(changed)}`, { key }),
      400,
      /cursor/i,
    );
  });

  it("an etag that is none is 400; one of another time 412", async () => {
    const patch = (etag: string) =>
      server.call("PATCH", site.at, { key, body: { description: "x" }, headers: { "if-match": etag } });
    expectProblem(await patch('"unfinished'), 400, /If-Match: an etag must be quoted/);
    expectProblem(await patch('"a", "b"'), 400, /If-Match: send a single etag/);
    expectProblem(await patch('"never"'), 412, /./);
  });

  it("a path that is not percent-encoded UTF-8 is 400; ids are ids, whatever is in them", async () => {
    expectProblem(await server.call("GET", "/v1/repositories/%ff", { key }), 400, /percent-encoded/);
    for (const id of ["..%2f..%2fetc", "%F0%9F%93%9A", "%3Cscript%3E", "a".repeat(256)]) {
      expectProblem(await server.call("GET", `/v1/repositories/${id}`, { key }), 404, /There is no repository/);
    }
    expectProblem(await server.call("GET", `/v1/repositories/${"a".repeat(257)}`, { key }), 400, /rid/);
    expectProblem(await server.call("GET", "/v1/repositories/a%00b", { key }), 400, /^repository_id: an id has/);
  });

  it("credentials that are no credentials are 401, whatever they look like", async () => {
    for (const authorization of [
      "Basic YTpi",
      "Bearer",
      "Bearer a b",
      `Bearer ${"x".repeat(20_000)}`,
      "Bearer pk_00000000000000000000_" + "A".repeat(43),
    ]) {
      expectProblem(await server.call("GET", "/v1/me", { headers: { authorization } }), 401, /./);
    }
  });

  it("a search with a mistake is told which: empty, too long, an unknown mode, filter or limit", async () => {
    const search = (body: object) => server.call("POST", `${site.at}/search`, { key, body });
    expectProblem(await search({ query: "" }), 400, /query/);
    expectProblem(await search({ query: "x".repeat(10_001) }), 400, /query/);
    expectProblem(await search({ query: "x", mode: "magic" }), 400, /mode/);
    expectProblem(await search({ query: "x", limit: 0 }), 400, /limit/);
    expectProblem(await search({ query: "x", limit: 1_001 }), 400, /limit/);
    expectProblem(await search({ query: "x", filter: { a: { $where: "1" } } }), 400, /./);
    expectProblem(await search({ query: "x", as_of: "yesterday" }), 400, /as_of/);
    expectProblem(await search({ query: "x", diversity: 2 }), 400, /diversity/);
    expect((await search({ query: "x", limit: 1_000 })).status).toBe(200);
  });
});
