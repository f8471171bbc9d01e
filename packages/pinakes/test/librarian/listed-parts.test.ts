/** The parts listed in TrustGraph's specification, as visible from outside; and the one that must not be callable. */
import { expect, it } from "vitest";
import {
  object_storage_management_topic,
  storage_management_response_topic,
  triples_storage_management_topic,
  vector_storage_management_topic,
} from "../../src/lifecycle/index.ts";
import { openTestServer, type Json } from "../http/support/server.ts";
import { forAllTests } from "../support/for-tests.ts";

const server = forAllTests(() => openTestServer());

const facade = "/v1/collection-management";

it("R-TG-111 list, update and delete are handled, the record has the specified fields, and every kind of store has its handler at its topic", async () => {
  const key = await server.key("w1", "lister", { role: "admin" });
  const send = async (body: object) => {
    const reply = await server.call("POST", facade, { key, body });
    expect(reply.status, reply.text).toBe(200);
    return reply.json;
  };
  const { collections } = await send({
    operation: "update-collection",
    collection: "papers",
    name: "Papers",
    tags: ["old"],
  });
  const [record] = collections as Json[];
  expect(Object.keys(record as Json).toSorted()).toEqual([
    "collection",
    "created_at",
    "description",
    "name",
    "tags",
    "updated_at",
    "user",
  ]);
  expect((await send({ operation: "list-collections" }))["collections"]).toEqual([record]);
  const { job_id } = await send({
    operation: "delete-collection",
    collection: "papers",
    confirm: "papers",
    purge: true,
  });
  expect((await send({ operation: "list-collections" }))["collections"]).toEqual([]);
  // Who answered the delete: a handler of each kind, each at the topic of its kind.
  const topics = {
    object: object_storage_management_topic,
    vector: vector_storage_management_topic,
    triples: triples_storage_management_topic,
  };
  expect([...Object.values(topics), storage_management_response_topic]).toEqual([
    "object-storage-management",
    "vector-storage-management",
    "triples-storage-management",
    "storage-management-response",
  ]);
  const participants = await server.pinakes.lifecycle.participants.list();
  for (const [kind, topic] of Object.entries(topics))
    expect(
      participants.filter((one) => one.class === kind && one.topic === topic && one.capabilities.delete),
    ).toHaveLength(1);
  await expect
    .poll(async () => (await server.call("GET", `/v1/jobs/${String(job_id)}`, { key })).json["status"])
    .toBe("succeeded");
  const { result } = (await server.call("GET", `/v1/jobs/${String(job_id)}`, { key })).json as {
    result: { stores: { store: string; remaining: number }[] };
  };
  expect(result.stores.map(({ store }) => store).toSorted()).toEqual(participants.map(({ store }) => store).toSorted());
  for (const { remaining } of result.stores) expect(remaining).toBe(0);
});

it("R-TG-24 a use cannot be reported from outside: there is no such operation, and no request field for it", async () => {
  const key = await server.key("w1", "user");
  const admin = await server.key("w1", "chief", { role: "admin" });
  const at = "/v1/repositories/me/collections";
  for (const who of [key, admin]) {
    await server.call("POST", at, { key: who, body: { collection_id: "mine", name: "Mine" } });
    const before = (await server.call("GET", `${at}/mine`, { key: who })).json;
    for (const operation of [
      "collection-use",
      "use-collection",
      "notify-use",
      "collection-use-notification",
      "ensure-collection",
      "register-collection",
    ])
      expect(await server.call("POST", facade, { key: who, body: { operation, collection: "mine" } })).toMatchObject({
        status: 400,
        json: { error: { type: "invalid_operation" } },
      });
    const told = { last_used_at: "2020-01-01T00:00:00.000Z" };
    expect((await server.call("PATCH", `${at}/mine`, { key: who, body: told })).status).toBe(400);
    expect((await server.call("POST", at, { key: who, body: { name: "Used", ...told } })).status).toBe(400);
    expect((await server.call("GET", `${at}/mine`, { key: who })).json["last_used_at"]).toEqual(before["last_used_at"]);
  }
  const { paths, components } = (await server.call("GET", "/v1/openapi.json")).json as {
    paths: Record<string, Record<string, Json>>;
    components: Json;
  };
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
  expect(operations.length).toBeGreaterThan(100);
  for (const { operationId, requestBody, parameters } of operations) {
    const asked = withReferences(JSON.stringify([requestBody ?? null, parameters ?? null]), components);
    expect(asked, String(operationId)).not.toMatch(/"last_used_at":|notif(?:y|ication).{0,20}use|use.{0,10}notif/i);
  }
});

/** The text of a part of the document with everything that it refers to. */
function withReferences(text: string, components: Json, seen = new Set<string>()): string {
  const names = [...text.matchAll(/#\/components\/schemas\/([^"]+)/g)]
    .map(([, name]) => name as string)
    .filter((name) => !seen.has(name));
  for (const name of names) seen.add(name);
  return [
    text,
    ...names.map((name) =>
      withReferences(JSON.stringify((components["schemas"] as Json)[name] ?? null), components, seen),
    ),
  ].join("\n");
}
