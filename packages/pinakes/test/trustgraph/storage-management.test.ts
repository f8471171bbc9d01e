/** Storage-management messages of TrustGraph, as they travel on Pulsar, through the HTTP ingress. */
import { beforeAll, describe, expect, it } from "vitest";
import { openTestServer, type Json } from "../http/support/server.ts";
import { until } from "../support/until.ts";
import { forAllTests } from "../support/for-tests.ts";

let admin: string;
const server = forAllTests(() => openTestServer());
beforeAll(async () => {
  admin = await server.key("w1", "boss", { role: "admin" });
});

const send = (storeClass: string, body: unknown, key = admin) =>
  server.call("POST", `/v1/storage-management/${storeClass}`, { key, body });

describe("storage-management messages", () => {
  it("R-TG-55 R-TG-57 R-TG-63 are taken verbatim, with a timestamp or without, by every store of the class, and remove nothing that is not deleted", async () => {
    const key = await server.key("w1", "ann");
    await server.call("POST", "/v1/repositories/me/collections", { key, body: { collection_id: "papers" } });
    await server.call("POST", "/v1/repositories/me/collections/papers/triples", {
      key,
      body: "<urn:s> <urn:p> 1 .",
      headers: { "content-type": "text/turtle" },
    });
    const message = { operation: "delete-collection", user: "ann", collection: "papers" };
    const queues = {
      vector: ["vector-storage-management"],
      object: ["object-storage-management", "object-storage-management-documents"],
      triples: ["triples-storage-management"],
    };
    for (const [storeClass, names] of Object.entries(queues))
      for (const body of [
        message,
        { ...message, timestamp: "2024-01-15T10:30:00Z" },
        { ...message, operation: "compact-collection" },
      ]) {
        const reply = await send(storeClass, body);
        expect(reply.status, reply.text).toBe(202);
        expect((reply.json["queues"] as string[]).toSorted()).toEqual(names);
      }
    await until(async () => {
      const { items } = (await server.call("GET", "/v1/queues", { key: admin })).json as { items: Json[] };
      const busy = items.filter(
        ({ name, waiting, in_progress }) =>
          String(name).includes("storage") && ((waiting as number) > 0 || (in_progress as number) > 0),
      );
      return busy.length === 0 ? true : undefined;
    });
    const found = await server.call("GET", "/v1/repositories/me/collections/papers/triples", { key });
    expect(found.json["items"]).toHaveLength(1);
  });

  it("are refused where they are none, and from anybody but admins", async () => {
    const message = { operation: "delete-collection", user: "ann", collection: "papers" };
    for (const wrong of [
      {},
      { ...message, user: 7 },
      { ...message, collection: "" },
      { ...message, operation_id: "x" },
      { ...message, user: undefined },
    ])
      expect((await send("vector", wrong)).status, JSON.stringify(wrong)).toBe(400);
    expect((await send("graph", message)).status).toBe(400);
    expect((await send("vector", message, await server.key("w1", "ann"))).status).toBe(403);
  });
});
