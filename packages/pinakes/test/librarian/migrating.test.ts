/** `migrate-collection` through the librarian facade, and through the routes of migrations, for users without the admin role. */
import { expect, it } from "vitest";
import { until } from "../support/until.ts";
import { openTestServer, type Json, type Reply } from "../http/support/server.ts";
import { forAllTests } from "../support/for-tests.ts";

const server = forAllTests(() => openTestServer());

const send = (key: string, body: object): Promise<Reply> =>
  server.call("POST", "/v1/collection-management", { key, body });
const update = (key: string, collection: string, more: object = {}) =>
  send(key, { operation: "update-collection", collection, ...more });
const ids = async (key: string) =>
  ((await send(key, { operation: "list-collections" })).json["collections"] as Json[]).map(
    ({ collection }) => collection,
  );

async function through(key: string, migrationId: unknown): Promise<Json> {
  return until(async () => {
    const { status, json } = await server.call("GET", `/v1/migrations/${String(migrationId)}`, { key });
    expect(status).toBe(200);
    return isRest(String(json["state"])) ? json : undefined;
  });
}

function isRest(state: string): boolean {
  return !state.endsWith("ing") && state !== "rolling_back";
}

it("R-TG-63 migrate-collection moves the caller's collection to another id automatically, and the caller can roll back the migration", async () => {
  const key = await server.key("w1", "mover");
  await update(key, "papers", { name: "Papers", description: "From 1905 on", tags: ["physics"] });
  const begun = await send(key, {
    operation: "migrate-collection",
    collection: "papers",
    target_collection: "articles",
    user: "mover",
  });
  expect(begun.status, begun.text).toBe(200);
  expect(begun.json).toMatchObject({
    error: null,
    collections: [{ collection: "papers" }],
    migration_id: expect.any(String) as string,
  });
  const { migration_id } = begun.json;
  expect(await through(key, migration_id)).toMatchObject({ state: "switched", error: null, auto: true });
  expect(await ids(key)).toEqual(["articles"]);
  expect((await update(key, "articles")).json["collections"]).toMatchObject([
    { name: "Papers", description: "From 1905 on", tags: ["physics"] },
  ]);
  expect((await server.call("POST", `/v1/migrations/${String(migration_id)}:rollback`, { key })).status).toBe(202);
  expect(await through(key, migration_id)).toMatchObject({ state: "rolled_back" });
  expect(await ids(key)).toEqual(["papers"]);
});

it("R-TG-63 migrate-collection accepts a collection of another repository, if the caller may manage it", async () => {
  const [admin, user] = [await server.key("w3", "boss", { role: "admin" }), await server.key("w3", "guest")];
  for (const repository_id of ["kb", "attic"])
    await server.call("POST", "/v1/repositories", { key: admin, body: { repository_id, name: repository_id } });
  await server.call("POST", "/v1/repositories/kb/collections", { key: admin, body: { collection_id: "people" } });
  const body = { operation: "migrate-collection", repository: "kb", collection: "people", target_repository: "attic" };
  expect((await send(user, body)).status).toBe(403);
  const begun = await send(admin, body);
  expect(begun.status, begun.text).toBe(200);
  expect(await through(admin, begun.json["migration_id"])).toMatchObject({ state: "switched", error: null });
  expect((await server.call("GET", "/v1/repositories/attic/collections/people", { key: admin })).status).toBe(200);
  expect((await server.call("GET", "/v1/repositories/kb/collections/people", { key: admin })).status).toBe(404);
});

it("R-TG-09 R-TG-63 foreign collections answer like missing ones; so do foreign migrations", async () => {
  const [key, other, foreign] = [
    await server.key("w1", "owner"),
    await server.key("w1", "stranger"),
    await server.key("w2", "owner"),
  ];
  await update(key, "mine");
  const move = (who: string, collection: string, more: object = {}) =>
    send(who, { operation: "migrate-collection", collection, target_collection: "x", ...more });
  for (const who of [other, foreign]) {
    const refused = await move(who, "mine");
    const unknown = await move(who, "none");
    expect([refused.status, refused.json["error"]]).toEqual([
      404,
      JSON.parse(JSON.stringify(unknown.json["error"]).replaceAll("none", "mine")),
    ]);
  }
  expect((await move(key, "mine", { target_repository: "nowhere" })).status).toBe(404);
  expect((await move(key, "mine", { target_collection: "mine" })).json["error"]).toMatchObject({
    type: "invalid_request",
  });
  const { json } = await move(key, "mine");
  await through(key, json["migration_id"]);
  const seen = await server.call("GET", `/v1/migrations/${String(json["migration_id"])}`, { key: other });
  const none = await server.call("GET", "/v1/migrations/none", { key: other });
  expect([seen.status, seen.json["detail"]]).toEqual([none.status, none.json["detail"]]);
});
