/** The containers of threads and entities: documents of any shape with the rules of every other container, erasure included. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/domain/json.ts";
import { failure } from "../../src/testing/item-store/fixture.ts";
import { openTestPinakes, type TestPinakes } from "../knowledge/support/test-pinakes.ts";

let test: TestPinakes;
let offsetMs: number;
beforeEach(async () => {
  offsetMs = 0;
  const clock = { now: () => Date.now() + offsetMs };
  test = await openTestPinakes("memory", { erasureFenceMs: 0, clock });
});
afterEach(() => test[Symbol.asyncDispose]());

/** Documents as systems wrote them before there was a schema. */
const old: readonly JsonObject[] = [
  {
    id: "m1",
    role: "user",
    content: [{ type: "text", text: "hi", deep: [[{ a: null }], 1.5e300] }],
    "key with space": "",
  },
  { id: "m2", createdAt: "yesterday", score: -0.5, ok: false, none: null, list: [], empty: {}, ttl: 2_147_483_647 },
  { id: "M 3 ü 日本", _custom: { nested: { "a.b/c": [true] } } },
];

describe.each([
  ["thread-message-store", "threadId", "session"],
  ["system-thread-message-store", "threadId", "session"],
  ["agent-entity-store", "agentId", "agent"],
])("%s", (name, field, type) => {
  const containers = () => test.pinakes.state.containers;
  const ids = async () =>
    (await containers().query(test.admin, name, { query: "SELECT VALUE c.id FROM c" })).items.toSorted();

  it("R-AGT-45 takes documents of any shape, with or without a workspace, and reads them back unchanged", async () => {
    for (const [i, document] of old.entries()) {
      const given = { ...document, [field]: "p", ...(i === 0 ? { workspace_id: "acme" } : {}) };
      await containers().create(test.admin, name, given);
      const { _etag, _ts, ...read } = await containers().read(test.admin, name, "p", document["id"] as string);
      expect(read).toEqual({ ...document, [field]: "p", workspace_id: "acme" });
      expect([typeof _etag, typeof _ts]).toEqual(["string", "number"]);
    }
    await failure(containers().create(test.admin, name, { id: "x", [field]: "p", workspace_id: "other" }), "FORBIDDEN");
  });

  it("R-AGT-45 has the time to live and the etags of every container", async () => {
    const made = await containers().create(test.admin, name, { id: "short", [field]: "p", ttl: 10, any: 1 });
    await containers().create(test.admin, name, { id: "ever", [field]: "p" });
    const stale = { ifMatch: made._etag };
    await containers().upsert(test.admin, name, { id: "short", [field]: "p", ttl: 10, any: 2 }, stale);
    await failure(
      containers().upsert(test.admin, name, { id: "short", [field]: "p", any: 3 }, stale),
      "PRECONDITION_FAILED",
    );
    await failure(containers().create(test.admin, name, { id: "bad", [field]: "p", ttl: 0 }), "INVALID");
    expect(await containers().read(test.admin, name, "p", "short")).toMatchObject({ any: 2 });
    offsetMs += 11_000;
    expect(await ids()).toEqual(["ever"]);
  });

  it("R-AGT-45 is erased with its partition's subject and with the user it names, and nothing else of it", async () => {
    const { erasures } = test.pinakes.governance;
    const erase = async (subject: { type: string; id: string }) => {
      const { erasure_id } = await erasures.request(test.admin, { subject: subject as never });
      return erasures.wait(test.admin, erasure_id);
    };
    for (const [id, pk, user] of [
      ["1", "p1", "erin"],
      ["2", "p1", "otto"],
      ["3", "p2", "erin"],
      ["4", "p2", "otto"],
      ["5", "p3", "otto"],
    ] as const)
      await containers().create(test.admin, name, { id, [field]: pk, user_id: user, any: { of: [pk] } });
    const theirs = test.as("root", { tenant: "other", role: "admin" });
    await containers().create(theirs, name, { id: "1", [field]: "p1", user_id: "erin" });
    expect(await erase({ type, id: "p1" })).toMatchObject({ state: "done_live" });
    expect(await ids()).toEqual(["3", "4", "5"]);
    expect(await erase({ type: "user", id: "erin" })).toMatchObject({ state: "done_live" });
    expect(await ids()).toEqual(["4", "5"]);
    expect(await containers().read(theirs, name, "p1", "1")).toMatchObject({ user_id: "erin" });
  });
});
