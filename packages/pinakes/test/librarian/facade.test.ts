/** The librarian facade over HTTP: TrustGraph's operations, field names and errors, on the caller's own collections. */
import { describe, expect, it } from "vitest";
import { librarianListMax } from "../../src/http/facades/trustgraph/management/request.ts";
import { openTestServer, type Json, type Reply } from "../http/support/server.ts";
import { forAllTests } from "../support/for-tests.ts";

const server = forAllTests(() => openTestServer());

const at = "/v1/collection-management";
const send = (key: string, body: unknown): Promise<Reply> => server.call("POST", at, { key, body });
const fresh = (user: string, workspace = "w1") => server.key(workspace, user);

async function collections(key: string, more: object = {}): Promise<Json[]> {
  const reply = await send(key, { operation: "list-collections", ...more });
  expect(reply.status, reply.text).toBe(200);
  return reply.json["collections"] as Json[];
}

async function update(key: string, collection: string, more: object = {}): Promise<Json> {
  const reply = await send(key, { operation: "update-collection", collection, ...more });
  expect(reply.status, reply.text).toBe(200);
  const [record] = reply.json["collections"] as Json[];
  return record as Json;
}

const isoUtc = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

describe("create-collection", () => {
  it("R-TG-20 R-TG-63 creates one and returns the whole record; an existing one is a conflict and stays unchanged", async () => {
    const key = await fresh("creator");
    const create = (more: object) => send(key, { operation: "create-collection", collection: "papers", ...more });
    const made = await create({ name: "Papers", description: "From 1905 on", tags: ["physics"] });
    expect([made.status, made.json["error"]], made.text).toEqual([200, null]);
    expect(made.json["collections"]).toMatchObject([
      { collection: "papers", name: "Papers", description: "From 1905 on", tags: ["physics"] },
    ]);
    for (const again of [{}, { name: "Papers" }, { name: "Other", tags: [] }]) {
      const reply = await create(again);
      expect([reply.status, reply.json["error"], reply.json["collections"]], reply.text).toMatchObject([
        409,
        { type: "conflict" },
        [],
      ]);
    }
    expect(await collections(key)).toEqual(made.json["collections"]);
    const racing = await Promise.all(
      Array.from({ length: 10 }, () => send(key, { operation: "create-collection", collection: "raced" })),
    );
    expect(racing.map(({ status }) => status).toSorted()).toEqual([200, ...Array.from({ length: 9 }, () => 409)]);
    expect(await send(key, { operation: "create-collection" })).toMatchObject({ status: 400 });
  });
});

describe("update-collection", () => {
  it("R-TG-10 R-TG-11 R-TG-12 R-TG-20 R-TG-26 creates a missing one, named by its id, and returns the whole record", async () => {
    const key = await fresh("defaults");
    const record = await update(key, "documents-2024", { user: "defaults", timestamp: "2024-01-15T10:30:00Z" });
    expect(record).toEqual({
      user: "defaults",
      collection: "documents-2024",
      name: "documents-2024",
      description: "",
      tags: [],
      created_at: expect.stringMatching(isoUtc) as string,
      updated_at: expect.stringMatching(isoUtc) as string,
    });
    expect(await collections(key)).toEqual([record]);
  });

  it("R-TG-03 R-TG-04 R-TG-13 R-TG-14 R-TG-21 changes only the named fields; tags are a set; null, [] and empty texts clear", async () => {
    const key = await fresh("changes");
    const made = await update(key, "a.b", {
      name: "Papers",
      description: "From 1905 on",
      tags: ["physics", "old", "physics"],
    });
    expect(made).toMatchObject({ name: "Papers", description: "From 1905 on", tags: ["physics", "old"] });
    const renamed = await update(key, "a.b", { name: "Old papers" });
    expect(renamed).toMatchObject({
      name: "Old papers",
      description: "From 1905 on",
      tags: ["physics", "old"],
      created_at: made["created_at"],
    });
    expect((renamed["updated_at"] as string) > (made["updated_at"] as string)).toBe(true);
    expect(await update(key, "a.b", { description: "" })).toMatchObject({
      name: "Old papers",
      description: "",
      tags: ["physics", "old"],
    });
    expect(await update(key, "a.b", { tags: [] })).toMatchObject({ name: "Old papers", tags: [] });
    expect(await update(key, "a.b", { tags: ["x"], description: "again" })).toMatchObject({ tags: ["x"] });
    const cleared = await update(key, "a.b", { name: "", description: null, tags: null });
    expect(cleared).toMatchObject({ name: "a.b", description: "", tags: [], created_at: made["created_at"] });
    expect(await update(key, "a.b")).toEqual(cleared);
  });

  it("R-TG-03 R-TG-10 a default name can be written back, whatever the id; another name must be valid", async () => {
    const key = await fresh("writer-back");
    for (const id of ["v1.2", "x".repeat(128)]) {
      const made = await update(key, id);
      expect(await update(key, id, { name: made["name"], description: "same" })).toMatchObject({
        name: id,
        description: "same",
      });
      expect(await update(key, id, { name: "Other" })).toMatchObject({ name: "Other" });
      expect(await update(key, id, { name: id })).toMatchObject({ name: id });
    }
    expect(await update(key, "v1.3", { name: "v1.3" })).toMatchObject({ name: "v1.3" });
    for (const name of ["v1.4", "x".repeat(101)]) {
      const refused = await send(key, { operation: "update-collection", collection: "v1.2", name });
      expect([refused.status, refused.json["error"]], name).toMatchObject([400, { type: "invalid_request" }]);
    }
  });

  it("R-TG-11 an id that differs in case is another collection, with its own name; a taken name stays a conflict, without internals", async () => {
    const key = await fresh("letters");
    expect(await update(key, "Case")).toMatchObject({ collection: "Case", name: "Case" });
    const made = await update(key, "case", { description: "the second", tags: ["t"] });
    expect(made).toMatchObject({
      collection: "case",
      name: expect.stringMatching(/^case [0-9a-f]{8}$/),
      description: "the second",
      tags: ["t"],
    });
    expect(await collections(key, { tag_filter: ["t"] })).toEqual([made]);
    // A record can be written back, and a name can be set and removed.
    expect(await update(key, "case", { name: made["name"] })).toMatchObject({ name: made["name"] });
    expect(await update(key, "case", { name: "Mine" })).toMatchObject({ name: "Mine" });
    expect(await update(key, "case", { name: "" })).toMatchObject({ name: made["name"] });
    for (const [collection, name] of [
      ["case", "CASE"],
      ["third", "case"],
    ]) {
      const reply = await send(key, { operation: "update-collection", collection, name });
      expect(reply.status).toBe(409);
      const { type, message } = reply.json["error"] as Json;
      expect({ type, message }).toEqual({
        type: "conflict",
        message: `A collection named "${name}" already exists in the user's personal repository (names are case-insensitive). Use another name, or rename the existing one.`,
      });
    }
    expect(await collections(key)).toHaveLength(2);
  });

  it("R-TG-18 R-TG-20 a hundred concurrent updates create one record; an explicit create of an existing id is a conflict", async () => {
    const key = await fresh("crowd");
    const records = await Promise.all(
      Array.from({ length: 100 }, (_, i) => update(key, "notes", i % 2 === 0 ? {} : { description: "ours" })),
    );
    expect(new Set(records.map(({ created_at }) => created_at)).size).toBe(1);
    expect(await collections(key)).toHaveLength(1);
    const again = await server.call("POST", "/v1/repositories/me/collections", {
      key,
      body: { collection_id: "notes" },
    });
    expect(again.status).toBe(409);
  });

  it("keeps the part of the metadata that TrustGraph does not know", async () => {
    const key = await fresh("halves");
    const body = { collection_id: "kept", metadata: { tags: ["a"], custom_fields: { partition: 3 } } };
    await server.call("POST", "/v1/repositories/me/collections", { key, body });
    await update(key, "kept", { tags: ["b"] });
    const { json } = await server.call("GET", "/v1/repositories/me/collections/kept", { key });
    expect(json["metadata"]).toEqual({ tags: ["b"], custom_fields: { partition: 3 } });
  });
});

describe("list-collections", () => {
  it("R-TG-01 R-TG-25 lists all of the caller's; with a filter those with any, or all, of the tags; an unknown tag finds none", async () => {
    const key = await fresh("lister");
    await update(key, "one", { tags: ["a", "b"] });
    await update(key, "two", { tags: ["b"] });
    await update(key, "three");
    const ids = async (more: object) => (await collections(key, more)).map(({ collection }) => collection).toSorted();
    expect(await ids({})).toEqual(["one", "three", "two"]);
    expect(await ids({ tag_filter: [] })).toEqual(["one", "three", "two"]);
    expect(await ids({ tag_filter: ["b"] })).toEqual(["one", "two"]);
    expect(await ids({ tag_filter: ["a", "zzz"] })).toEqual(["one"]);
    expect(await ids({ tag_filter: ["a", "b"], tag_match: "all" })).toEqual(["one"]);
    expect(await ids({ tag_filter: ["a", "zzz"], tag_match: "all" })).toEqual([]);
    expect(await ids({ tag_filter: ["no such/tag:"] })).toEqual([]);
  });

  it("R-TG-104 pages with a limit and a cursor, and another user's cursor is refused", async () => {
    const key = await fresh("pager");
    for (let i = 0; i < 7; i += 1) await update(key, `c${i}`, { tags: ["t"] });
    for (const filter of [{}, { tag_filter: ["t"] }]) {
      const seen: unknown[] = [];
      let cursor: unknown;
      let pages = 0;
      do {
        const { json } = await send(key, { operation: "list-collections", limit: 3, cursor, ...filter });
        seen.push(...(json["collections"] as Json[]).map(({ collection }) => collection));
        if (pages === 0) {
          const stolen = await send(await fresh("thief"), {
            operation: "list-collections",
            limit: 3,
            cursor: json["next_cursor"],
            ...filter,
          });
          expect(stolen.status, stolen.text).toBe(400);
          expect(stolen.json["collections"]).toEqual([]);
        }
        cursor = json["next_cursor"] ?? undefined;
        pages += 1;
      } while (cursor !== undefined);
      expect(pages).toBe(3);
      expect(seen.toSorted()).toEqual(["c0", "c1", "c2", "c3", "c4", "c5", "c6"]);
    }
    for (const limit of [librarianListMax, 0])
      expect((await send(key, { operation: "list-collections", limit })).status).toBe(200);
    for (const limit of [librarianListMax + 1, -1, 1.5])
      expect((await send(key, { operation: "list-collections", limit })).status).toBe(400);
  });

  it("creates nothing, not even a missing personal repository", async () => {
    const key = await fresh("looker");
    expect(await collections(key)).toEqual([]);
    expect(await collections(key, { tag_filter: ["a"] })).toEqual([]);
    expect((await send(key, { operation: "delete-collection", collection: "a", confirm: "a" })).status).toBe(404);
    expect((await server.call("GET", "/v1/repositories", { key })).json["items"]).toEqual([]);
  });

  it("shows archived ones, but not those in the trash", async () => {
    const key = await fresh("keeper");
    await update(key, "shelved");
    await update(key, "gone");
    await server.call("POST", "/v1/repositories/me/collections/shelved:archive", { key });
    await send(key, { operation: "delete-collection", collection: "gone", confirm: "gone" });
    expect((await collections(key)).map(({ collection }) => collection)).toEqual(["shelved"]);
  });
});

describe("archive-collection", () => {
  it("R-TG-63 makes one of the caller's read-only; it stays in the list, and a missing one is not_found", async () => {
    const key = await fresh("archivist");
    await update(key, "papers", { tags: ["old"] });
    const reply = await send(key, { operation: "archive-collection", collection: "papers" });
    expect([reply.status, reply.json], reply.text).toMatchObject([
      200,
      { error: null, collections: [{ collection: "papers", tags: ["old"] }] },
    ]);
    const path = "/v1/repositories/me/collections/papers";
    expect((await server.call("GET", path, { key })).json).toMatchObject({ status: "ARCHIVED" });
    expect(await collections(key)).toMatchObject([{ collection: "papers" }]);
    const changed = await send(key, { operation: "update-collection", collection: "papers", description: "x" });
    expect([changed.status, changed.json["error"]]).toMatchObject([409, { type: "conflict" }]);
    expect((await server.call("POST", `${path}:unarchive`, { key })).status).toBe(200);
    expect(await update(key, "papers", { description: "x" })).toMatchObject({ description: "x" });
    for (const [collection, status, type] of [
      ["never", 404, "not_found"],
      ["", 400, "invalid_request"],
    ] as const) {
      const refused = await send(key, { operation: "archive-collection", collection });
      expect([refused.status, refused.json["error"]]).toMatchObject([status, { type }]);
    }
    const stray = await send(key, { operation: "archive-collection", collection: "papers", purge: true });
    expect([stray.status, stray.text]).toEqual([
      400,
      expect.stringContaining("purge: is not allowed for archive-collection"),
    ]);
  });
});

describe("delete-collection", () => {
  it("R-TG-27 needs the id as confirmation: without it 400, and nothing has changed", async () => {
    const key = await fresh("careful");
    const made = await update(key, "papers");
    for (const confirm of [undefined, "", "paper", "PAPERS", true, null]) {
      const reply = await send(key, { operation: "delete-collection", collection: "papers", confirm });
      expect([reply.status, (reply.json["error"] as Json)["type"]]).toEqual([400, "invalid_request"]);
      expect(await collections(key)).toEqual([made]);
    }
  });

  it("R-TG-02 R-TG-35 it is then absent from list and get; a missing one is not_found", async () => {
    const key = await fresh("deleter");
    await update(key, "papers");
    const reply = await send(key, { operation: "delete-collection", collection: "papers", confirm: "papers" });
    expect(reply.json).toMatchObject({ error: null, collections: [] });
    expect((await server.call("GET", `/v1/jobs/${reply.json["job_id"] as string}`, { key })).json).toMatchObject({
      status: "succeeded",
      kind: "delete",
    });
    expect(await collections(key)).toEqual([]);
    expect((await server.call("GET", "/v1/repositories/me/collections/papers", { key })).status).toBe(404);
    for (const collection of ["papers", "never"]) {
      const again = await send(key, { operation: "delete-collection", collection, confirm: collection });
      expect([again.status, (again.json["error"] as Json)["type"]]).toEqual([404, "not_found"]);
    }
    // The same id again is another collection.
    expect(await update(key, "papers")).toMatchObject({ name: "papers", tags: [] });
  });
});

describe("requests", () => {
  it("R-TG-33 an unknown operation is invalid_operation, and the connection stays usable", async () => {
    const key = await fresh("asker");
    for (const operation of ["shred-collection", "collection-use", "", "List-Collections", "__proto__"]) {
      const reply = await send(key, { operation, collection: "x" });
      expect([reply.status, (reply.json["error"] as Json)["type"]]).toEqual([400, "invalid_operation"]);
      expect((reply.json["error"] as Json)["message"]).toContain(
        "list-collections, create-collection, update-collection, archive-collection, delete-collection, migrate-collection",
      );
      expect(await collections(key)).toEqual([]);
    }
  });

  it("R-TG-34 an unknown field, or one of another operation, is refused by name; TrustGraph's are accepted with every operation", async () => {
    const key = await fresh("strict");
    await update(key, "a");
    const message = async (body: object) => {
      const reply = await send(key, body);
      expect([reply.status, (reply.json["error"] as Json)["type"]], reply.text).toEqual([400, "invalid_request"]);
      return (reply.json["error"] as Json)["message"];
    };
    expect(await message({ operation: "migrate-collection", collection: "a", target: "b" })).toBe(
      "target: is unknown; remove it or correct its name.",
    );
    expect(await message({ operation: "update-collection", collection: "a", tagz: [], titel: "x" })).toMatch(
      /^tagz: is unknown.*titel: is unknown/,
    );
    expect(await message({ operation: "list-collections", repository: "kb" })).toBe(
      "repository: is not allowed for list-collections. Omit it.",
    );
    expect(
      await message({ operation: "delete-collection", collection: "a", confirm: "a", target_collection: "b" }),
    ).toContain("target_collection: is not allowed for");
    expect(await message({ operation: "update-collection", collection: "a", confirm: "a", purge: true })).toContain(
      "purge: is not allowed for update-collection",
    );
    const whole = {
      user: "strict",
      timestamp: "",
      name: "",
      description: "",
      tags: [],
      created_at: "",
      updated_at: "",
      tag_filter: [],
      limit: 0,
    };
    for (const operation of ["list-collections", "update-collection"])
      expect((await send(key, { ...whole, operation, collection: "a" })).status).toBe(200);
    // Null counts as absent for every field.
    expect((await send(key, { operation: "list-collections", confirm: null, repository: null })).status).toBe(200);
    expect(await collections(key)).toMatchObject([{ collection: "a" }]);
  });

  it("the OpenAPI document names every field of a request", async () => {
    const { json } = await server.call("GET", "/v1/openapi.json", {});
    const paths = json["paths"] as Record<
      string,
      { post: { requestBody: { content: Record<string, { schema: Json }> } } }
    >;
    const schema = paths[at]?.post.requestBody.content["application/json"]?.schema;
    expect(schema).toMatchObject({ type: "object", required: ["operation"], additionalProperties: false });
    expect(Object.keys(schema?.["properties"] as Json)).toEqual(
      expect.arrayContaining(["operation", "collection", "repository", "target_repository", "confirm"]),
    );
  });

  it("R-TG-34 errors have the form { type, message }; times are ISO 8601 in UTC", async () => {
    const key = await fresh("wrong");
    const wrong = [
      {},
      { operation: 3 },
      [],
      { operation: "update-collection" },
      { operation: "update-collection", collection: "../etc" },
      { operation: "update-collection", collection: "a", tags: "x" },
      { operation: "update-collection", collection: "a", tags: ["<b>"] },
      { operation: "update-collection", collection: "a", name: "no/slash" },
      { operation: "list-collections", timestamp: "yesterday" },
      { operation: "list-collections", tag_match: "some" },
    ];
    for (const body of wrong) {
      const reply = await send(key, body);
      expect(reply.status, reply.text).toBe(400);
      expect(reply.json).toEqual({
        error: { type: "invalid_request", message: expect.stringMatching(/.{5,}/) as string },
        collections: [],
        timestamp: expect.stringMatching(isoUtc) as string,
      });
    }
    expect(await collections(key)).toEqual([]);
  });

  it("R-TG-34 early errors have the same form: no JSON, another type, too long, no credentials", async () => {
    const key = await fresh("early");
    const list = { operation: "list-collections" };
    const json = { "content-type": "application/json" };
    const early: readonly [number, string, RegExp, Promise<Reply>][] = [
      [
        400,
        "invalid_request",
        /not valid JSON at line 1/,
        server.call("POST", at, { key, body: '{"operation":', headers: json }),
      ],
      [400, "invalid_request", /x: is unknown/, server.call("POST", `${at}?x=1`, { key, body: list })],
      [
        415,
        "invalid_request",
        /text\/plain; send application\/json/,
        server.call("POST", at, { key, body: "x", headers: { "content-type": "text/plain" } }),
      ],
      [
        413,
        "limit_exceeded",
        /larger than 1048576 bytes/,
        server.call("POST", at, { key, body: `"${"x".repeat(1_048_576)}"`, headers: json }),
      ],
      [401, "unauthenticated", /./, server.call("POST", at, { body: list })],
      [401, "unauthenticated", /./, server.call("POST", at, { key: "pk_nobody", body: list })],
    ];
    for (const [status, type, message, sent] of early) {
      const reply = await sent;
      expect([reply.status, reply.headers.get("content-type")], reply.text).toEqual([status, "application/json"]);
      const error = { type, message: expect.stringMatching(message) as string };
      expect(reply.json).toEqual({ error, collections: [], timestamp: expect.stringMatching(isoUtc) as string });
      expect(reply.headers.has("www-authenticate")).toBe(status === 401);
    }
  });

  it("R-TG-22 a stale version is refused by the API that has versions, and nothing changes", async () => {
    const key = await fresh("stale");
    await update(key, "papers");
    const path = "/v1/repositories/me/collections/papers";
    const { json } = await server.call("GET", path, { key });
    const made = await update(key, "papers", { description: "newer" });
    const reply = await server.call("PATCH", path, {
      key,
      body: { description: "older" },
      headers: { "if-match": `"${json["etag"] as string}"` },
    });
    expect(reply.status).toBe(412);
    expect(await collections(key)).toEqual([made]);
  });
});

describe("ownership", () => {
  it("R-TG-08 R-TG-09 the same id under two users is two collections, and neither learns of the other", async () => {
    const [ann, ben, cy] = [await fresh("ann"), await fresh("ben"), await fresh("cy")];
    const anns = await update(ann, "papers", { description: "Ann's" });
    const bens = await update(ben, "papers", { description: "Ben's" });
    expect(await collections(ann)).toEqual([anns]);
    await send(ben, { operation: "delete-collection", collection: "papers", confirm: "papers" });
    expect(await collections(ann)).toEqual([anns]);
    expect(bens["description"]).toBe("Ben's");
    // For a foreign and for a missing collection the answers are the same.
    const secret = (await server.call("GET", "/v1/repositories/me", { key: ann })).json["repository_id"] as string;
    const nobodys = `personal-${"0".repeat(32)}`;
    const of = (rid: string): readonly [string, string, unknown?][] => [
      ["GET", `/v1/repositories/${rid}/collections/papers`],
      ["PATCH", `/v1/repositories/${rid}/collections/papers`, { description: "x" }],
      ["DELETE", `/v1/repositories/${rid}/collections/papers?confirm=papers`],
      ["POST", `/v1/repositories/${rid}/collections/papers/search`, { query: "x" }],
      ["POST", `/v1/repositories/${rid}/collections/papers/documents`, { name: "a.txt", text: "x" }],
      ["POST", `/v1/repositories/${rid}/collections/papers/vectors:upsert`, { items: [{ id: "a", vector: [1] }] }],
      ["POST", `/v1/repositories/${rid}/collections/papers/triples`, [{ s: "a:s", p: "a:p", o: "a:o" }]],
    ];
    for (const [i, [method, path, body]] of of(secret).entries()) {
      const [, never] = of(nobodys)[i] as [string, string, unknown?];
      const [theirs, none] = [
        await server.call(method, path, { key: cy, body }),
        await server.call(method, never, { key: cy, body }),
      ];
      expect([theirs.status, none.status], path).toEqual([404, 404]);
      expect(theirs.json["detail"], path).toBe((none.json["detail"] as string).replaceAll(nobodys, secret));
    }
  });

  it("R-TG-101 the user is the credential's: another one in the body is 403, and changes nothing", async () => {
    const [ann, root] = [await fresh("ann101"), await server.key("w1", "boss101", { role: "admin" })];
    await update(ann, "papers");
    for (const key of [await fresh("mallory"), root, await server.key("w2", "ann101x")]) {
      for (const operation of ["list-collections", "update-collection", "delete-collection", "nonsense"]) {
        const reply = await send(key, {
          operation,
          user: "ann101",
          collection: "papers",
          confirm: "papers",
          description: "mine now",
        });
        expect([reply.status, (reply.json["error"] as Json)["type"]], reply.text).toEqual([403, "forbidden"]);
      }
    }
    expect(await collections(ann, { user: "ann101" })).toMatchObject([{ collection: "papers", description: "" }]);
  });
});
