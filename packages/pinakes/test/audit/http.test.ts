/** Audits over HTTP. */
import { beforeAll, expect, it } from "vitest";
import { auditLimits } from "../../src/knowledge/index.ts";
import { until } from "../support/until.ts";
import { newSite, openTestServer, type Json } from "../http/support/server.ts";
import { forAllTests } from "../support/for-tests.ts";

let key: string;
const server = forAllTests(() => openTestServer());
beforeAll(async () => {
  key = await server.key("w1", "boss", { role: "admin" });
});

async function fsck(body?: object): Promise<Json> {
  const begun = await server.call("POST", "/v1/fsck", { key, ...(body === undefined ? {} : { body }) });
  expect(begun).toMatchObject({ status: 202, json: { kind: "fsck" } });
  const job = await until(async () => {
    const { json } = await server.call("GET", begun.headers.get("location") as string, { key });
    return json["status"] === "succeeded" ? json : undefined;
  });
  return job;
}

it("R-TG-54 an admin starts one and gets a job whose result is the report; others are refused", async () => {
  await newSite(server, key);
  const job = await fsck();
  expect(job["result"]).toMatchObject({ found: 0, left: 0, repair: false, deep: false, checked: { repositories: 1 } });
  const user = await server.key("w1", "ann", { role: "user" });
  expect((await server.call("POST", "/v1/fsck", { key: user })).status).toBe(403);
  expect((await server.call("GET", `/v1/fsck/${String(job["job_id"])}/findings`, { key: user })).status).toBe(403);
  // Users cannot see the job of an audit either.
  expect((await server.call("GET", `/v1/jobs/${String(job["job_id"])}`, { key: user })).status).toBe(404);
  expect((await server.call("GET", "/v1/jobs", { key: user })).json["items"]).toEqual([]);
  expect((await server.call("POST", "/v1/fsck", { key, body: { repository: "nowhere" } })).status).toBe(404);
  expect((await server.call("POST", "/v1/fsck", { key, body: { collection: "x" } })).status).toBe(400);
  expect((await server.call("POST", "/v1/fsck", { key, body: { mend: true } })).status).toBe(400);
});

it("all findings are available, even if the job lists only the first; a repair fixes them", async () => {
  const site = await newSite(server, key);
  const { json } = await server.call("GET", site.at, { key });
  const { scope } = server.pinakes.as({ tenant: "w1", userId: "boss", role: "admin" });
  const many = auditLimits.findingsInJobMax + 1;
  for (let i = 0; i < many; i += 1)
    await server.pinakes.objects.put(
      scope,
      `knowledge/${String(json["incarnation"])}/d${i}/1/content`,
      Buffer.from("x"),
    );
  server.later(auditLimits.objectYoungMs);
  // More unnamed files than named ones: refused unless forced.
  const refused = (await fsck({ repair: true, deep: true }))["result"];
  expect(refused).toMatchObject({ found: many, left: many, refused: [{ kinds: ["object_without_record"] }] });
  const job = await fsck({ repair: true, deep: true, force_missing: true });
  expect(job["result"]).toMatchObject({
    found: many,
    left: 0,
    truncated: true,
    summary: { object_without_record: { found: many, repaired: many } },
  });
  const all = await server.call("GET", `/v1/fsck/${String(job["job_id"])}/findings`, { key });
  expect(all.status).toBe(200);
  expect(all.json["items"]).toHaveLength(many);
  expect((await fsck())["result"]).toMatchObject({ found: 0, findings: [] });
});

it("what a repair removed is listed, restored and dropped by admins of the workspace", async () => {
  const site = await newSite(server, key);
  const { json } = await server.call("GET", site.at, { key });
  const { scope } = server.pinakes.as({ tenant: "w1", userId: "boss", role: "admin" });
  const target = `knowledge/${String(json["incarnation"])}/stray/1/content`;
  await server.pinakes.objects.put(scope, target, Buffer.from("stray"));
  server.later(auditLimits.objectYoungMs);
  expect((await fsck({ repository: site.repository, repair: true }))["result"]).toMatchObject({
    left: 0,
    quarantined: 1,
  });
  const query = `?repository=${site.repository}&collection=${site.collection}`;
  const { json: page } = await server.call("GET", `/v1/quarantine${query}`, { key });
  expect(page).toMatchObject({
    items: [{ kind: "object", target, collection_id: site.collection }],
    next_cursor: null,
  });
  const at = `/v1/quarantine/${String((page["items"] as readonly Json[])[0]?.["entry_id"])}`;
  expect((await server.call("GET", at, { key })).json).toMatchObject({ target, restored_at: null });
  expect(await server.call("POST", `${at}:restore`, { key })).toMatchObject({
    status: 200,
    json: { restored_at: expect.any(String) as string },
  });
  expect(await server.pinakes.objects.head(scope, target)).toBeDefined();
  await server.pinakes.objects.put(scope, target, Buffer.from("newer"));
  expect(await server.call("POST", `${at}:restore`, { key })).toMatchObject({
    status: 409,
    json: { detail: expect.stringContaining("Another file") as string },
  });
  const user = await server.key("w1", "ann", { role: "user" });
  const reader = await server.key("w1", "boss", { role: "admin", scopes: ["read"] });
  for (const [method, path] of [
    ["GET", "/v1/quarantine"],
    ["GET", at],
    ["POST", `${at}:restore`],
    ["DELETE", at],
  ] as const)
    expect((await server.call(method, path, { key: user })).status, `${method} ${path}`).toBe(403);
  expect((await server.call("POST", `${at}:restore`, { key: reader })).status).toBe(403);
  expect((await server.call("DELETE", at, { key: reader })).status).toBe(403);
  expect((await server.call("DELETE", at, { key })).status).toBe(204);
  expect((await server.call("DELETE", at, { key })).status).toBe(404);
});
