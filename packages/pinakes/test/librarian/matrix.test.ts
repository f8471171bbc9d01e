/** R-TG-100: each operation on collections, for every kind of caller. */
import { beforeAll, expect, it } from "vitest";
import { openTestServer } from "../http/support/server.ts";
import { forAllTests } from "../support/for-tests.ts";

const keys: Record<string, string | undefined> = {};
const server = forAllTests(() => openTestServer());
beforeAll(async () => {
  keys["anonymous"] = undefined;
  keys["reader"] = await server.key("w1", "rita", { groups: ["g"], scopes: ["read"] });
  keys["writer"] = await server.key("w1", "will", { groups: ["g"] });
  keys["admin"] = await server.key("w1", "ada", { role: "admin" });
  keys["other tenant"] = await server.key("w2", "olga", { role: "admin" });
  const body = { repository_id: "kb", allowed_groups: ["g"] };
  expect((await server.call("POST", "/v1/repositories", { key: keys["admin"], body })).status).toBe(201);
});

const who = ["anonymous", "reader", "writer", "admin", "other tenant"] as const;
const kb = "/v1/repositories/kb/collections";
const facade = "/v1/collection-management";

/** `shared` was created by the admin; `own` exists for the caller, if the caller may create one. */
const shared: readonly [string, string, string, unknown, readonly number[]][] = [
  ["list", "GET", kb, undefined, [401, 200, 200, 200, 404]],
  ["describe", "GET", `${kb}/shared`, undefined, [401, 200, 200, 200, 404]],
  ["usage", "GET", `${kb}/shared/usage`, undefined, [401, 200, 200, 200, 404]],
  ["query", "POST", `${kb}/shared/vectors:query`, { vector: [1, 2] }, [401, 200, 200, 200, 404]],
  ["load", "POST", `${kb}/shared/vectors:upsert`, { items: [{ id: "a", vector: [1, 2] }] }, [401, 403, 200, 200, 404]],
  ["update", "PATCH", `${kb}/shared`, { description: "x" }, [401, 403, 403, 200, 404]],
  ["archive", "POST", `${kb}/shared:archive`, undefined, [401, 403, 403, 200, 404]],
  ["unarchive", "POST", `${kb}/shared:unarchive`, undefined, [401, 403, 403, 200, 404]],
  ["delete", "DELETE", `${kb}/shared?confirm=shared`, undefined, [401, 403, 403, 202, 404]],
  ["trash", "GET", `${kb}?status=DELETED`, undefined, [401, 200, 200, 200, 404]],
  ["restore", "POST", `${kb}/shared:restore`, undefined, [401, 403, 403, 200, 404]],
  ["purge", "DELETE", `${kb}/shared?confirm=shared&purge=true`, undefined, [401, 403, 403, 202, 404]],
  ["operations", "GET", "/v1/operations", undefined, [401, 200, 200, 200, 200]],
  ["queues", "GET", "/v1/queues", undefined, [401, 403, 403, 200, 200]],
];

it.each(shared)(
  "R-TG-100 %s (%s %s) for anonymous, reader, writer, admin and another tenant's admin",
  async (_, method, path, body, statuses) => {
    for (const [i, name] of who.entries()) {
      await server.call("POST", kb, { key: keys["admin"], body: { collection_id: "shared" } });
      if (path.endsWith(":unarchive")) await server.call("POST", `${kb}/shared:archive`, { key: keys["admin"] });
      if (path.endsWith(":restore")) await server.call("DELETE", `${kb}/shared`, { key: keys["admin"] });
      const { status, text } = await server.call(method, path, { key: keys[name], body });
      expect(status, `${name}: ${text}`).toBe(statuses[i]);
      if (path.endsWith(":archive")) await server.call("POST", `${kb}/shared:unarchive`, { key: keys["admin"] });
      if (name === "other tenant") expect(text).not.toContain("kb/");
    }
  },
);

const own: readonly [string, object, readonly number[]][] = [
  ["list-collections", {}, [401, 200, 200, 200, 200]],
  ["create-collection", { collection: "own" }, [401, 403, 200, 200, 200]],
  ["update-collection", { collection: "own", tags: ["a"] }, [401, 403, 200, 200, 200]],
  ["archive-collection", { collection: "own" }, [401, 403, 200, 200, 200]],
  ["archive-collection", { collection: "shared" }, [401, 403, 404, 404, 404]],
  ["delete-collection", { collection: "own", confirm: "own" }, [401, 403, 200, 200, 200]],
  ["delete-collection", { collection: "shared", confirm: "shared" }, [401, 403, 404, 404, 404]],
];

it.each(own)(
  "R-TG-100 the facade's %s with %j for each of them, only on their own collections",
  async (operation, fields, statuses) => {
    await server.call("POST", kb, { key: keys["admin"], body: { collection_id: "shared" } });
    for (const [i, name] of who.entries()) {
      const { status, text, json } = await server.call("POST", facade, {
        key: keys[name],
        body: { operation, ...fields },
      });
      expect(status, `${name}: ${text}`).toBe(statuses[i]);
      const refused = { 401: "unauthenticated", 403: "forbidden", 404: "not_found" }[status];
      if (refused !== undefined) expect(json).toMatchObject({ error: { type: refused }, collections: [] });
      expect(text).not.toContain("kb");
    }
    expect((await server.call("GET", `${kb}/shared`, { key: keys["admin"] })).json).toMatchObject({ status: "ACTIVE" });
  },
);
