/** The same comparison through the interfaces of a server: `/v1`, OpenAI, LISA, MCP, and the stream of events. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newEvents } from "./support/events.ts";
import { differences } from "./support/compare.ts";
import type { Face } from "./support/faces.ts";
import { httpFaces } from "./support/http-faces.ts";
import { newWorld, randomAccess, seeded, type World } from "./support/world.ts";
import { openTestServer, type TestServer } from "../http/support/server.ts";

let server: TestServer;
let world: World;
let faces: Readonly<Record<string, Face>>;
beforeAll(async () => {
  server = await openTestServer("sqlite");
  const { pinakes } = server;
  const as: Parameters<typeof newWorld>[0]["as"] = (userId, who = {}) => pinakes.as({ tenant: "acme", userId, ...who });
  const test = { knowledge: pinakes.knowledge, admin: as("root", { role: "admin" }), as };
  world = await newWorld(test, { seed: 23, people: 5, papers: 8 });
  const keys = new Map<string, string>();
  for (const { id, groups, role } of world.people) keys.set(id, await server.key("acme", id, { groups, role }));
  faces = httpFaces(server, keys);
});
afterAll(() => server?.[Symbol.asyncDispose]());

async function change(): Promise<void> {
  const random = seeded(29);
  const key = await server.key("acme", "root", { role: "admin" });
  const { repository, collection } = world.place;
  for (const paper of world.papers.slice(0, 5)) {
    const access = randomAccess(random, world.people);
    const path = `/v1/repositories/${repository}/collections/${collection}/documents/${paper.document_id}`;
    const changed = await server.call("PATCH", path, { key, body: access });
    expect(changed).toMatchObject({ status: 200, json: access });
    world.papers = world.papers.map((one) => (one === paper ? { ...paper, access } : one));
  }
}

describe("the access of documents over HTTP", () => {
  it("every interface tells everybody of exactly the documents that the rule gives them, after uploads and after changes by PATCH", async () => {
    expect(await differences(world, faces)).toEqual([]);
    await change();
    expect(await differences(world, faces)).toEqual([]);
  });

  it("events tell of documents only those who may see them, then and now", async () => {
    expect(await differences(world, { events: await newEvents(world) })).toEqual([]);
  });

  it("a call about a hidden document answers like one about a document that never was, to the byte", async () => {
    const person = { id: "outsider", groups: ["staff"], role: "user" as const };
    const key = await server.key("acme", person.id, { groups: person.groups });
    const { repository, collection, knowledge, caller } = world.place;
    const [paper] = world.papers;
    if (paper === undefined) throw new Error("there are papers");
    await knowledge.documents.setAccess(caller, repository, collection, paper.document_id, {
      allowed_groups: null,
      allowed_users: ["nobody"],
    });
    const never = "0".repeat(paper.document_id.length);
    const at = `/v1/repositories/${repository}/collections/${collection}`;
    const calls: readonly (readonly [string, (id: string) => string, unknown?])[] = [
      ["GET", (id) => `${at}/documents/${id}`],
      ["GET", (id) => `${at}/documents/${id}/content`],
      ["GET", (id) => `${at}/documents/${id}/content?version=1`],
      ["GET", (id) => `${at}/documents/${id}/text`],
      ["GET", (id) => `${at}/documents/${id}/chunks`],
      ["GET", (id) => `${at}/documents/${id}/versions`],
      ["GET", (id) => `${at}/documents/${id}/triples`],
      ["GET", (id) => `${at}/documents/${id}/download`],
      ["DELETE", (id) => `${at}/documents/${id}`],
      ["PATCH", (id) => `${at}/documents/${id}`, { allowed_users: ["outsider"] }],
      ["POST", (id) => `${at}/documents/${id}:reindex`],
      ["GET", (id) => `/repository/${repository}/${id}?collectionId=${collection}`],
      ["GET", (id) => `/openai/v1/vector_stores/vs_${collection}/files/file-${id}`],
      ["DELETE", (id) => `/openai/v1/vector_stores/vs_${collection}/files/file-${id}`],
    ];
    const headers = { "x-request-id": "same", "openai-project": repository };
    for (const [method, pathOf, body] of calls) {
      const [hidden, absent] = await Promise.all(
        [paper.document_id, never].map((id) => server.call(method, pathOf(id), { key, body, headers })),
      );
      expect({ method, path: pathOf("id"), status: hidden?.status }).toEqual({
        method,
        path: pathOf("id"),
        status: 404,
      });
      expect(hidden?.text.replaceAll(paper.document_id, "")).toBe(absent?.text.replaceAll(never, ""));
    }
    expect(
      (
        await server.call("GET", `${at}/documents/${paper.document_id}`, {
          key: await server.key("acme", "root", { role: "admin" }),
        })
      ).status,
    ).toBe(200);
  });
});
