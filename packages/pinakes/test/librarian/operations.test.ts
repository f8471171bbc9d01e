/** Operations, their retries, the trash, the permission to purge and the queues of the lifecycle, over HTTP. */
import { beforeAll, describe, expect, it } from "vitest";
import { systemScope } from "../../src/domain/scope.ts";
import { serveParticipant, vector_storage_management_topic } from "../../src/lifecycle/index.ts";
import { until } from "../support/until.ts";
import { openTestServer, rootToken, type Json } from "../http/support/server.ts";
import { forAllTests } from "../support/for-tests.ts";

let admin: string;
let user: string;
const server = forAllTests(() => openTestServer());
beforeAll(async () => {
  admin = await server.key("default", "ada", { role: "admin" });
  user = await server.key("default", "uli");
  await server.call("POST", "/v1/repositories", { key: admin, body: { repository_id: "kb" } });
});

const kb = "/v1/repositories/kb/collections";
const lifecycleScope = systemScope("tests of the librarian", () => {}).forTenant("pinakes.lifecycle");

async function filled(id: string, key = admin): Promise<void> {
  await server.call("POST", kb, { key, body: { collection_id: id } });
  await server.call("POST", `${kb}/${id}/vectors:upsert`, { key, body: { items: [{ id: "a", vector: [1, 2] }] } });
  await server.call("POST", `${kb}/${id}/triples`, { key, body: [{ s: "a:s", p: "a:p", o: "a:o" }] });
}

const operation = async (id: string, key = admin) => (await server.call("GET", `/v1/operations/${id}`, { key })).json;
const ended = (id: string) =>
  until(async () => ((await operation(id))["status"] === "done" ? operation(id) : undefined));

describe("operations", () => {
  it("R-TG-23 R-TG-50 R-TG-109 report for each store what was deleted, what remains, how long it took and how many attempts", async () => {
    await filled("papers");
    const job = await server.call("DELETE", `${kb}/papers?purge=true&confirm=papers`, { key: admin });
    const id = job.json["job_id"] as string;
    const done = await ended(id);
    expect(done).toMatchObject({
      operation_id: id,
      action: "delete-collection",
      collection_id: "papers",
      repository_id: "kb",
      partial: false,
    });
    const stores = done["stores"] as Json[];
    expect(stores.map(({ store }) => store).toSorted()).toEqual(["documents", "objects", "triples", "vectors"]);
    for (const row of stores)
      expect(row).toMatchObject({ status: "confirmed", remaining: 0, error: null, attempts: 1 });
    expect(stores.find(({ store }) => store === "triples")).toMatchObject({ deleted: expect.any(Number) as number });
    // Each names its unit.
    const units = Object.fromEntries(stores.map(({ store, unit }) => [store, unit]));
    const counted = {
      documents: "records",
      objects: "files",
      triples: "triples, terms and supports",
      vectors: "files and records of the index",
    };
    expect(units).toEqual(counted);
    const { result } = (await server.call("GET", `/v1/jobs/${id}`, { key: admin })).json as {
      result: { stores: Json[] };
    };
    expect(Object.fromEntries(result.stores.map(({ store, unit }) => [store, unit]))).toEqual(counted);
    const list = async (query: string) =>
      ((await server.call("GET", `/v1/operations?${query}`, { key: admin })).json["items"] as Json[]).map(
        (one) => one["operation_id"],
      );
    expect(await list("collection=papers")).toEqual([id]);
    expect(await list("collection=papers&status=done&repository=kb")).toEqual([id]);
    expect(await list("status=failed")).toEqual([]);
    expect(await list("collection=other")).toEqual([]);
    expect((await server.call("GET", "/v1/operations?status=lost", { key: admin })).status).toBe(400);
    expect((await server.call("POST", `/v1/operations/${id}:retry`, { key: admin })).status).toBe(409);
    expect((await server.call("GET", `/v1/operations/${id}`, { key: user })).status).toBe(404);
  });

  it("R-TG-41 a failed one names the store and the reason; a retry completes it", async () => {
    const stop = new AbortController();
    let broken = true;
    const handlers = {
      delete: async () => {
        if (broken) throw new Error("the disk is full");
        return { deleted: 0, done: true };
      },
      count: async () => (broken ? 1 : 0),
    };
    const serving = serveParticipant(
      server.pinakes.lifecycle,
      { store: "cache", class: "object", handlers },
      stop.signal,
    );
    await until(async () =>
      (await server.pinakes.lifecycle.participants.list()).some(({ store }) => store === "cache"),
    );
    await filled("stuck");
    const id = (await server.call("DELETE", `${kb}/stuck?purge=true&confirm=stuck`, { key: admin })).json[
      "job_id"
    ] as string;
    const row = async () => ((await operation(id))["stores"] as Json[]).find(({ store }) => store === "cache") as Json;
    await until(async () => (await row())["error"] !== null);
    expect(await row()).toMatchObject({
      error: { type: "error", message: "the disk is full" },
      remaining: 1,
      unit: "rows",
    });
    const queues = (await server.call("GET", "/v1/queues", { key: admin })).json["items"] as Json[];
    const topic = queues.find(({ name }) => name === "object-storage-management-cache") as Json;
    expect((topic["waiting"] as number) + (topic["in_progress"] as number)).toBe(1);
    expect((await server.call("POST", `/v1/operations/${id}:retry`, { key: user })).status).toBe(403);
    broken = false;
    expect((await server.call("POST", `/v1/operations/${id}:retry`, { key: admin })).status).toBe(202);
    await ended(id);
    stop.abort();
    await serving;
    await server.pinakes.lifecycle.participants.unregister("cache");
  });

  it("R-TG-36 a store that cannot delete gives a 409 that changes nothing; with allow_partial it proceeds, and says partial", async () => {
    const capabilities = { delete: false, archive: false, list: false };
    await server.pinakes.lifecycle.participants.register({ store: "tape", class: "object", capabilities });
    await filled("taped");
    const refused = await server.call("DELETE", `${kb}/taped?purge=true&confirm=taped`, { key: admin });
    expect([refused.status, refused.json["detail"]]).toEqual([
      409,
      expect.stringContaining("store_cannot_delete: tape"),
    ]);
    expect((await server.call("GET", `${kb}/taped`, { key: admin })).json["status"]).toBe("ACTIVE");
    const job = await server.call("DELETE", `${kb}/taped?purge=true&confirm=taped&allow_partial=true`, { key: admin });
    expect(await ended(job.json["job_id"] as string)).toMatchObject({ partial: true, status: "done" });
    await server.pinakes.lifecycle.participants.unregister("tape");
  });
});

describe("the trash", () => {
  it("R-TG-48 R-TG-53 shows former incarnations of an id, each of which can be restored or purged; an expired one is 410", async () => {
    const incarnations: string[] = [];
    for (let i = 0; i < 3; i += 1) {
      const made = await server.call("POST", kb, {
        key: admin,
        body: { collection_id: "phoenix", description: `life ${i}` },
      });
      incarnations.push(made.json["incarnation"] as string);
      if (i < 2) expect((await server.call("DELETE", `${kb}/phoenix`, { key: admin })).status).toBe(202);
    }
    const trash = async () =>
      (
        (await server.call("GET", "/v1/collections?status=DELETED&q=phoenix", { key: admin })).json["items"] as Json[]
      ).map((one) => [one["incarnation"], one["displaced"]]);
    expect((await trash()).toSorted()).toEqual(
      [
        [incarnations[0], true],
        [incarnations[1], true],
      ].toSorted(),
    );
    const first = `incarnation=${incarnations[0] as string}`;
    expect((await server.call("GET", `${kb}/phoenix?deleted=true&${first}`, { key: admin })).json["description"]).toBe(
      "life 0",
    );
    const taken = await server.call("POST", `${kb}/phoenix:restore?${first}`, { key: admin });
    expect([taken.status, taken.json["detail"]]).toEqual([409, expect.stringContaining("has the id")]);
    await server.call("DELETE", `${kb}/phoenix`, { key: admin });
    expect(
      (await server.call("POST", `${kb}/phoenix:restore`, { key: admin, body: { incarnation: incarnations[0] } })).json[
        "description"
      ],
    ).toBe("life 0");
    const purge = await server.call(
      "DELETE",
      `${kb}/phoenix?purge=true&confirm=phoenix&incarnation=${incarnations[1] as string}`,
      { key: admin },
    );
    await ended(purge.json["job_id"] as string);
    expect((await server.call("GET", `${kb}/phoenix`, { key: admin })).json["description"]).toBe("life 0");
    expect((await trash()).map(([incarnation]) => incarnation)).toEqual([incarnations[2]]);
    await filled("over");
    const id = (await server.call("DELETE", `${kb}/over?purge=true&confirm=over`, { key: admin })).json[
      "job_id"
    ] as string;
    await ended(id);
    const gone = await server.call("POST", `${kb}/over:restore`, { key: admin });
    expect([gone.status, gone.json["code"]]).toEqual([410, "GONE"]);
    const { paths } = (await server.call("GET", "/v1/openapi.json")).json as {
      paths: Record<string, { post: { responses: Json } }>;
    };
    expect(paths["/v1/repositories/{rid}/collections/{cid}:restore"]?.post.responses).toHaveProperty("410");
    // R-TG-24: no route records a use.
    expect(Object.keys(paths).filter((path) => /:use|:notify-use|collection-use/.test(path))).toEqual([]);
  });
});

describe("a restore of a live collection", () => {
  it("R-TG-09 R-TG-48 names the former incarnation to callers who could restore it, and to nobody else", async () => {
    const made = await server.call("POST", kb, { key: admin, body: { collection_id: "reborn", private: true } });
    const former = made.json["incarnation"] as string;
    await server.call("DELETE", `${kb}/reborn`, { key: admin });
    expect((await server.call("POST", kb, { key: user, body: { collection_id: "reborn" } })).status).toBe(201);
    const told = async (key: string) => {
      const { status, json } = await server.call("POST", `${kb}/reborn:restore`, { key });
      return [status, json["detail"]];
    };
    expect(await told(admin)).toEqual([409, expect.stringContaining(`incarnation ${former}`)]);
    expect(await told(user)).toEqual([409, 'Collection "reborn" is not deleted; it is ACTIVE.']);
  });
});

describe("the permission to purge", () => {
  it("R-TG-27 R-TG-100 is granted by admins with a key, shown in lists and to its bearer, and without it a creator cannot purge", async () => {
    const input = { user_id: "petra", permissions: ["purge"] };
    const made = await server.call("POST", "/v1/keys", { key: admin, body: input });
    expect([made.status, made.json["permissions"]]).toEqual([201, ["purge"]]);
    const petra = made.json["key"] as string;
    expect((await server.call("GET", "/v1/me", { key: petra })).json).toMatchObject({
      user_id: "petra",
      role: "user",
      permissions: ["purge"],
    });
    expect((await server.call("GET", "/v1/me", { key: user })).json["permissions"]).toEqual([]);
    const listed = (await server.call("GET", "/v1/keys?limit=100", { key: admin })).json["items"] as Json[];
    expect(listed.find(({ user_id }) => user_id === "petra")).toMatchObject({ permissions: ["purge"] });
    for (const key of [user, petra])
      expect((await server.call("POST", "/v1/keys", { key, body: input })).status).toBe(403);
    expect(
      (await server.call("POST", "/v1/keys", { key: rootToken, body: { user_id: "x", permissions: ["fly"] } })).status,
    ).toBe(400);
    for (const [name, key, status] of [
      ["hers", petra, 202],
      ["his", user, 403],
    ] as const) {
      await server.call("POST", kb, { key, body: { collection_id: name } });
      expect((await server.call("DELETE", `${kb}/${name}?purge=true&confirm=${name}`, { key })).status).toBe(status);
    }
    // The permission gives no access: who may not delete may not purge.
    await filled("admins");
    expect((await server.call("DELETE", `${kb}/admins?purge=true&confirm=admins`, { key: petra })).status).toBe(403);
    const session = await server.call("POST", "/v1/sessions", { body: { token: petra } });
    const cookie = (session.headers.get("set-cookie") ?? "").split(";")[0] as string;
    expect((await server.call("GET", "/v1/me", { headers: { cookie } })).json["permissions"]).toEqual(["purge"]);
  });
});

describe("the queues of the lifecycle", () => {
  it("R-TG-56 R-TG-60 dead letters are shown to their workspace, and can be redriven and discarded", async () => {
    const topic = vector_storage_management_topic;
    const mine = { operation: 7, workspace_id: "default", marker: "mine" };
    const theirs = { operation: 7, workspace_id: "globex", marker: "theirs" };
    for (const [group, body] of [
      ["a:b/c", mine],
      ["g", theirs],
      ["nobody", "not even an object"],
    ] as const)
      await server.pinakes.queue.send(lifecycleScope, topic, { body, group });
    const dead = async (key: string) =>
      (await server.call("GET", `/v1/queues/${topic}/dead`, { key })).json["items"] as Json[];
    await until(async () =>
      (await server.pinakes.queue.dead.list(lifecycleScope, topic)).letters.length === 3 ? true : undefined,
    );
    expect((await dead(admin)).map(({ message }) => message)).toEqual(
      expect.arrayContaining([mine, "not even an object"]),
    );
    expect(await dead(admin)).toHaveLength(2);
    const globex = await server.key("globex", "gus", { role: "admin" });
    expect((await dead(globex)).map(({ message }) => message)).toEqual([theirs]);
    const queues = async (key: string) => (await server.call("GET", "/v1/queues", { key })).json["items"] as Json[];
    expect((await queues(admin)).map(({ name }) => name)).toEqual([
      "documents",
      "object-storage-management",
      "object-storage-management-documents",
      "storage-management-response",
      "triples-storage-management",
      "vector-storage-management",
    ]);
    expect((await queues(admin)).find(({ name }) => name === topic)).toMatchObject({ dead: 2 });
    const own = (await dead(admin)).find(({ message }) => (message as Json)["marker"] === "mine") as Json;
    const at = `/v1/queues/${topic}/dead/${own["dead_id"] as string}`;
    expect(own["reason"]).toContain("This is not");
    // Neither another workspace's admin nor a non-admin can touch it.
    for (const verb of ["redrive", "discard"])
      expect((await server.call("POST", `${at}:${verb}`, { key: globex })).status).toBe(404);
    expect((await server.call("POST", `${at}:discard`, { key: user })).status).toBe(403);
    expect((await server.call("POST", `${at}:redrive`, { key: admin })).status).toBe(202);
    // It is still malformed the second time.
    const again = await until(async () =>
      (await dead(admin)).find(
        (one) => (one["message"] as Json)["marker"] === "mine" && one["dead_id"] !== own["dead_id"],
      ),
    );
    expect(
      (await server.call("POST", `/v1/queues/${topic}/dead/${again["dead_id"] as string}:discard`, { key: admin }))
        .status,
    ).toBe(204);
    expect((await dead(admin)).map(({ message }) => message)).toEqual(["not even an object"]);
    for (const path of ["/v1/queues/nothing/dead"])
      expect((await server.call("GET", path, { key: admin })).status).toBe(404);
  });
});
