/** Leaks: every operation of the OpenAPI document, called by everybody who must not see or change what it is about. */
import { describe, expect, it } from "vitest";
import { howToCall } from "./support/leak-calls.ts";
import { expectBytesOf, Leaks, type Call } from "./support/leak-walk.ts";
import { commons, group, marker } from "./support/leak-world.ts";
import type { Json } from "./support/server.ts";
import { forAllTests } from "../support/for-tests.ts";

const leaks = forAllTests(() => Leaks.open());

describe("the walk", () => {
  it("knows how to call every operation of the document, and no other", () => {
    expect(Object.keys(howToCall).toSorted()).toEqual(leaks.operations.map(({ id }) => id).toSorted());
    expect(leaks.operations.length).toBeGreaterThan(50);
  });

  it("is not blind: who may see the world gets it from these same calls, marker and all", async () => {
    const shown: string[] = [];
    const reads = leaks.calls.filter(
      ({ method, how }) =>
        (method === "GET" || how.changes === false) && how.kind !== "stream" && how.kind !== "public",
    );
    for (const call of reads) {
      const { reply } = await leaks.send(call, leaks.world.targets.groupRepository, leaks.world.ann);
      if (reply.text.includes(marker)) shown.push(call.id);
    }
    const documents = [
      "getDocument",
      "getDocumentContent",
      "getDocumentText",
      "listPassages",
      "listDocuments",
      "search",
      "answer",
      "searchCollection",
      "queryVectors",
    ];
    const graph = ["matchTriples", "matchTriplesAcross", "sparqlQuery", "sparql", "sparqlAcross"];
    const places = [
      "getRepository",
      "getCollection",
      "listRepositories",
      "listCollections",
      "listAllCollections",
      "listJobs",
      "getJob",
      "lisaGetRepository",
      "lisaListRepositories",
      "lisaListCollections",
      "lisaListAllCollections",
      "lisaListDocuments",
      "lisaGetDocument",
      "lisaSimilaritySearch",
      "lisaListJobs",
    ];
    expect(shown).toEqual(expect.arrayContaining([...documents, ...graph, ...places]));
  });
});

describe("another workspace", () => {
  it("R-LISA-72 its users and its admins see nothing of any target: 404 in the bytes of what never was, lists and searches without it", async () => {
    const mallory = await leaks.who("w2", "mallory", { groups: [group] });
    const eve = await leaks.who("w2", "eve", { role: "admin" });
    await leaks.unchanged(async () => {
      for (const target of [...Object.values(leaks.world.targets), ...leaks.world.putAway]) {
        for (const who of [mallory, eve]) expect(await leaks.walk(target, who)).toBeGreaterThan(60);
      }
    });
  });

  it("its admin manages the keys of its own only; another workspace in a body is 403, another's key 404 as if it never was", async () => {
    const { server, world } = leaks;
    const eve = await server.key("w4", "eve", { role: "admin" });
    const { kid } = world.targets.groupRepository;
    await leaks.unchanged(async () => {
      const named = await server.call("POST", "/v1/keys", {
        key: eve,
        body: { user_id: "intruder", workspace_id: "w1", role: "admin" },
      });
      expect(named.status).toBe(403);
      expect((await server.call("GET", "/v1/keys?workspace_id=w1", { key: eve })).status).toBe(403);
      const listed = await server.call("GET", "/v1/keys?limit=100", { key: eve });
      expect((listed.json["items"] as object[]).length).toBe(1);
      leaks.expectNothing(listed, "", "GET /v1/keys");
      const headers = { "x-request-id": "k" };
      const theirs = await server.call("DELETE", `/v1/keys/${kid}`, { key: eve, headers });
      expect(theirs.status).toBe(404);
      expectBytesOf(
        theirs,
        await server.call("DELETE", `/v1/keys/${"0".repeat(20)}`, { key: eve, headers }),
        "DELETE /v1/keys",
      );
    });
  });

  it("its admin sees figures, queues and keys of its own only", async () => {
    const { server, world } = leaks;
    const key = await server.key("w8", "eve", { role: "admin" });
    const asked = leaks.calls.filter(({ how }) => how.kind === "admin");
    expect(asked.length).toBeGreaterThan(5);
    await leaks.unchanged(async () => {
      for (const call of asked) {
        const { reply, sent } = await leaks.send(call, world.targets.groupRepository, key);
        expect([200, 201, 202, 404], `${call.id}: ${reply.text}`).toContain(reply.status);
        leaks.expectNothing(reply, sent, call.id);
      }
      const { points } = (await server.call("GET", "/v1/stats", { key })).json as { points: Json[] };
      expect(points.length).toBeGreaterThan(50);
      for (const { at: _, ...figures } of points)
        expect(Object.values(figures).every((figure) => figure === 0)).toBe(true);
    });
  });

  it("has its own names: the same id can be made there, and is another repository", async () => {
    const { server, world } = leaks;
    const eve = await server.key("w4", "eve", { role: "admin" });
    const { rid, cid } = world.targets.groupRepository;
    await leaks.unchanged(async () => {
      const own = await server.call("POST", "/v1/repositories", {
        key: eve,
        body: { repository_id: rid, name: "Mine" },
      });
      expect(own.status).toBe(201);
      leaks.expectNothing(own, rid, "POST /v1/repositories");
      const made = await server.call("POST", `/v1/repositories/${rid}/collections`, {
        key: eve,
        body: { collection_id: cid, name: "Mine" },
      });
      expect(made.status).toBe(201);
      const found = await server.call("POST", `/v1/repositories/${rid}/collections/${cid}/search`, {
        key: eve,
        body: { query: "plans of the vault" },
      });
      expect(found.json["hits"]).toEqual([]);
      const purged = await server.call("DELETE", `/v1/repositories/${rid}?confirm=${rid}`, { key: eve });
      expect(purged.status).toBe(202);
    });
  });

  it("cursors of one workspace open nothing in another", async () => {
    const { server, world } = leaks;
    const eve = await server.key("w4", "eve", { role: "admin" });
    const { rid, cid } = world.targets.groupRepository;
    for (const path of [
      "/v1/repositories?limit=1",
      "/v1/collections?limit=1",
      "/v1/jobs?limit=1",
      "/v1/keys?limit=1",
      `/v1/repositories/${rid}/collections?limit=1`,
    ]) {
      const cursor = (await server.call("GET", path, { key: world.boss })).json["next_cursor"] as string;
      expect(cursor, path).toBeTypeOf("string");
      const reply = await server.call("GET", `${path}&cursor=${encodeURIComponent(cursor)}`, { key: eve });
      expect([400, 404], `${path}: ${reply.text}`).toContain(reply.status);
      leaks.expectNothing(reply, `${cursor} ${rid} ${cid}`, path);
    }
  });
});

describe("the same workspace", () => {
  it("R-LISA-72 a user without the group sees nothing of the group's repository and collection", async () => {
    const ben = await leaks.who("w1", "ben", { groups: ["other"] });
    const { groupRepository, groupCollection } = leaks.world.targets;
    await leaks.unchanged(async () => {
      for (const target of [groupRepository, ...leaks.world.putAway])
        expect(await leaks.walk(target, ben, notTheCommons)).toBeGreaterThan(60);
      expect(await leaks.walk(groupCollection, ben, ofCollection)).toBeGreaterThan(25);
      for (const call of leaks.calls.filter(({ id }) => ofEverybody.has(id))) {
        const { reply, sent } = await leaks.send(call, groupCollection, ben.key);
        leaks.expectNothing(reply, sent, call.id);
      }
    });
  });

  it("a name or an id that a hidden collection has is taken, as names are unique; no more than that is told; of a deleted one, nothing", async () => {
    const { server, world } = leaks;
    const cy = await server.key("w1", "cy");
    const at = `/v1/repositories/${commons}/collections`;
    await server.call("POST", at, {
      key: world.ann,
      body: { collection_id: "burnt-2645", name: "Burnt letters", private: true },
    });
    await server.call("DELETE", `${at}/burnt-2645`, { key: world.ann });
    const taken = await server.call("POST", at, { key: cy, body: { collection_id: "diary-4142", name: "Other" } });
    expect([taken.status, taken.json["code"]]).toEqual([409, "CONFLICT"]);
    expect(taken.json["detail"]).toBe(`A collection "diary-4142" already exists in repository "${commons}".`);
    // The id of a deleted one is free, as if it had never been; that one is kept beside it, and not shown.
    const free = await server.call("POST", at, {
      key: cy,
      body: { collection_id: "burnt-2645", name: "Other", private: true },
    });
    expect([free.status, free.json["document_count"]]).toEqual([201, 0]);
  });

  it("R-LISA-72 who lost the group has lost the jobs that they started there, too", async () => {
    const { server, world } = leaks;
    const dee = await server.key("w1", "dee", { groups: ["passing"] });
    const at = `/v1/repositories/${commons}/collections`;
    await server.call("POST", at, {
      key: world.boss,
      body: { collection_id: "passing", name: "Passing", allowed_groups: ["passing"] },
    });
    const sent = await server.call("POST", `${at}/passing/documents`, {
      key: dee,
      body: { name: "dee.txt", text: "words" },
    });
    const { document_id } = (sent.json["documents"] as Json[])[0] as Json;
    await server.settled(dee, `${at}/passing/documents/${document_id as string}`);
    const job = `/v1/jobs/${sent.json["job_id"] as string}`;
    const jobs = async () =>
      ((await server.call("GET", "/v1/jobs", { key: dee })).json["items"] as Json[]).map(({ job_id }) => job_id);
    expect((await server.call("GET", job, { key: dee })).json).toMatchObject({
      kind: "ingest",
      result: { documents: [{ name: "dee.txt" }] },
    });
    expect(await jobs()).toEqual([sent.json["job_id"]]);
    await server.call("PATCH", `${at}/passing`, { key: world.boss, body: { allowed_groups: ["staying"] } });
    const lost = await server.call("GET", job, { key: dee });
    expect(lost.status).toBe(404);
    expect(lost.text).not.toContain("dee.txt");
    for (const verb of ["retry", "cancel"])
      expect((await server.call("POST", `${job}:${verb}`, { key: dee })).status).toBe(404);
    expect(await jobs()).toEqual([]);
  });

  it("R-LISA-20 another user's private collection and own repository are not there, with the group or without", async () => {
    for (const groups of [[], [group]]) {
      const cy = await leaks.who("w1", `cy-${groups.length}`, { groups });
      await leaks.unchanged(async () => {
        expect(await leaks.walk(leaks.world.targets.personal, cy, ofRepository)).toBeGreaterThan(25);
        expect(await leaks.walk(leaks.world.targets.privateCollection, cy, ofCollection)).toBeGreaterThan(25);
      });
    }
  });
});

/** What is open to the workspace is in these lists, so they are not empty. */
const ofEverybody = new Set([
  "listRepositories",
  "listAllCollections",
  "lisaListRepositories",
  "lisaListAllCollections",
]);
/** Conversations are their workspace's, as all state of agents is. */
const notTheCommons = ({ id, path, how }: Call): boolean =>
  !ofEverybody.has(id) && !path.includes("{conversation}") && how.workspaceWide !== true;
const ofRepository = ({ path, id, how }: Call): boolean =>
  path.includes("{rid}") ||
  path.includes("{jid}") ||
  path.includes("{store}") ||
  path.includes("{file}") ||
  path.includes("{upload}") ||
  id === "verifyCitations" ||
  id === "explainAccess" ||
  (id === "search" && how.kind === "thing");
const ofCollection = (call: Call): boolean =>
  ofRepository(call) && (!call.path.includes("{rid}") || call.path.includes("{cid}") || call.how.ofCollection === true);
