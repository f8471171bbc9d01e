/** Conditions and repetitions: etags both ways, idempotency keys, and pages. */
import { beforeAll, describe, expect, it } from "vitest";
import { newSite, openTestServer, sendAndSettle, type Json, type Site } from "./support/server.ts";
import { forAllTests } from "../support/for-tests.ts";

let key: string;
let site: Site;

const server = forAllTests(() => openTestServer());
beforeAll(async () => {
  key = await server.key("w1", "ann", { role: "admin" });
  site = await newSite(server, key);
});

const get = (path: string, headers: Record<string, string> = {}) => server.call("GET", path, { key, headers });
const etagOf = async (path: string) => (await get(path)).headers.get("etag") as string;

describe("etags", () => {
  it("a change with the etag that was read succeeds; with an old one it is 412, tells the current one, and changes nothing", async () => {
    const old = await etagOf(site.at);
    expect(old).toMatch(/^"[^"]+"$/);
    const first = await server.call("PATCH", site.at, {
      key,
      body: { description: "first" },
      headers: { "if-match": old },
    });
    expect(first.status).toBe(200);
    expect(first.headers.get("etag")).toBe(`"${first.json["etag"] as string}"`);
    const late = await server.call("PATCH", site.at, {
      key,
      body: { description: "late" },
      headers: { "if-match": old },
    });
    expect(late.status, late.text).toBe(412);
    expect(late.json).toMatchObject({ code: "PRECONDITION_FAILED", current_etag: expect.any(String) as string });
    expect((await get(site.at)).json["description"]).toBe("first");
    const current = late.headers.get("etag") as string;
    expect(current).toBe(`"${late.json["current_etag"] as string}"`);
    const again = await server.call("PATCH", site.at, {
      key,
      body: { description: "again" },
      headers: { "if-match": current },
    });
    expect(again.status, again.text).toBe(200);
  });

  it("the same for a repository, for archiving and for deleting a document", async () => {
    const at = `/v1/repositories/${site.repository}`;
    const stale = { "if-match": '"never"' };
    expect((await server.call("PATCH", at, { key, body: { description: "x" }, headers: stale })).status).toBe(412);
    expect((await server.call("POST", `${site.at}:archive`, { key, headers: stale })).status).toBe(412);
    const document = await sendAndSettle(site, "etag.txt", "words");
    const one = `${site.at}/documents/${document["document_id"] as string}`;
    expect((await server.call("DELETE", one, { key, headers: stale })).status).toBe(412);
    expect((await server.call("DELETE", one, { key, headers: { "if-match": await etagOf(one) } })).status).toBe(204);
    expect((await get(one)).status).toBe(404);
    expect(
      (await server.call("PATCH", at, { key, body: { description: "x" }, headers: { "if-match": await etagOf(at) } }))
        .status,
    ).toBe(200);
  });

  it("what refuses a change names the caller's resource, not items and batches of ours", async () => {
    const here = await newSite(server, key);
    const { document_id: document } = await sendAndSettle(here, "named.txt", "words");
    await server.call("PUT", "/v1/containers/named", { key, body: { partition_key: "/p" } });
    await server.call("POST", "/v1/containers/named/items", { key, body: { id: "i1", p: "a" } });
    const item = "/v1/containers/named/items/i1?pk=a";
    const stale = { "if-match": '"never"' };
    const absent = { "if-none-match": "*" };
    const attempts: [string, string, object | undefined, Record<string, string>, string][] = [
      ["PATCH", `/v1/repositories/${here.repository}`, { name: "X" }, stale, `Repository "${here.repository}"`],
      [
        "DELETE",
        `/v1/repositories/${here.repository}?confirm=${here.repository}`,
        undefined,
        stale,
        `Repository "${here.repository}"`,
      ],
      ["PATCH", here.at, { name: "X" }, stale, `Collection "${here.collection}"`],
      ["POST", `${here.at}:archive`, undefined, stale, `Collection "${here.collection}"`],
      ["POST", `${here.at}:unarchive`, undefined, stale, `Collection "${here.collection}"`],
      ["DELETE", here.at, undefined, stale, `Collection "${here.collection}"`],
      ["DELETE", `${here.at}/documents/${document as string}`, undefined, stale, `Document "${document as string}"`],
      ["PUT", item, { id: "i1", p: "a" }, stale, 'Item "i1"'],
      ["DELETE", item, undefined, stale, 'Item "i1"'],
      // Create-only is a condition: 412 for items as for containers.
      ["PUT", item, { id: "i1", p: "a" }, absent, '"i1" exists'],
      ["POST", "/v1/containers/named/items", { id: "i1", p: "a" }, absent, '"i1" exists'],
    ];
    for (const [method, path, body, headers, named] of attempts) {
      const refused = await server.call(method, path, { key, headers, ...(body === undefined ? {} : { body }) });
      expect(refused.status, `${method} ${path}`).toBe(412);
      expect(refused.json["detail"], `${method} ${path}`).toContain(named);
      expect(refused.json["detail"]).not.toMatch(
        /Operation \d|of the batch|"(collection|document|repository):|Item "repository"/,
      );
      expect(refused.json, `${method} ${path}`).not.toHaveProperty("batch");
    }
    const { name } = (await get(here.at)).json;
    const taken = await server.call("POST", `/v1/repositories/${here.repository}/collections`, { key, body: { name } });
    expect([taken.status, taken.json["detail"]]).toEqual([
      409,
      expect.stringContaining(`A collection named "${name as string}" already exists`),
    ]);
    expect(taken.json).not.toHaveProperty("batch");
  });

  it("a collection or repository that changed since it was read is not deleted: 412, and it is still there", async () => {
    const here = await newSite(server, key);
    const repository = `/v1/repositories/${here.repository}`;
    for (const path of [
      here.at,
      `${here.at}?purge=true&confirm=${here.collection}`,
      `${repository}?confirm=${here.repository}`,
    ]) {
      const at = path.split("?")[0] as string;
      const old = await etagOf(at);
      await server.call("PATCH", at, { key, body: { description: `before ${path}` } });
      const late = await server.call("DELETE", path, { key, headers: { "if-match": old } });
      expect([late.status, late.json["code"]], path).toEqual([412, "PRECONDITION_FAILED"]);
      expect((await get(at)).status, path).toBe(200);
    }
    expect((await server.call("DELETE", here.at, { key, headers: { "if-match": await etagOf(here.at) } })).status).toBe(
      202,
    );
    expect((await get(here.at)).status).toBe(404);
    const gone = await server.call("DELETE", `${repository}?confirm=${here.repository}`, {
      key,
      headers: { "if-match": await etagOf(repository) },
    });
    expect(gone.status).toBe(202);
  });

  it("what is unchanged is 304 without a body; once a counter, the record or the repository changed it is sent again", async () => {
    const here = await newSite(server, key);
    const known = await etagOf(here.at);
    const same = await get(here.at, { "if-none-match": known });
    expect(same.status).toBe(304);
    expect(same.text).toBe("");
    expect(same.headers.get("etag")).toBe(known);
    expect((await get(here.at, { "if-none-match": `"other", W/${known}` })).status).toBe(304);
    expect((await get(here.at, { "if-none-match": '"other"' })).status).toBe(200);
    await sendAndSettle(here, "a.txt", "words");
    const counted = await get(here.at, { "if-none-match": known });
    expect(counted.status).toBe(200);
    expect(counted.json["document_count"]).toBe(1);
    const patched = await server.call("PATCH", here.at, { key, body: { description: "new" } });
    expect((await get(here.at, { "if-none-match": counted.headers.get("etag") as string })).status).toBe(200);
    expect((await get(here.at, { "if-none-match": patched.headers.get("etag") as string })).status).toBe(304);
    // Cutting and groups are inherited at every read.
    const chunking_strategy = { type: "FIXED", unit: "char", chunk_size: 333, chunk_overlap: 0 };
    await server.call("PATCH", `/v1/repositories/${here.repository}`, { key, body: { chunking_strategy } });
    const inherited = await get(here.at, { "if-none-match": patched.headers.get("etag") as string });
    expect(inherited.status).toBe(200);
    expect(inherited.json["chunking_strategy"]).toMatchObject({ chunk_size: 333 });
    expect(
      (
        await server.call("PATCH", here.at, {
          key,
          body: { description: "y" },
          headers: { "if-match": patched.headers.get("etag") as string },
        })
      ).status,
    ).toBe(200);
  });

  it("HEAD answers as GET does, without a body", async () => {
    const head = await server.call("HEAD", site.at, { key });
    expect([head.status, head.text, head.headers.get("etag")]).toEqual([200, "", await etagOf(site.at)]);
    expect((await server.call("HEAD", `${site.at}x`, { key })).status).toBe(404);
  });
});

describe("Idempotency-Key", () => {
  const make = (idempotencyKey: string, body: object, who = key) =>
    server.call("POST", `/v1/repositories/${site.repository}/collections`, {
      key: who,
      body,
      headers: { "idempotency-key": idempotencyKey },
    });

  it("a repetition answers what the first one answered, byte for byte, and makes nothing; another body is 422", async () => {
    const first = await make("k1", { name: "Once" });
    const again = await make("k1", { name: "Once" });
    expect([again.status, again.text]).toEqual([201, first.text]);
    expect(again.headers.get("idempotency-replayed")).toBe("true");
    expect(again.headers.get("location")).toBe(first.headers.get("location"));
    expect(again.headers.get("etag")).toBe(first.headers.get("etag"));
    expect((await get(first.headers.get("location") as string)).json["name"]).toBe("Once");
    const other = await make("k1", { name: "Other" });
    expect([other.status, other.json["code"]]).toEqual([422, "CONFLICT"]);
    expect((await make("k2", { name: "Once" })).status).toBe(409);
  });

  it("a key is its user's own: another user's is another key", async () => {
    const ben = await server.key("w1", "ben", { role: "admin" });
    const [anns, bens] = [await make("shared", { name: "Of ann" }), await make("shared", { name: "Of ben" }, ben)];
    expect([anns.status, bens.status]).toEqual([201, 201]);
    expect(bens.headers.get("idempotency-replayed")).toBeNull();
  });

  it("of twenty at the same time one makes it, and all the others answer the same or say that it is under way", async () => {
    const replies = await Promise.all(Array.from({ length: 20 }, () => make("race", { name: "Raced" })));
    const fresh = replies.filter(
      ({ status, headers }) => status === 201 && headers.get("idempotency-replayed") === null,
    );
    expect(fresh).toHaveLength(1);
    for (const { status, text, headers } of replies) {
      if (status === 409) expect(headers.get("retry-after")).toMatch(/^[1-5]$/);
      else expect([status, text]).toEqual([201, fresh[0]?.text]);
    }
    expect((await make("race", { name: "Raced" })).text).toBe(fresh[0]?.text);
  });

  it("a refusal is repeated, too; a key that is none is 400", async () => {
    expect((await make("bad", { name: "bad/name" })).status).toBe(400);
    const again = await make("bad", { name: "bad/name" });
    expect([again.status, again.headers.get("content-type"), again.headers.get("idempotency-replayed")]).toEqual([
      400,
      "application/problem+json",
      "true",
    ]);
    expect((await make("k".repeat(256), { name: "Long" })).status).toBe(400);
    expect((await make("k".repeat(255), { name: "Long" })).status).toBe(201);
  });
});

describe("pages", () => {
  it("walk through all, each once, in order, with filters; the end says so", async () => {
    const { repository } = await newSite(server, key);
    const at = `/v1/repositories/${repository}/collections`;
    for (let i = 0; i < 25; i += 1)
      await server.call("POST", at, {
        key,
        body: { name: `Volume ${String(i).padStart(2, "0")}`, description: i % 2 === 0 ? "even" : "odd" },
      });
    const walk = async (query: string) => {
      const seen: unknown[] = [];
      let cursor: string | null = "";
      for (let pages = 0; cursor !== null && pages < 50; pages += 1) {
        const { json, status, text }: { json: Json; status: number; text: string } = await get(
          `${at}?${query}${cursor === "" ? "" : `&cursor=${encodeURIComponent(cursor)}`}`,
        );
        expect(status, text).toBe(200);
        seen.push(...(json["items"] as Json[]).map(({ name }) => name));
        cursor = json["next_cursor"] as string | null;
      }
      return seen;
    };
    const volumes = Array.from({ length: 25 }, (_, i) => `Volume ${String(i).padStart(2, "0")}`);
    expect(await walk("q=volume&sort=name&limit=7")).toEqual(volumes);
    expect(await walk("q=volume&sort=name&order=desc&limit=1")).toEqual(volumes.toReversed());
    expect(await walk("q=even&sort=name&limit=4")).toEqual(volumes.filter((_, i) => i % 2 === 0));
    expect((await walk("q=volume&limit=3")).toSorted()).toEqual(volumes);
    expect(await walk("q=nothing&limit=5")).toEqual([]);
  });
});
