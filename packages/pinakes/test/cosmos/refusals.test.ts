/** What is refused, in the form of Cosmos DB, with nothing written; and another account's data, which answers as if it did not exist. */
import { beforeAll, describe, expect, it } from "vitest";
import { cosmosWorld, type AccountKey } from "./support/cosmos-world.ts";
import { signed, type SignedAnswer, type SignedCall } from "./support/signed.ts";
import { forAllTests } from "../support/for-tests.ts";

let ann: AccountKey;
let eve: AccountKey;
const world = forAllTests(() => cosmosWorld());
beforeAll(async () => {
  ann = await world.accountKey("w1");
  eve = await world.accountKey("w2");
  const client = world.client(ann);
  const { database } = await client.databases.create({ id: "base" });
  const { container } = await database.containers.create({ id: "things", partitionKey: { paths: ["/pk"] } });
  await container.items.create({ id: "x", pk: "p", secret: "numbat" });
  await container.items.create({ id: "y", pk: "p" });
});

const call = (who: AccountKey, request: SignedCall): Promise<SignedAnswer> =>
  signed(world.url, who.account_key, request);
const docs = "/dbs/base/colls/things/docs";
const inP = { "x-ms-documentdb-partitionkey": '["p"]' };
const query = { "content-type": "application/query+json", "x-ms-documentdb-isquery": "True" };
const everything = async (): Promise<string> => (await call(ann, { path: docs })).text;

async function expectRefused(who: AccountKey, request: SignedCall, status: number, substatus?: number) {
  const before = await everything();
  const answer = await call(who, request);
  expect(answer.status).toBe(status);
  expect(answer.headers.get("x-ms-substatus")).toBe(substatus === undefined ? null : String(substatus));
  expect(answer.headers.get("content-type")).toBe("application/json");
  expect(answer.json.code).toMatch(/^[A-Z]\w+$/);
  expect(answer.json.message).toMatch(/.+\r\nActivityId: [0-9a-f-]{36}$/);
  expect(answer.headers.get("x-ms-activity-id")).not.toBe("");
  expect(await everything()).toBe(before);
  return answer;
}

describe("who signs", () => {
  it("a signature of nobody, of another request, of another type, and none are 401", async () => {
    const nobody = { ...ann, account_key: Buffer.alloc(64, 7).toString("base64") };
    await expectRefused(nobody, { path: docs }, 401);
    await expectRefused(ann, { path: docs, link: "dbs/base/colls/other" }, 401);
    await expectRefused(ann, { path: docs, type: "colls" }, 401);
    for (const authorization of [
      "",
      "type%3Dmaster",
      "%",
      "Bearer x",
      "type%3Daad%26ver%3D1.0%26sig%3Dx",
      "x".repeat(5_000),
    ])
      await expectRefused(ann, { path: docs, headers: { authorization } }, 401);
    await expectRefused({ ...ann, account_key: Buffer.from(ann.key).toString("base64") }, { path: docs }, 401);
  });

  it("a date 15 minutes old is good, and one a second older is 403", async () => {
    const at = (minutes: number, seconds: number) => new Date(Date.now() - minutes * 60_000 - seconds * 1_000);
    expect((await call(ann, { path: docs, date: at(14, 50) })).status).toBe(200);
    expect((await call(ann, { path: docs, date: at(-14, -50) })).status).toBe(200);
    await expectRefused(ann, { path: docs, date: at(15, 2) }, 403);
    await expectRefused(ann, { path: docs, date: at(20, 0) }, 403);
    await expectRefused(ann, { path: docs, date: at(-20, 0) }, 403);
  });

  it("an account key ends with its API key, expires with it, and reads only where that does", async () => {
    const reader = await world.accountKey("w1", { scopes: ["read"] });
    expect((await call(reader, { path: docs })).status).toBe(200);
    const question = { method: "POST", path: docs, headers: query, body: { query: "SELECT * FROM c" } };
    expect((await call(reader, question)).status).toBe(200);
    await expectRefused(reader, { method: "POST", path: docs, headers: inP, body: { id: "z", pk: "p" } }, 403);
    await expectRefused(reader, { method: "DELETE", path: `${docs}/x`, headers: inP }, 403);
    const plain = await world.accountKey("w1", { role: "user" });
    await expectRefused(plain, { method: "DELETE", path: "/dbs/base" }, 403);
    await expectRefused(plain, { method: "DELETE", path: "/dbs/base/colls/things" }, 403);
    const revoked = await world.server.call("DELETE", `/v1/keys/${plain.key_id}`, { key: ann.key });
    expect(revoked.status).toBe(204);
    await expectRefused(plain, { path: docs }, 401);
  });

  it("an address that names a key takes that key alone", async () => {
    const at = (id: string) => signed(`${world.url}/${id}`, ann.account_key, { path: docs });
    expect((await at(ann.key_id)).status).toBe(200);
    expect((await at(eve.key_id)).status).toBe(401);
    expect((await at("0".repeat(20))).status).toBe(401);
    const account = await signed(`${world.url}/${ann.key_id}`, ann.account_key, { path: "" });
    expect(account.json["writableLocations"]).toMatchObject([
      { databaseAccountEndpoint: `${world.url}/${ann.key_id}/` },
    ]);
  });

  it("only an admin makes an account key, and it is shown once", async () => {
    const user = await world.server.key("w1", "somebody");
    const refused = await world.server.call("POST", "/v1/keys", { key: user, body: { user_id: "u", account: true } });
    expect(refused.status).toBe(403);
    const listed = await world.server.call("GET", "/v1/keys", { key: ann.key });
    expect(listed.text).toContain('"account":true');
    expect(listed.text).not.toContain("account_key");
    expect(Buffer.from(ann.account_key, "base64")).toHaveLength(64);
  });
});

describe("what is asked", () => {
  it.each<[string, SignedCall, number, number?]>([
    [
      "a key that contradicts the body",
      { method: "POST", path: docs, headers: { "x-ms-documentdb-partitionkey": '["q"]' }, body: { id: "z", pk: "p" } },
      400,
      1001,
    ],
    [
      "a key with too many values",
      {
        method: "POST",
        path: docs,
        headers: { "x-ms-documentdb-partitionkey": '["p",1]' },
        body: { id: "z", pk: "p" },
      },
      400,
    ],
    ["a key that is no list", { path: `${docs}/x`, headers: { "x-ms-documentdb-partitionkey": '"p"' } }, 400],
    ["no key", { path: `${docs}/x` }, 400],
    ["a body that is no JSON", { method: "POST", path: docs, headers: inP, body: "{" }, 400],
    ["a body that is a list", { method: "POST", path: docs, headers: inP, body: [] }, 400],
    ["no id", { method: "POST", path: docs, headers: inP, body: { pk: "p" } }, 400],
    ["an id with a slash", { method: "POST", path: docs, headers: inP, body: { id: "a/b", pk: "p" } }, 400],
    ["another id", { method: "PUT", path: `${docs}/x`, headers: inP, body: { id: "y", pk: "p" } }, 400],
    [
      "another partition key",
      { method: "PUT", path: `${docs}/x`, headers: inP, body: { id: "x", pk: "q" } },
      400,
      1001,
    ],
    [
      "a body over 2 MiB",
      { method: "POST", path: docs, headers: inP, body: { id: "z", pk: "p", text: "x".repeat(2_097_152) } },
      413,
    ],
    [
      "11 operations of a patch",
      {
        method: "PATCH",
        path: `${docs}/x`,
        headers: inP,
        body: Array.from({ length: 11 }, () => ({ op: "set", path: "/a", value: 1 })),
      },
      400,
    ],
    ["a continuation that is none", { path: docs, headers: { "x-ms-continuation": "junk" } }, 400],
    ["a page of no items", { path: docs, headers: { "x-ms-max-item-count": "0" } }, 400],
    ["a range that is none", { path: docs, headers: { "x-ms-documentdb-partitionkeyrangeid": "9" } }, 410, 1002],
    ["a session from the future", { path: docs, headers: { "x-ms-session-token": "0:1#99999999999999" } }, 404, 1002],
    ["all versions of the feed", { path: docs, headers: { "a-im": "Full-Fidelity Feed" } }, 400],
    ["a token of no feed", { path: docs, headers: { "a-im": "Incremental Feed", "if-none-match": '"junk"' } }, 400],
    [
      "an offer of 399",
      { method: "POST", path: "/dbs", headers: { "x-ms-offer-throughput": "399" }, body: { id: "small" } },
      400,
    ],
    [
      "a time to live of 0",
      { method: "POST", path: "/dbs/base/colls", body: { id: "c", partitionKey: { paths: ["/a"] }, defaultTtl: 0 } },
      400,
    ],
    [
      "a bad path",
      { method: "POST", path: "/dbs/base/colls", body: { id: "c", partitionKey: { paths: ["/a/*"] } } },
      400,
    ],
    [
      "computed properties",
      {
        method: "POST",
        path: "/dbs/base/colls",
        body: {
          id: "c",
          partitionKey: { paths: ["/a"] },
          computedProperties: [{ name: "l", query: "SELECT VALUE 1 FROM c" }],
        },
      },
      400,
    ],
    [
      "a stored procedure",
      { method: "POST", path: "/dbs/base/colls/things/sprocs", body: { id: "p", body: "x" } },
      501,
    ],
    ["a trigger", { method: "POST", path: "/dbs/base/colls/things/triggers", body: { id: "p", body: "x" } }, 501],
    ["a user-defined function", { path: "/dbs/base/colls/things/udfs" }, 501],
    ["users", { path: "/dbs/base/users" }, 501],
    ["permissions", { path: "/dbs/base/users/u/permissions" }, 501],
    ["encryption keys", { path: "/dbs/base/clientencryptionkeys" }, 501],
    [
      "a batch in HybridRow",
      {
        method: "POST",
        path: docs,
        headers: {
          ...inP,
          "x-ms-cosmos-is-batch-request": "True",
          "x-ms-cosmos-batch-atomic": "True",
          "x-ms-cosmos-batch-ordered": "True",
        },
        body: "\u0001\u0002",
      },
      501,
    ],
    [
      "101 operations",
      {
        method: "POST",
        path: docs,
        headers: { ...inP, "x-ms-cosmos-is-batch-request": "True", "x-ms-cosmos-batch-atomic": "True" },
        body: Array.from({ length: 101 }, (_one, i) => ({
          operationType: "Create",
          resourceBody: { id: `z${i}`, pk: "p" },
        })),
      },
      400,
    ],
    ["what is nowhere", { path: "/dbs/base/nothing" }, 404],
    ["a verb that is none", { method: "PATCH", path: "/dbs/base" }, 405],
    ["a container that is none", { path: "/dbs/base/colls/none/docs" }, 404, 1003],
    ["an item that is none", { path: `${docs}/none`, headers: inP }, 404],
  ])("%s", async (_, request, status, substatus) => {
    await expectRefused(ann, request, status, substatus);
  });

  it("SQL that is not served says what is missing, in the form that clients look for", async () => {
    for (const [text, missing] of [
      ["SELECT * FROM c ORDER BY RANK FullTextScore(c.a, 'b')", "RANK"],
      ["SELECT VALUE ST_DISTANCE(c.a, c.b) FROM c", "ST_DISTANCE"],
      ["SELECT udf.f(c) FROM c", "user-defined functions"],
      ["SELEC 1", "expected SELECT"],
    ] as const) {
      const { json } = await expectRefused(
        ann,
        { method: "POST", path: docs, headers: query, body: { query: text } },
        400,
      );
      expect(json.message).toContain(missing);
      expect(json.message).toMatch(/^Message: \{"errors":\[\{"severity":"Error","code":"SC1001"/);
    }
  });

  it("a continuation belongs to its query, its container and its account", async () => {
    const page = { ...query, "x-ms-max-item-count": "1" };
    const first = await call(ann, { method: "POST", path: docs, headers: page, body: { query: "SELECT * FROM c" } });
    const token = first.headers.get("x-ms-continuation") ?? "";
    const headers = { ...page, "x-ms-continuation": token };
    expect((await call(ann, { method: "POST", path: docs, headers, body: { query: "SELECT * FROM c" } })).status).toBe(
      200,
    );
    const other = await expectRefused(
      ann,
      { method: "POST", path: docs, headers, body: { query: "SELECT c.id FROM c" } },
      400,
    );
    expect(other.json.message).toContain("Invalid Continuation Token");
    await world.client(eve).databases.create({ id: "base" });
    await world
      .client(eve)
      .database("base")
      .containers.create({ id: "things", partitionKey: { paths: ["/pk"] } });
    const stolen = await call(eve, { method: "POST", path: docs, headers, body: { query: "SELECT * FROM c" } });
    expect([stolen.status, stolen.json.code]).toEqual([400, "BadRequest"]);
    await world.client(eve).database("base").delete();
  });
});

describe("another account", () => {
  const attempts: Readonly<Record<string, (database: string, coll: string, id: string) => SignedCall>> = {
    "reads a database": (db) => ({ path: `/dbs/${db}` }),
    "deletes a database": (db) => ({ method: "DELETE", path: `/dbs/${db}` }),
    "lists containers": (db) => ({ path: `/dbs/${db}/colls` }),
    "makes a container": (db) => ({
      method: "POST",
      path: `/dbs/${db}/colls`,
      body: { id: "c", partitionKey: { paths: ["/a"] } },
    }),
    "reads a container": (db, c) => ({ path: `/dbs/${db}/colls/${c}` }),
    "replaces a container": (db, c) => ({
      method: "PUT",
      path: `/dbs/${db}/colls/${c}`,
      body: { id: c, partitionKey: { paths: ["/pk"] } },
    }),
    "deletes a container": (db, c) => ({ method: "DELETE", path: `/dbs/${db}/colls/${c}` }),
    "reads ranges": (db, c) => ({ path: `/dbs/${db}/colls/${c}/pkranges` }),
    "reads conflicts": (db, c) => ({ path: `/dbs/${db}/colls/${c}/conflicts` }),
    "deletes a partition": (db, c) => ({
      method: "POST",
      path: `/dbs/${db}/colls/${c}/operations/partitionkeydelete`,
      type: "colls",
      link: `dbs/${db}/colls/${c}`,
      headers: inP,
    }),
    "creates an item": (db, c, id) => ({
      method: "POST",
      path: `/dbs/${db}/colls/${c}/docs`,
      headers: inP,
      body: { id, pk: "p" },
    }),
    "puts an item": (db, c, id) => ({
      method: "POST",
      path: `/dbs/${db}/colls/${c}/docs`,
      headers: { ...inP, "x-ms-documentdb-is-upsert": "True" },
      body: { id, pk: "p" },
    }),
    "reads an item": (db, c, id) => ({ path: `/dbs/${db}/colls/${c}/docs/${id}`, headers: inP }),
    "replaces an item": (db, c, id) => ({
      method: "PUT",
      path: `/dbs/${db}/colls/${c}/docs/${id}`,
      headers: inP,
      body: { id, pk: "p" },
    }),
    "patches an item": (db, c, id) => ({
      method: "PATCH",
      path: `/dbs/${db}/colls/${c}/docs/${id}`,
      headers: inP,
      body: [{ op: "set", path: "/a", value: 1 }],
    }),
    "deletes an item": (db, c, id) => ({ method: "DELETE", path: `/dbs/${db}/colls/${c}/docs/${id}`, headers: inP }),
    "reads the feed": (db, c) => ({ path: `/dbs/${db}/colls/${c}/docs` }),
    "reads the change feed": (db, c) => ({
      path: `/dbs/${db}/colls/${c}/docs`,
      headers: { "a-im": "Incremental Feed" },
    }),
    queries: (db, c) => ({
      method: "POST",
      path: `/dbs/${db}/colls/${c}/docs`,
      headers: query,
      body: { query: "SELECT * FROM c" },
    }),
    plans: (db, c) => ({
      method: "POST",
      path: `/dbs/${db}/colls/${c}/docs`,
      headers: { "content-type": "application/query+json", "x-ms-cosmos-is-query-plan-request": "True" },
      body: { query: "SELECT * FROM c" },
    }),
    "runs a batch": (db, c, id) => ({
      method: "POST",
      path: `/dbs/${db}/colls/${c}/docs`,
      headers: { ...inP, "x-ms-cosmos-is-batch-request": "True", "x-ms-cosmos-batch-atomic": "True" },
      body: [{ operationType: "Read", id }],
    }),
    "runs a bulk request": (db, c, id) => ({
      method: "POST",
      path: `/dbs/${db}/colls/${c}/docs`,
      headers: { "x-ms-cosmos-is-batch-request": "True" },
      body: [{ operationType: "Delete", id, partitionKey: '["p"]' }],
    }),
  };

  const shown = ({ status, headers, text }: SignedAnswer) => {
    const kept = [...headers].filter(([name]) => name.startsWith("x-ms-") && !name.includes("activity")).toSorted();
    return JSON.stringify([status, kept, text.replace(/ActivityId: [0-9a-f-]{36}/, "")]);
  };

  it.each(Object.keys(attempts))("R-AGT-09 %s: the answer is that about what never was", async (name) => {
    const attempt = attempts[name] as (database: string, coll: string, id: string) => SignedCall;
    const before = await everything();
    const real = await call(eve, attempt("base", "things", "x"));
    const never = await call(eve, attempt("nevr", "things", "x"));
    expect(shown(real)).toBe(shown(never).replaceAll("nevr", "base"));
    expect(real.status).toBe(404);
    expect(real.text).not.toContain("numbat");
    expect(await everything()).toBe(before);
  });

  it("R-AGT-09 sees no database, no offer and no resource id of it", async () => {
    for (const path of ["/dbs", "/offers"]) {
      const { json } = await call(eve, { path });
      expect(json["_count"]).toBe(0);
    }
    const offers = (await call(ann, { path: "/offers" })).json["Offers"] as { id: string }[];
    const { id } = offers[0] as { id: string };
    expect((await call(eve, { path: `/offers/${id}`, link: id.toLowerCase() })).status).toBe(404);
    expect((await call(ann, { path: `/offers/${id}`, link: id.toLowerCase() })).status).toBe(200);
  });
});
