/** Leaks: credentials that are missing, revoked, expired or is read-only, and what is visible but not allowed. */
import { describe, expect, it } from "vitest";
import { until } from "../support/until.ts";
import { publicOperations } from "./support/leak-calls.ts";
import { Leaks, type Call } from "./support/leak-walk.ts";
import { commons, group } from "./support/leak-world.ts";
import { sendAndSettle, type Json, type Reply, type Site } from "./support/server.ts";
import { forAllTests } from "../support/for-tests.ts";

const leaks = forAllTests(() => Leaks.open());

/** Everything that needs credentials is refused, in one wording, and nothing happens. */
async function refusedEverywhere(key: string | undefined): Promise<void> {
  const [wordings, details] = [new Set<string>(), new Set<unknown>()];
  let refused = 0;
  await leaks.unchanged(async () => {
    for (const target of Object.values(leaks.world.targets)) {
      for (const call of leaks.calls.filter(({ id, how }) => !publicOperations.has(id) || how.kind === "signin")) {
        const what = `${call.method} ${call.path} (${call.id})`;
        const { reply, sent } = await leaks.send(call, target, key);
        // LISA's gateway answers a key that is not good with another status than none.
        expect(reply.status, `${what}: ${reply.text}`).toBe(call.tag === "lisa" && key !== undefined ? 403 : 401);
        expect(reply.headers.get("www-authenticate"), what).toBe('Bearer realm="pinakes"');
        leaks.expectNothing(reply, sent, what);
        if (call.how.kind !== "signin") details.add(detailOf(reply));
        if (call.how.kind !== "signin" && !hasOwnErrors(call)) wordings.add(reply.text);
        refused += 1;
      }
    }
  });
  expect(refused).toBeGreaterThan(200);
  expect([...wordings]).toHaveLength(1);
  expect([...details]).toEqual([expect.stringMatching(/.{10,}/)]);
}

/** Facades have errors of their own form. */
function hasOwnErrors({ id, tag }: Call): boolean {
  return id === "manageCollections" || ["catalogs", "openai", "lisa", "trustgraph"].includes(tag);
}

function detailOf({ json }: Reply): unknown {
  const [content] = (json["content"] ?? []) as readonly Json[];
  if (typeof json["error"] === "string" && json["message"] === undefined) return json["error"];
  return json["detail"] ?? json["message"] ?? (json["error"] as Json | undefined)?.["message"] ?? content?.["text"];
}

describe("credentials", () => {
  it("without any, every operation that is not public is 401", async () => {
    await refusedEverywhere(undefined);
  });

  it("a revoked key is 401 everywhere, at once, even though it was used a moment before; so is a session that was made of it", async () => {
    const { server, world } = leaks;
    const key = await server.key("w1", "gone", { groups: [group] });
    const { rid } = world.targets.groupRepository;
    expect((await server.call("GET", `/v1/repositories/${rid}`, { key })).status).toBe(200);
    const signedIn = await server.raw("POST", "/v1/sessions", { body: { token: key } });
    const cookie = (signedIn.headers.get("set-cookie") as string).split(";")[0] as string;
    expect((await server.call("GET", `/v1/repositories/${rid}`, { headers: { cookie } })).status).toBe(200);
    const keyId = key.split("_")[1] as string;
    expect((await server.call("DELETE", `/v1/keys/${keyId}`, { key: world.boss })).status).toBe(204);
    await refusedEverywhere(key);
    const after = await server.call("GET", `/v1/repositories/${rid}`, { headers: { cookie } });
    expect(after.status).toBe(401);
    leaks.expectNothing(after, rid, "a session of a revoked key");
  });

  it("a key that has expired is 401 everywhere", async () => {
    const { server, world } = leaks;
    const expires_at = new Date(Date.now() + 60_000).toISOString();
    const key = await server.key("w1", "late", { groups: [group], expires_at });
    expect((await server.call("GET", `/v1/repositories/${world.targets.groupRepository.rid}`, { key })).status).toBe(
      200,
    );
    server.later(60_001);
    await refusedEverywhere(key);
  });

  it("a key that is read-only changes nothing: 403 on every operation that changes, and the others work", async () => {
    const { server, world } = leaks;
    const key = await server.key("w1", `reader`, { groups: [group], role: "admin", scopes: ["read"] });
    const changes = ({ method, how, id }: Call) =>
      method !== "GET" && how.changes !== false && !publicOperations.has(id);
    // As somebody who is not there, an admin finds nothing: that is another test.
    // The targets have no operation on them, and no triple of that name: reading those is shown in test/librarian and test/graph-retrieval.
    // Files and responses are their owner's alone: test/openai.
    const elsewhere = new Set([
      "endSession",
      "getOperation",
      "tripleProvenance",
      "getOpenAIFile",
      "getOpenAIFileContent",
      "getResponse",
      "listResponseInputItems",
      "lisaListDataSources",
      "exportTrustGraphCore",
      "getGraphHere",
    ]);
    const reads = ({ method, how, id, tag }: Call) =>
      how.kind !== "stream" &&
      !elsewhere.has(id) &&
      // A catalog is its owner's alone.
      (tag !== "catalogs" || how.kind === "free") &&
      how.adminsOnly !== true &&
      how.kind !== "odd" &&
      (method === "GET" || how.changes === false);
    let refused = 0;
    await leaks.unchanged(async () => {
      for (const target of Object.values(world.targets)) {
        for (const call of leaks.calls.filter(changes)) {
          const { reply } = await leaks.send(call, target, key);
          expect(reply.status, `${call.id}: ${reply.text}`).toBe(403);
          expect(detailOf(reply), call.id).toContain("is read-only");
          refused += 1;
        }
        for (const call of leaks.calls.filter((one) => reads(one) && !publicOperations.has(one.id))) {
          const { reply } = await leaks.send(call, target, key);
          expect(reply.status, `${call.id}: ${reply.text}`).toBe(200);
        }
      }
    });
    expect(refused).toBeGreaterThan(90);
  });
});

describe("visible, but not allowed", () => {
  it("is 403, changes nothing, and says what is needed", async () => {
    const { server, world } = leaks;
    const { ann } = world;
    const at = `/v1/repositories/${commons}/collections/shared`;
    await server.call("POST", `/v1/repositories/${commons}/collections`, {
      key: ann,
      body: { collection_id: "shared", name: "Shared" },
    });
    const site: Site = { server, key: ann, repository: commons, collection: "shared", at };
    const document = await sendAndSettle(site, "ann.txt", "by ann");
    const job = (await server.call("POST", `${at}:reindex`, { key: ann })).json["job_id"] as string;
    await until(async () => (await server.call("GET", `/v1/jobs/${job}`, { key: ann })).json["status"] === "succeeded");
    const ben = await server.key("w1", "ben");
    expect((await server.call("GET", at, { key: ben })).json).toMatchObject({ access: "WRITE" });
    const doc = `${at}/documents/${document["document_id"] as string}`;
    const calls: readonly (readonly [method: string, path: string, body?: Json])[] = [
      ["POST", "/v1/repositories", { repository_id: "bens" }],
      ["PATCH", `/v1/repositories/${commons}`, { description: "mine" }],
      ["DELETE", `/v1/repositories/${commons}?confirm=${commons}`],
      ["PATCH", at, { description: "mine" }],
      ["DELETE", `${at}?confirm=shared`],
      ["DELETE", `${at}?confirm=shared&purge=true`],
      ["POST", `${at}:archive`],
      ["POST", `${at}:unarchive`],
      ["POST", `${at}:restore`],
      ["POST", `${at}:reindex`],
      ["POST", `${at}:compact`],
      ["DELETE", doc],
      ["POST", `${at}/documents`, { name: "ANN.txt", text: "by ben", replace: true }],
      ["POST", `/v1/jobs/${job}:retry`],
      ["POST", `/v1/jobs/${job}:cancel`],
      ["POST", "/v1/search", { query: "x", as_user: { user_id: "root" } }],
      ["POST", "/v1/access:explain", { repository: commons, user: { user_id: "root" } }],
      ["POST", "/v1/keys", { user_id: "ben", role: "admin" }],
      ["GET", "/v1/keys"],
      ["DELETE", `/v1/keys/${world.targets.personal.kid}`],
    ];
    await leaks.unchanged(async () => {
      for (const [method, path, body] of calls) {
        const reply = await server.call(method, path, { key: ben, body });
        expect(reply.status, `${method} ${path}: ${reply.text}`).toBe(403);
        expect(reply.json, path).toMatchObject({
          code: "FORBIDDEN",
          retryable: false,
          status: 403,
          title: expect.any(String) as string,
        });
        expect((reply.json["detail"] as string).length, path).toBeGreaterThan(20);
        leaks.expectNothing(reply, `${path} ${job} ${document["document_id"] as string}`, path);
      }
    });
  });
});

describe("links", () => {
  it("a link acts for who asked for it, with the rights they have when it is used", async () => {
    const { server, world } = leaks;
    const { ann, boss } = world;
    const at = `/v1/repositories/${commons}/collections/lent`;
    await server.call("POST", `/v1/repositories/${commons}/collections`, {
      key: ann,
      body: { collection_id: "lent", name: "Lent" },
    });
    const document = await sendAndSettle(
      { server, key: ann, repository: commons, collection: "lent", at },
      "a.txt",
      "by ann",
    );
    const cy = await server.key("w1", "cy", { groups: ["visitors"] });
    const upload = (await server.call("POST", `${at}/uploads`, { key: cy, body: { name: "cy.txt" } })).json[
      "url"
    ] as string;
    const download = (
      await server.call("GET", `${at}/documents/${document["document_id"] as string}/download`, { key: cy })
    ).json["url"] as string;
    expect((await server.call("GET", download)).text).toBe("by ann");
    await server.call("PATCH", at, { key: boss, body: { allowed_groups: [group] } });
    const refused = await server.call("GET", download);
    expect(refused.status).toBe(404);
    expect(refused.text).not.toContain("by ann");
    expect((await server.call("PUT", upload, { body: "late", headers: { "content-type": "text/plain" } })).status).toBe(
      404,
    );
    expect((await server.call("GET", `${at}/documents`, { key: boss })).json["items"]).toHaveLength(1);
  });
});
