/** Everything held about a subject as archives: what is in them, what is not, and how long they are kept. */
import { createHash, randomBytes } from "node:crypto";
import { strFromU8, unzipSync } from "fflate";
import { describe, expect, it } from "vitest";
import type { SubjectExport } from "@pinakes/client";
import { failure } from "../../src/testing/item-store/fixture.ts";
import { knowledgeEngines } from "../knowledge/support/knowledge-engines.ts";
import { body, newPlace, openTestPinakes, uploaded, type TestPinakes } from "../knowledge/support/test-pinakes.ts";
import { openTestServer } from "../http/support/server.ts";
import { until } from "../support/until.ts";

async function remember(test: TestPinakes, user: string, content: string, tenant = "acme") {
  await test.pinakes.state.memories.append(test.as(user, { tenant }), {
    agent_id: "helper",
    session_id: `s-${user}`,
    message_type: "user",
    content,
    metadata: { user_id: user },
  });
}

async function exported(test: TestPinakes, subject: object) {
  const exports = test.pinakes.governance.subjectExports;
  const { export_id } = await exports.request(test.admin, { subject: subject as never });
  return until(async () => {
    const found = await exports.get(test.admin, export_id);
    return found.state === "ready" || found.state === "failed" ? found : undefined;
  });
}

async function bytesOf(stream: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** All files of all parts, after the hashes of parts and files were compared. */
async function opened(test: TestPinakes, { export_id, parts }: SubjectExport): Promise<Map<string, Uint8Array>> {
  const files = new Map<string, Uint8Array>();
  for (const { part, bytes, sha256 } of parts) {
    const zip = await bytesOf((await test.pinakes.governance.subjectExports.part(test.admin, export_id, part)).body);
    expect([zip.length, createHash("sha256").update(zip).digest("hex")]).toEqual([bytes, sha256]);
    for (const [name, content] of Object.entries(unzipSync(zip))) {
      expect(files.has(name), name).toBe(false);
      files.set(name, content);
    }
  }
  const manifest = JSON.parse(strFromU8(files.get("manifest.json") as Uint8Array)) as {
    readonly files: readonly { readonly name: string; readonly bytes: number; readonly sha256: string }[];
  };
  expect(manifest.files.map(({ name }) => name).toSorted()).toEqual(
    [...files.keys()].filter((name) => name !== "manifest.json").toSorted(),
  );
  for (const { name, bytes, sha256 } of manifest.files) {
    const content = files.get(name) as Uint8Array;
    expect([content.length, createHash("sha256").update(content).digest("hex")], name).toEqual([bytes, sha256]);
  }
  return files;
}

function text(files: Map<string, Uint8Array>): string {
  return [...files.values()].map((content) => strFromU8(content)).join("\n");
}

function lines(files: Map<string, Uint8Array>, container: string): readonly Record<string, unknown>[] {
  const content = files.get(`rows/${container}.ndjson`);
  return content === undefined
    ? []
    : strFromU8(content)
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line) as Record<string, unknown>);
}

const rootToken = "root-token-of-a-test-0123456789";

describe.each(knowledgeEngines())("subject exports on %s", (_, openOn) => {
  it("R-AGT-71 has every row, file and text of a user, the mentions in rows of others, and nothing else of others", async () => {
    await using test = await openOn({ rootToken });
    const place = await newPlace(test);
    const [erin, otto] = ["erin", "otto"].map((user) => ({ ...place, caller: test.as(user, { role: "admin" }) })) as [
      typeof place,
      typeof place,
    ];
    const hers = await uploaded(erin, "hers.txt", "Erin's zircon report.");
    await uploaded(otto, "his.txt", "Otto's quartz report.");
    await remember(test, "erin", "Erin likes figs.");
    await remember(test, "otto", "Otto likes plums.");
    const { state, identity } = test.pinakes;
    const shared = await state.workflows.create(test.as("otto"), {
      type: "sequential",
      name: "Otto's secret plan",
      total_steps: 2,
    });
    await state.workflows.checkpoint(test.as("otto"), shared.workflow_id, {
      step: 1,
      state: { private: "Otto alone", asked_by: { user_id: "erin", question: "Erin's question" } },
    });
    const root = await identity.authenticate({ bearer: rootToken, safeMethod: false });
    const key = await identity.keys.create(root, { user_id: "erin", workspace_id: "acme" });
    const done = await exported(test, { type: "user", id: "erin" });
    expect(done).toMatchObject({ state: "ready", error: null, subject: { type: "user", id: "erin" } });
    const files = await opened(test, done);
    const at = `documents/${place.repository}/${place.collection}/${hers.document_id}/1/`;
    expect(strFromU8(files.get(`${at}hers.txt`) as Uint8Array)).toBe("Erin's zircon report.");
    expect(files.has(`${at}text.json`)).toBe(true);
    expect(lines(files, "agent-memories")).toMatchObject([{ own: true, document: { content: "Erin likes figs." } }]);
    expect(lines(files, "documents")).toMatchObject([{ own: true, document: { name: "hers.txt" } }]);
    expect(lines(files, "workflow-states")).toMatchObject([
      { own: false, mentions: [{ value: { user_id: "erin", question: "Erin's question" } }] },
    ]);
    expect(lines(files, "identity-keys")).toMatchObject([{ own: true, document: { user_id: "erin" } }]);
    const all = text(files);
    for (const foreign of ["quartz", "plums", "secret plan", "Otto alone", "secret_sha256", key.key])
      expect(all, foreign).not.toContain(foreign);
    expect(done.rows.find(({ store }) => store === "workflow-states")).toEqual({
      store: "workflow-states",
      own: 0,
      mentions: 1,
    });
  });
});

describe("subject exports", () => {
  const exportsOf = (test: TestPinakes) => test.pinakes.governance.subjectExports;

  it("R-AGT-71 continues in further parts, and a download continues at any byte", async () => {
    await using test = await openTestPinakes("memory", { subjectExportPartBytes: 20_000 });
    await remember(test, "erin", "Figs.");
    for (let i = 0; i < 6; i += 1)
      await test.pinakes.knowledge.files.create(test.as("erin"), {
        filename: `${i}.txt`,
        body: body(randomBytes(30_000)),
        settings: async () => ({ purpose: "user_data" }),
      });
    const done = await exported(test, { type: "user", id: "erin" });
    expect(done.parts.length).toBeGreaterThan(2);
    expect([...(await opened(test, done)).keys()].filter((name) => name.startsWith("files/"))).toHaveLength(6);
    const whole = await bytesOf((await exportsOf(test).part(test.admin, done.export_id, 1)).body);
    for (const start of [0, 1, 10_000, whole.length - 1]) {
      const rest = await exportsOf(test).part(test.admin, done.export_id, 1, { start });
      expect((await bytesOf(rest.body)).equals(whole.subarray(start)), String(start)).toBe(true);
    }
    await failure(exportsOf(test).part(test.admin, done.export_id, done.parts.length + 1), "NOT_FOUND");
  });

  it("an agent, a session, documents and the workspace are subjects, too", async () => {
    await using test = await openTestPinakes("memory", {});
    const place = await newPlace(test);
    const { document_id } = await uploaded(place, "a.txt", "Alpha.");
    await uploaded(place, "b.txt", "Beta.");
    await remember(test, "erin", "Figs.");
    const { repository, collection } = place;
    const subjects = [
      [{ type: "agent", id: "helper" }, "Figs.", "Alpha."],
      [{ type: "session", id: "s-erin" }, "Figs.", "Alpha."],
      [
        { type: "documents", repository_id: repository, collection_id: collection, document_ids: [document_id] },
        "Alpha.",
        "Beta.",
      ],
      [{ type: "workspace", id: "acme" }, "Beta.", undefined],
    ] as const;
    for (const [subject, has, hasNot] of subjects) {
      const all = text(await opened(test, await exported(test, subject)));
      expect(all, subject.type).toContain(has);
      if (hasNot !== undefined) expect(all, subject.type).not.toContain(hasNot);
    }
  });

  it("R-AGT-09 only admins of the workspace may ask; another workspace's export is not found, and its subject is unknown", async () => {
    await using test = await openTestPinakes("memory", {});
    await remember(test, "erin", "Figs.");
    const foreign = test.as("root", { tenant: "other", role: "admin" });
    await failure(exportsOf(test).request(foreign, { subject: { type: "user", id: "erin" } }), "NOT_FOUND");
    await failure(exportsOf(test).request(foreign, { subject: { type: "workspace", id: "acme" } }), "NOT_FOUND");
    await failure(exportsOf(test).request(test.as("erin"), { subject: { type: "user", id: "erin" } }), "FORBIDDEN");
    const { export_id } = await exported(test, { type: "user", id: "erin" });
    for (const call of [
      () => exportsOf(test).get(foreign, export_id),
      () => exportsOf(test).part(foreign, export_id, 1),
      () => exportsOf(test).delete(foreign, export_id),
    ])
      expect((await failure(call(), "NOT_FOUND")).message.replaceAll(export_id, "x")).toBe(
        (await failure(exportsOf(test).get(foreign, "never"), "NOT_FOUND")).message.replaceAll("never", "x"),
      );
    expect((await exportsOf(test).list(foreign)).items).toEqual([]);
    expect((await exportsOf(test).list(test.admin)).items).toHaveLength(1);
  });

  it("refuses wildcards, empty ids and unknown subjects; 20 exports are kept, one more is refused", async () => {
    await using test = await openTestPinakes("memory", {});
    await remember(test, "erin", "Figs.");
    for (const id of ["", "*", " ", undefined])
      await failure(exportsOf(test).request(test.admin, { subject: { type: "user", id } as never }), "INVALID");
    await failure(exportsOf(test).request(test.admin, { subject: { type: "user", id: "nobody" } }), "NOT_FOUND");
    const made: string[] = [];
    for (let i = 0; i < 20; i += 1) made.push((await exported(test, { type: "user", id: "erin" })).export_id);
    await failure(exportsOf(test).request(test.admin, { subject: { type: "user", id: "erin" } }), "LIMIT_EXCEEDED");
    await exportsOf(test).delete(test.admin, made[0] as string);
    await failure(exportsOf(test).part(test.admin, made[0] as string, 1), "NOT_FOUND");
    await exported(test, { type: "user", id: "erin" });
  });

  it("expires after a week with its archives, and an erasure of the subject removes both", async () => {
    let ahead = 0;
    await using test = await openTestPinakes("memory", {
      clock: { now: () => Date.now() + ahead },
      erasureFenceMs: 0,
    });
    const archives = async () => {
      const found = await test.pinakes.objects.list(test.pinakes.as({ tenant: "acme", userId: "x" }).scope, "");
      return found.keys;
    };
    await remember(test, "erin", "Figs.");
    const first = await exported(test, { type: "user", id: "erin" });
    ahead = 8 * 86_400_000;
    await failure(exportsOf(test).get(test.admin, first.export_id), "NOT_FOUND");
    expect(await exportsOf(test).sweep(new AbortController().signal)).toBe(1);
    const second = await exported(test, { type: "user", id: "erin" });
    const { erasure_id } = await test.pinakes.governance.erasures.request(test.admin, {
      subject: { type: "user", id: "erin" },
    });
    expect(await test.pinakes.governance.erasures.wait(test.admin, erasure_id)).toMatchObject({ state: "done_live" });
    await failure(exportsOf(test).get(test.admin, second.export_id), "NOT_FOUND");
    // The erasure removed its archive before it counted.
    expect(await exportsOf(test).sweep(new AbortController().signal)).toBe(0);
    expect(await archives()).toEqual([]);
  });
});

describe("over HTTP", () => {
  it("R-AGT-71 asked for, waited for, downloaded in two pieces and removed; R-AGT-09 not found from another workspace", async () => {
    await using server = await openTestServer("memory");
    const admin = await server.key("w1", "ada", { role: "admin" });
    const foreign = await server.key("w2", "eve", { role: "admin" });
    await server.call("POST", "/v1/threads/t1/messages", { key: admin, body: { text: "figs", user_id: "erin" } });
    const asked = { subject: { type: "user", id: "erin" } };
    expect(await server.call("POST", "/v1/subjects:export", { key: foreign, body: asked })).toMatchObject({
      status: 404,
    });
    const started = await server.call("POST", "/v1/subjects:export", { key: admin, body: asked });
    expect(started.status).toBe(202);
    const at = started.headers.get("location") as string;
    const { parts } = await until(async () => {
      const { json } = await server.call("GET", at, { key: admin });
      return json["state"] === "ready" ? (json as unknown as SubjectExport) : undefined;
    });
    const part = (headers: Record<string, string> = {}, key = admin, number: number | string = 1) =>
      server.raw("GET", `${at}/parts/${number}`, { key, headers });
    const whole = Buffer.from(await (await part()).arrayBuffer());
    expect([whole.length, createHash("sha256").update(whole).digest("hex")]).toEqual([
      parts[0]?.bytes,
      parts[0]?.sha256,
    ]);
    const [head, rest] = [await part({ range: "bytes=0-9" }), await part({ range: "bytes=10-" })];
    expect([head.status, head.headers.get("content-range")]).toEqual([206, `bytes 0-9/${whole.length}`]);
    const joined = Buffer.concat(
      [await head.arrayBuffer(), await rest.arrayBuffer()].map((bytes) => Buffer.from(bytes)),
    );
    expect(joined.equals(whole)).toBe(true);
    expect(strFromU8(unzipSync(whole)["rows/thread-message-store.ndjson"] as Uint8Array)).toContain("figs");
    const last = await part({ range: `bytes=${whole.length - 1}-` });
    expect([last.status, (await last.arrayBuffer()).byteLength]).toEqual([206, 1]);
    for (const range of [`bytes=${whole.length}-`, "bytes=5-4", "bytes=-5", "items=0-1", "bytes=0-1,3-4"])
      expect((await part({ range })).status, range).toBe(416);
    for (const number of ["0", "x", "-1", "1.5"]) expect((await part({}, admin, number)).status, number).toBe(400);
    expect((await part({}, admin, 2)).status).toBe(404);
    const never = `/v1/subject-exports/${"0".repeat(8)}`;
    for (const path of [at, never]) expect((await server.call("GET", path, { key: foreign })).status).toBe(404);
    expect((await part({}, foreign)).status).toBe(404);
    expect((await server.call("DELETE", at, { key: foreign })).status).toBe(404);
    expect((await server.call("DELETE", at, { key: admin })).status).toBe(204);
    expect((await part()).status).toBe(404);
  });
});
