/** Collections as TrustGraph's clients and tools of both versions manage them. */
import { describe, expect, it } from "vitest";
import { openTestServer, type Json } from "../http/support/server.ts";
import { ApplicationException, newClient, oldClient, pythonApi } from "./support/python-api.ts";
import { forAllTests } from "../support/for-tests.ts";

const server = forAllTests(() => openTestServer());

const made = (user: string, more: object = {}) => server.key("w1", user, more);
const old = async (user: string, key?: string) =>
  oldClient(pythonApi(server, { password: key ?? (await made(user)) }), user);

describe("the client of 1.4", () => {
  it("R-TG-01 R-TG-03 R-TG-04 R-TG-111 lists, updates and deletes; every answer has a time, a list and no error", async () => {
    const key = await made("trustgraph");
    const api = pythonApi(server, { password: key });
    const client = oldClient(api, "trustgraph");
    expect(await client.listCollections()).toEqual([]);
    const first = await client.updateCollection("papers", { name: "Papers", description: "All", tags: ["a", "b"] });
    expect(first).toMatchObject({ user: "trustgraph", collection: "papers", name: "Papers", tags: ["a", "b"] });
    const second = await client.updateCollection("papers", { description: "Some" });
    expect(second).toMatchObject({
      name: "Papers",
      description: "Some",
      tags: ["a", "b"],
      created_at: first["created_at"],
    });
    await client.updateCollection("notes", { tags: ["b"] });
    expect((await client.listCollections(["a"])).map(({ collection }) => collection)).toEqual(["papers"]);
    expect(await client.listCollections()).toHaveLength(2);
    await client.deleteCollection("papers");
    expect((await client.listCollections()).map(({ collection }) => collection)).toEqual(["notes"]);
    for (const collection of ["papers", "never"]) {
      const answer = await api.request("collection-management", {
        operation: "delete-collection",
        user: "trustgraph",
        collection,
      });
      expect(answer).toMatchObject({ timestamp: expect.stringMatching(/Z$/) as string, collections: [] });
    }
    const listed = await api.request("collection-management", { operation: "list-collections", user: "trustgraph" });
    expect(Object.keys(listed).toSorted()).toEqual(["collections", "success", "timestamp"]);
  });

  it("takes the key as the password of the address, in front of the path, or as Bearer; without one it is 401 with a text", async () => {
    const key = await made("paths");
    for (const how of [{ password: key }, { path: `/${key}` }, { token: key }])
      expect(await oldClient(pythonApi(server, how), "paths").listCollections()).toEqual([]);
    for (const how of [{}, { password: "pk_wrong" }, { path: `/pk_${"0".repeat(20)}_${"x".repeat(43)}` }])
      await expect(oldClient(pythonApi(server, how), "paths").listCollections()).rejects.toThrow(/401: \{"error":"/);
    // Basic is for this facade alone.
    const authorization = `Basic ${Buffer.from(`x:${key}`).toString("base64")}`;
    expect((await server.call("GET", "/v1/me", { headers: { authorization } })).status).toBe(401);
    expect((await server.call("GET", `/${key}/v1/me`)).status).toBe(404);
  });

  it("R-TG-33 an unknown operation is an error of the client's form, with status 200, and 400 for newer clients", async () => {
    const key = await made("odd");
    const api = pythonApi(server, { token: key });
    for (const kind of ["collection-management", "librarian", "knowledge", "flow"]) {
      for (const operation of ["explode", undefined, 7])
        await expect(api.request(kind, { operation, user: "odd" })).rejects.toThrow(ApplicationException);
      const newer = await server.call("POST", `/api/v1/${kind}`, {
        key,
        body: { operation: "explode", workspace: "default" },
      });
      expect([newer.status, newer.json["error"]]).toMatchObject([400, { type: "request-error" }]);
    }
    await expect(api.request("flow/missing/service/triples", { user: "odd" })).rejects.toThrow(/^gateway-error: /);
    for (const kind of ["config", "flow/default/service/agent"])
      await expect(api.request(kind, { user: "odd" })).rejects.toThrow(/404: \{"error":\{"type":"/);
    expect(await oldClient(api, "odd").listCollections()).toEqual([]);
  });
});

describe("the client of 2.8", () => {
  it("updates reset what is not named, and create; workspaces are the caller's own or 404", async () => {
    const key = await made("newer");
    const client = newClient(pythonApi(server, { token: key }));
    const update = async (body: Json) =>
      ((await client.collections({ operation: "update-collection", ...body }))["collections"] as Json[])[0];
    await update({ collection: "docs", name: "Docs", description: "All", tags: ["x"] });
    expect(await update({ collection: "docs", description: "Some" })).toMatchObject({
      name: "docs",
      description: "Some",
      tags: [],
    });
    const listed = await client.collections({ operation: "list-collections", limit: 0 });
    expect(Object.keys(listed).toSorted()).toEqual(["collections", "timestamp"]);
    expect(
      await newClient(pythonApi(server, { token: key }), "w1").collections({ operation: "list-collections" }),
    ).toMatchObject({
      collections: [{ collection: "docs" }],
    });
    for (const workspace of ["w2", "newer2"]) {
      const reply = await server.call("POST", "/api/v1/collection-management", {
        key,
        body: { operation: "update-collection", collection: "x", workspace },
      });
      expect([reply.status, typeof reply.json["error"]]).toEqual([404, "string"]);
    }
    expect(await client.collections({ operation: "delete-collection", collection: "docs" })).toMatchObject({
      collections: [],
    });
  });
});

describe("act_as", () => {
  it("R-TG-101 one key acts for the users it names and no others, without the key's role; nothing is written for others", async () => {
    const key = await made("gateway", { role: "admin", act_as: ["ann", "bob"] });
    const api = pythonApi(server, { token: key });
    const [ann, bob, own] = [oldClient(api, "ann"), oldClient(api, "bob"), oldClient(api, "gateway")];
    await ann.updateCollection("same", { description: "Ann's" });
    await bob.updateCollection("same", { description: "Bob's" });
    expect(await own.listCollections()).toEqual([]);
    expect(await ann.listCollections()).toMatchObject([{ user: "ann", description: "Ann's" }]);
    // The very user, not a copy.
    expect(await (await old("bob")).listCollections()).toMatchObject([{ user: "bob", description: "Bob's" }]);
    expect(await newClient(api, "ann").collections({ operation: "list-collections" })).toMatchObject({
      collections: [{ description: "Ann's" }],
    });
    const eve = oldClient(api, "eve");
    await expect(eve.updateCollection("stolen")).rejects.toThrow(
      /^request-error: user: this credential may not act for "eve"/,
    );
    await expect(eve.addDocument("d", "x")).rejects.toThrow(ApplicationException);
    // Two users in one request.
    await expect(
      api.request("librarian", {
        operation: "add-document",
        user: "ann",
        "document-metadata": { id: "d", user: "bob" },
        content: "eA==",
      }),
    ).rejects.toThrow(/several users/);
    expect(await (await old("eve")).listCollections()).toEqual([]);
    expect(await (await old("eve")).getDocuments()).toEqual([]);
    expect(await ann.getDocuments()).toEqual([]);
    // Another workspace has users of its own.
    const elsewhere = oldClient(
      pythonApi(server, { token: await server.key("w2", "gateway", { act_as: ["ann"] }) }),
      "ann",
    );
    expect(await elsewhere.listCollections()).toEqual([]);
  });

  it("is declared when the key is made, shown with it, and limited", async () => {
    const boss = await made("boss", { role: "admin" });
    const make = (act_as: unknown, key = boss) =>
      server.call("POST", "/v1/keys", { key, body: { user_id: "g", act_as } });
    const reply = await make(["ann", "bob", "ann"]);
    expect([reply.status, reply.json["act_as"]]).toEqual([201, ["ann", "bob"]]);
    const made2 = reply.json["key"] as string;
    expect((await server.call("GET", "/v1/me", { key: made2 })).json["act_as"]).toEqual(["ann", "bob"]);
    expect((await make(Array.from({ length: 100 }, (_, i) => `u${i}`))).status).toBe(201);
    for (const wrong of [Array.from({ length: 101 }, (_, i) => `u${i}`), [""], ["a\u0000"], "ann", [7]])
      expect((await make(wrong)).status, JSON.stringify(wrong)).toBe(400);
    expect((await make(["ann"], await made("plain"))).status).toBe(403);
  });

  it("is in the log, whoever is acted for", async () => {
    const lines: string[] = [];
    const { createLogger } = await import("../../src/http/framework/index.ts");
    const logged = await openTestServer(
      "memory",
      {},
      { log: createLogger({ destination: { write: (line) => void lines.push(line) } }) },
    );
    await using _ = logged;
    const key = await logged.key("w1", "gateway", { act_as: ["ann"] });
    await oldClient(pythonApi(logged, { path: `/${key}` }), "ann").updateCollection("x");
    await oldClient(pythonApi(logged, { token: key }), "gateway").listCollections();
    const seen = lines
      .map((line) => JSON.parse(line) as Json)
      .filter(({ route }) => route === "/api/v1/collection-management");
    expect(seen).toMatchObject([{ user: "gateway", acting_as: "ann", status: 200 }, { user: "gateway" }]);
    expect(seen[1]).not.toHaveProperty("acting_as");
    expect(lines.join("")).not.toContain(key);
  });
});

describe("bad input", () => {
  it("keys that may only read change nothing, and wrong bodies are errors of the client's form", async () => {
    await (await old("reader")).updateCollection("kept");
    const key = await made("reader", { scopes: ["read"] });
    const reader = oldClient(pythonApi(server, { token: key }), "reader");
    expect(await reader.listCollections()).toHaveLength(1);
    for (const refused of [
      () => reader.updateCollection("new"),
      () => reader.deleteCollection("kept"),
      () => reader.addDocument("d", "x"),
    ])
      await expect(refused()).rejects.toThrow(ApplicationException);
    expect(await reader.listCollections()).toHaveLength(1);
    const writer = await old("reader");
    for (const body of [
      { collection: "" },
      { collection: "../x" },
      { collection: "x", name: 7 },
      { collection: "x", tags: "a" },
    ])
      await expect(writer.updateCollection("", body as Json)).rejects.toThrow(ApplicationException);
    for (const body of ["{", "[]", '"x"', "null"]) {
      const reply = await server.call("POST", "/api/v1/librarian", {
        key,
        body,
        headers: { "content-type": "application/json" },
      });
      expect([reply.status, reply.json["error"]], body).toMatchObject([400, { type: "request-error" }]);
    }
    await expect(writer.listCollections(7 as never)).resolves.toHaveLength(1);
    expect(await writer.listCollections()).toHaveLength(1);
  });
});
