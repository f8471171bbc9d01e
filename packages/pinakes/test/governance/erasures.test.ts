/** What an erasure accepts, what it leaves alone, and what stops it. */
import { describe, expect, it } from "vitest";
import { failure } from "../../src/testing/item-store/fixture.ts";
import { verifyReceipts } from "../../src/governance/index.ts";
import { newPlace, openTestPinakes, uploaded } from "../knowledge/support/test-pinakes.ts";
import { forEachTest } from "../support/for-tests.ts";

const test = forEachTest(() => openTestPinakes("memory", { erasureFenceMs: 0 }));

const erasures = () => test.pinakes.governance.erasures;
const holds = () => test.pinakes.governance.holds;

async function remember(user: string, content: string, session = `s-${user}`, tenant = "acme") {
  return test.pinakes.state.memories.append(test.as(user, { tenant }), {
    agent_id: "helper",
    session_id: session,
    message_type: "user",
    content,
    metadata: { user_id: user },
  });
}

async function memories(tenant = "acme"): Promise<readonly string[]> {
  const page = await test.pinakes.state.memories.list(test.as("root", { tenant }), "helper", { limit: 100 });
  return page.items.map(({ content }) => content);
}

async function erase(id: string, type = "user") {
  const { erasure_id } = await erasures().request(test.admin, { subject: { type, id } as never });
  return erasures().wait(test.admin, erasure_id);
}

describe("requests", () => {
  it("R-AGT-67 empty ids, wildcards and unknown subjects are refused, and nothing is erased", async () => {
    await remember("erin", "hello");
    for (const id of ["", " ", "*", "**", "%", undefined, 7, {}])
      await failure(erasures().request(test.admin, { subject: { type: "user", id } as never }), "INVALID");
    await failure(erasures().request(test.admin, { subject: { type: "everybody", id: "erin" } as never }), "INVALID");
    await failure(erasures().request(test.admin, { subject: { type: "user", id: "nobody" } }), "NOT_FOUND");
    await failure(
      erasures().request(test.admin, { subject: { type: "user", id: "nobody" }, dry_run: true }),
      "NOT_FOUND",
    );
    await failure(
      erasures().request(test.admin, { subject: { type: "user", id: "erin" }, paths: ["$..*"] }),
      "INVALID",
    );
    expect(await memories()).toEqual(["hello"]);
    expect((await erasures().list(test.admin)).items).toEqual([]);
  });

  it("R-AGT-67 a subject in another workspace is unknown, and only admins may ask", async () => {
    await remember("erin", "theirs", "s", "other");
    await failure(erasures().request(test.admin, { subject: { type: "user", id: "erin" } }), "NOT_FOUND");
    await failure(
      erasures().request(test.admin, { subject: { type: "user", id: "erin" }, workspaces: ["other"] }),
      "NOT_FOUND",
    );
    await failure(erasures().request(test.admin, { subject: { type: "workspace", id: "other" } }), "NOT_FOUND");
    await failure(erasures().request(test.as("erin"), { subject: { type: "user", id: "erin" } }), "FORBIDDEN");
    expect(await memories("other")).toEqual(["theirs"]);
  });

  it("R-AGT-65 the root token erases a user in all workspaces that it names", async () => {
    await remember("erin", "here");
    await remember("erin", "there", "s", "other");
    await remember("erin", "kept", "s", "third");
    const { erasure_id } = await erasures().request(
      test.admin,
      { subject: { type: "user", id: "erin" }, workspaces: ["acme", "other"] },
      { mayTouchAll: true },
    );
    expect(await erasures().wait(test.admin, erasure_id)).toMatchObject({ state: "done_live" });
    expect([await memories(), await memories("other"), await memories("third")]).toEqual([[], [], ["kept"]]);
    const foreign = test.as("root", { tenant: "other", role: "admin" });
    await failure(erasures().get(foreign, erasure_id), "NOT_FOUND");
    await failure(erasures().receipt(foreign, erasure_id), "NOT_FOUND");
  });

  it("R-AGT-65 paths of the request name the subject, too", async () => {
    await test.pinakes.state.threads.append(test.admin, "t1", { author: { id: "erin" }, text: "hers" });
    await test.pinakes.state.threads.append(test.admin, "t1", { author: { id: "otto" }, text: "his" });
    await failure(erasures().request(test.admin, { subject: { type: "user", id: "erin" } }), "NOT_FOUND");
    const { erasure_id } = await erasures().request(test.admin, {
      subject: { type: "user", id: "erin" },
      paths: ["author.id"],
    });
    await erasures().wait(test.admin, erasure_id);
    const { items } = await test.pinakes.state.threads.list(test.admin, "t1");
    expect(items.map(({ text }) => text)).toEqual(["his"]);
  });

  it("R-AGT-67 repeating an erasure that is done finds nothing and ends in the same state", async () => {
    await remember("erin", "hello");
    await remember("otto", "stays");
    expect(await erase("erin")).toMatchObject({ state: "done_live" });
    const again = await erase("erin");
    expect(again).toMatchObject({ state: "done_live" });
    expect(again.stores.reduce((sum, one) => sum + one.found + one.deleted, 0)).toBe(0);
    expect(await memories()).toEqual(["stays"]);
  });
});

describe("what is erased", () => {
  it("R-AGT-64 a workspace: every row and file of it, and nothing of another", async () => {
    const place = await newPlace(test);
    await uploaded(place, "a.md", "# A\n\nIn the workspace.");
    await remember("erin", "hello");
    await remember("otto", "elsewhere", "s", "other");
    await failure(erasures().request(test.admin, { subject: { type: "workspace", id: "acm" } }), "NOT_FOUND");
    const { erasure_id } = await erasures().request(test.admin, { subject: { type: "workspace", id: "acme" } });
    expect(await erasures().wait(test.admin, erasure_id)).toMatchObject({ state: "done_live" });
    const system = test.admin.scope;
    expect((await test.pinakes.objects.list(system, "")).keys).toEqual([]);
    expect(await memories()).toEqual([]);
    expect(await memories("other")).toEqual(["elsewhere"]);
    expect((await test.knowledge.repositories.list(test.admin)).items).toEqual([]);
    // The name can be used again.
    await remember("erin", "new");
    expect(await memories()).toEqual(["new"]);
  });

  it("R-AGT-64 agents and sessions: what they are part of, and not what mentions them", async () => {
    await remember("erin", "one", "s1");
    await remember("erin", "two", "s2");
    await remember("otto", "session s1 was nice", "s3");
    expect(await erase("s1", "session")).toMatchObject({ state: "done_live" });
    expect((await memories()).toSorted()).toEqual(["session s1 was nice", "two"]);
    expect(await erase("helper", "agent")).toMatchObject({ state: "done_live" });
    expect(await memories()).toEqual([]);
  });

  it("documents by their ids: with their chunks, and others of the collection stay", async () => {
    const place = await newPlace(test);
    const [first, second] = [
      await uploaded(place, "a.md", "# A\n\nErase this one."),
      await uploaded(place, "b.md", "# B\n\nKeep this one."),
    ];
    const subject = (ids: readonly string[]) => ({
      subject: {
        type: "documents" as const,
        repository_id: place.repository,
        collection_id: place.collection,
        document_ids: ids,
      },
    });
    await failure(erasures().request(test.admin, subject([])), "INVALID");
    await failure(erasures().request(test.admin, subject(["*"])), "INVALID");
    await failure(erasures().request(test.admin, subject(["no-such-document"])), "NOT_FOUND");
    const { erasure_id } = await erasures().request(test.admin, subject([first.document_id]));
    expect(await erasures().wait(test.admin, erasure_id)).toMatchObject({ state: "done_live" });
    const { items } = await test.knowledge.documents.list(test.admin, place.repository, place.collection, {});
    expect(items.map(({ document_id }) => document_id)).toEqual([second.document_id]);
  });

  it("documents of the user in a collection in the trash go, and the collection can still be restored", async () => {
    const place = await newPlace(test);
    await uploaded({ ...place, caller: test.as("erin", { role: "admin" }) }, "a.md", "# A\n\nBy Erin.");
    const kept = await uploaded(place, "b.md", "# B\n\nBy the admin.");
    await test.knowledge.collections.delete(test.admin, place.repository, place.collection);
    expect(await erase("erin")).toMatchObject({ state: "done_live" });
    await test.knowledge.collections.restore(test.admin, place.repository, place.collection, { wait: true } as never);
    const { items } = await test.knowledge.documents.list(test.admin, place.repository, place.collection, {});
    expect(items.map(({ document_id }) => document_id)).toEqual([kept.document_id]);
  });

  it("a workflow of another that holds messages of the user is redacted, not deleted", async () => {
    const { workflows } = test.pinakes.state;
    const flow = await workflows.create(test.as("otto"), {
      type: "sequential",
      name: "of otto",
      total_steps: 1,
      metadata: { created_by: "otto" },
    } as never);
    const messages = [
      { user_id: "erin", content: "secret" },
      { user_id: "otto", content: "mine" },
    ];
    await workflows.checkpoint(test.as("otto"), flow.workflow_id, { step: 1, state: { messages } });
    const done = await erase("erin");
    expect(done.stores.find(({ store }) => store === "workflow-states")).toMatchObject({ redacted: 1, deleted: 0 });
    const { state } = (await workflows.resume(test.as("otto"), flow.workflow_id, { owner: "w" })) as never;
    expect(state).toEqual({ messages: [{ erased: true }, { user_id: "otto", content: "mine" }] });
  });

  it("R-AGT-64 entries of a hash chain that stay still verify", async () => {
    const { tools } = test.pinakes.state;
    const call = (user: string, n: number) => ({
      tool_name: "search",
      agent_id: "helper",
      session_id: `s-${user}`,
      timestamp: `2026-11-19T08:00:0${n}.000Z`,
      status: "success",
      duration_ms: n,
      security_context: { user_id: user },
    });
    await tools.putSettings(test.admin, { hash_chain: true });
    for (const [n, user] of ["otto", "erin", "otto", "erin"].entries())
      await tools.ingest(test.admin, [call(user, n) as never]);
    await erase("erin");
    expect(await tools.verifyChain(test.admin, "2026-11-19")).toMatchObject({ intact: true, entries: 4 });
    const { items } = await tools.list(test.admin, {});
    expect(items.map(({ duration_ms }) => duration_ms).toSorted()).toEqual([0, 2]);
  });
});

describe("writes beside an erasure", () => {
  it("R-AGT-67 what names the subject is refused while it is being erased, and accepted afterwards", async () => {
    await remember("erin", "hello");
    const { erasure_id } = await erasures().request(test.admin, { subject: { type: "user", id: "erin" } });
    const during = await remember("erin", "late").then(
      () => "accepted",
      (error: { code: string }) => error.code,
    );
    await remember("otto", "beside");
    await erasures().wait(test.admin, erasure_id);
    expect(["CONFLICT", "accepted"]).toContain(during);
    expect(await memories()).toEqual(["beside"]);
    await remember("erin", "new");
    expect((await memories()).toSorted()).toEqual(["beside", "new"]);
  });
});

describe("receipts", () => {
  it("R-AGT-68 form a chain that verifies offline; a flipped byte, a missing and a foreign one are noticed", async () => {
    for (const user of ["a1", "b1", "c1"]) {
      await remember(user, user);
      await erase(user);
    }
    const { items } = await erasures().receipts(test.admin);
    const key = items[0]?.public_key as string;
    const jws = items.map((one) => one.jws);
    expect(verifyReceipts(jws, key)).toMatchObject({ receipts: 3, valid: true });
    for (let i = 0; i < 3; i += 1) expect(items[i]?.content).toMatchObject({ sequence: i + 1 });
    const [first = "", second = "", third = ""] = jws;
    for (let at = 0; at < second.length; at += 1) {
      const flipped = second.slice(0, at) + (second[at] === "A" ? "B" : "A") + second.slice(at + 1);
      expect(verifyReceipts([flipped], key).valid, `byte ${at}`).toBe(false);
    }
    expect(verifyReceipts([first, third], key).findings[0]?.reason).toContain("missing");
    await using other = await openTestPinakes("memory", { erasureFenceMs: 0 });
    await other.pinakes.state.threads.append(other.admin, "t", { user_id: "x1" });
    const request = await other.pinakes.governance.erasures.request(other.admin, {
      subject: { type: "user", id: "x1" },
    });
    await other.pinakes.governance.erasures.wait(other.admin, request.erasure_id);
    const foreign = await other.pinakes.governance.erasures.receipt(other.admin, request.erasure_id);
    expect(verifyReceipts([foreign.jws], key).findings[0]?.reason).toContain("another instance");
  });

  it("R-AGT-68 an erasure can be counted again by whoever knows its subject", async () => {
    await remember("erin", "hello");
    const { erasure_id } = await erase("erin");
    const subject = { type: "user", id: "erin" } as const;
    expect(await erasures().verify(test.admin, erasure_id, subject)).toMatchObject({
      remaining: 0,
      receipt: { valid: true, reason: null },
    });
    await failure(erasures().verify(test.admin, erasure_id, { type: "user", id: "otto" }), "INVALID");
    await remember("erin", "back");
    expect((await erasures().verify(test.admin, erasure_id, subject)).remaining).toBeGreaterThan(0);
  });
});

describe("legal holds", () => {
  it("R-AGT-69 stop an erasure, are in its receipt, and a release starts it again", async () => {
    await remember("erin", "kept by the hold", "s1");
    await remember("erin", "goes", "s2");
    const hold = await holds().create(test.admin, { scope: { type: "session", id: "s1" }, reason: "case 7" });
    expect(hold.matched).toBeGreaterThan(0);
    const held = await erase("erin");
    expect(held).toMatchObject({ state: "held", holds: [hold.hold_id] });
    expect(await memories()).toEqual(["kept by the hold"]);
    const receipt = await erasures().receipt(test.admin, held.erasure_id);
    expect(receipt.content).toMatchObject({ state: "held", holds: [hold.hold_id] });
    await holds().release(test.admin, hold.hold_id);
    const done = await erasures().wait(test.admin, held.erasure_id);
    expect(done).toMatchObject({ state: "done_live", holds: [] });
    expect(await memories()).toEqual([]);
    const { items } = await erasures().receipts(test.admin);
    expect(
      verifyReceipts(
        items.map(({ jws }) => jws),
        items[0]?.public_key as string,
      ),
    ).toMatchObject({
      receipts: 2,
      valid: true,
    });
  });

  it("R-AGT-69 one that matches nothing, or is no hold, is refused", async () => {
    await remember("erin", "hello");
    const create = (scope: object, reason = "case") => holds().create(test.admin, { scope: scope as never, reason });
    await failure(create({ type: "user", id: "nobody" }), "NOT_FOUND");
    await failure(create({ type: "user", id: "*" }), "INVALID");
    await failure(create({ type: "user", id: "" }), "INVALID");
    await failure(create({ type: "moon" }), "INVALID");
    await failure(create({ type: "query", container: "agent-memories" }), "INVALID");
    await failure(create({ type: "query", container: "no-such", filter: { a: 1 } }), "NOT_FOUND");
    await failure(create({ type: "user", id: "erin" }, " "), "INVALID");
    await failure(holds().create(test.as("erin"), { scope: { type: "user", id: "erin" }, reason: "x" }), "FORBIDDEN");
    await failure(holds().release(test.admin, "no-such-hold"), "NOT_FOUND");
    expect(await holds().list(test.admin)).toEqual([]);
    const hold = await create({ type: "query", container: "agent-memories", filter: { content: "hello" } });
    expect(hold.matched).toBe(1);
    const foreign = test.as("root", { tenant: "other", role: "admin" });
    await failure(holds().get(foreign, hold.hold_id), "NOT_FOUND");
    await failure(holds().release(foreign, hold.hold_id), "NOT_FOUND");
  });

  it("R-AGT-69 a query holds documents of the workspace's own containers, by the name that the workspace uses", async () => {
    const { containers } = test.pinakes.state;
    await containers.put(test.admin, "orders", { partition_key: "/owner" });
    await containers.create(test.admin, "orders", { id: "1", owner: "acme", user_id: "erin" });
    await containers.create(test.admin, "orders", { id: "2", owner: "else", user_id: "erin" });
    const scope = { type: "query", container: "orders", filter: { owner: "acme" } } as const;
    const hold = await holds().create(test.admin, { scope, reason: "case 9" });
    expect(hold).toMatchObject({ matched: 1, scope });
    expect(await holds().list(test.admin)).toEqual([hold]);
    expect(await erase("erin")).toMatchObject({ state: "held" });
    const { items } = await containers.query(test.admin, "orders", { query: "SELECT c.id FROM c" });
    expect(items).toEqual([{ id: "1" }]);
  });
});
