/** The topics: LISA's names and message, malformed, duplicate, late or reordered messages, and what replies cannot do. */
import { describe, expect, it } from "vitest";
import { makeCaller } from "../../src/domain/caller.ts";
import type { JsonObject, JsonValue } from "../../src/domain/json.ts";
import {
  checkTopicPrefix,
  lifecycleLimits,
  object_storage_management_topic,
  storage_management_response_topic,
  triples_storage_management_topic,
  vector_storage_management_topic,
} from "../../src/lifecycle/index.ts";
import { nothing, system, lifecycleScope, World, type Place } from "./support/world.ts";
import { forEachTest } from "../support/for-tests.ts";

const world = forEachTest(() => World.open());
const process = forEachTest(() => world.process());

const send = (topic: string, body: JsonValue, group = "g") =>
  process.queue.send(lifecycleScope, topic, { body, group });
const dead = async (topic: string) => (await process.queue.dead.list(lifecycleScope, topic)).letters;

const topics = [
  object_storage_management_topic,
  vector_storage_management_topic,
  triples_storage_management_topic,
  `${object_storage_management_topic}-documents`,
];

/** Drains a topic. */
async function drain(topic: string): Promise<JsonObject[]> {
  const bodies: JsonObject[] = [];
  for (;;) {
    const messages = await process.queue.receive(lifecycleScope, topic, { owner: "test", max: 10 });
    for (const { body, receipt } of messages) {
      bodies.push(body as JsonObject);
      await process.queue.done(lifecycleScope, receipt);
    }
    if (messages.length === 0) return bodies;
  }
}

/** A purge whose messages wait in their topics, because the process died after sending them. */
async function sent(place: Place): Promise<string> {
  const dying = await world.process();
  dying.calls.add({ at: (name) => name === "items.query queues", kind: "crash-before" });
  const { job_id } = await dying.purge(place);
  await dying.calls.died;
  return job_id;
}

describe("topics", () => {
  it("R-TG-57 R-TG-65 have LISA's names, one per store, and a prefix per deployment", async () => {
    expect([
      object_storage_management_topic,
      vector_storage_management_topic,
      triples_storage_management_topic,
      storage_management_response_topic,
    ]).toEqual([
      "object-storage-management",
      "vector-storage-management",
      "triples-storage-management",
      "storage-management-response",
    ]);
    const named = Object.fromEntries(
      (await process.lifecycle.participants.list()).map(({ store, topic }) => [store, topic]),
    );
    expect(named).toEqual({
      objects: "object-storage-management",
      vectors: "vector-storage-management",
      documents: "object-storage-management-documents",
      triples: "triples-storage-management",
    });
    await using other = await World.open({ topicPrefix: "blue-" });
    const blue = await other.process();
    expect((await blue.lifecycle.participants.list()).map(({ topic }) => topic).toSorted()[0]).toBe(
      "blue-object-storage-management",
    );
    const place = await other.fill(blue, other.admin, "papers");
    await blue.purge(place);
    await blue.lifecycle.idle();
    expect(await other.left(place)).toEqual(nothing);
    await blue.close();
    const { topicPrefixCharsMax } = lifecycleLimits;
    expect(checkTopicPrefix("x".repeat(topicPrefixCharsMax))).toHaveLength(topicPrefixCharsMax);
    for (const prefix of ["x".repeat(topicPrefixCharsMax + 1), "-a", "A", "a b"])
      expect(() => checkTopicPrefix(prefix)).toThrow(/topicPrefix/);
  });

  it("R-TG-55 R-TG-62 a request has LISA's four fields and ours; a reply has the outcome, and its request", async () => {
    const place = await world.fill(process, world.admin, "papers");
    const operation_id = await sent(place);
    const [request] = await drain(object_storage_management_topic);
    expect(request).toEqual({
      operation: "delete-collection",
      user: "root",
      collection: "papers",
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      operation_id,
      incarnation: place.incarnation,
      store: "objects",
      attempt: 1,
      workspace_id: "acme",
      repository_id: "kb",
    });
    await send(object_storage_management_topic, request as JsonObject, place.incarnation);
    const stop = new AbortController();
    const serving = process.lifecycle.listen(stop.signal);
    await expect
      .poll(async () => (await process.knowledge.jobs.get(world.admin, operation_id)).status)
      .toBe("succeeded");
    stop.abort();
    await serving;
    const stored = await process.lifecycle.read(world.admin.scope, place);
    expect(stored?.operation.stores.every(({ status, answered }) => status === "confirmed" && answered === 1)).toBe(
      true,
    );
  });

  it("R-TG-55 LISA's own message: it removes only what the catalog has marked as deleted", async () => {
    const user = makeCaller({ tenant: "default", userId: "ann" });
    const doomed = await world.fill(process, user, "papers", { repository: "me" });
    const live = await world.fill(process, user, "alive", { repository: "me" });
    const verbatim = (collection: string) => ({
      operation: "delete-collection",
      user: "ann",
      collection,
      timestamp: "2025-01-01T00:00:00Z",
    });
    const before = await world.left(live, user.scope);
    await send(vector_storage_management_topic, verbatim("alive"));
    await send(object_storage_management_topic, verbatim("never-was"));
    await send(object_storage_management_topic, verbatim("../../etc"));
    await process.lifecycle.pump();
    expect(await world.left(live, user.scope)).toEqual(before);
    const dying = await world.process();
    dying.calls.add({ at: (name) => name === "items.query queues", kind: "crash-before" });
    await dying.purge(doomed, user);
    await dying.calls.died;
    // Ours are lost; LISA's do it, for each store.
    for (const topic of topics) {
      await drain(topic);
      await send(topic, verbatim("papers"));
    }
    await process.lifecycle.pump();
    expect(await world.left(doomed, user.scope)).toEqual(nothing);
    expect((await process.lifecycle.read(user.scope, doomed))?.operation.status).toBe("done");
  });

  it("R-TG-56 R-TG-64 a malformed message, or one for another store, becomes a dead letter with its reason; the next message is handled", async () => {
    const wrong: JsonValue[] = [
      null,
      7,
      "delete everything",
      [],
      {},
      { operation: "delete-collection" },
      { operation: "", user: "a", collection: "b", timestamp: "c" },
    ];
    for (const body of wrong) await send(vector_storage_management_topic, body);
    const asked = {
      operation: "delete-collection",
      user: "root",
      collection: "papers",
      timestamp: "2030-01-01T00:00:00Z",
    };
    const ours = {
      operation_id: "x",
      incarnation: "y",
      store: "objects",
      attempt: 1,
      workspace_id: "acme",
      repository_id: "kb",
    };
    await send(vector_storage_management_topic, { ...asked, ...ours });
    await send(vector_storage_management_topic, { ...asked, ...ours, store: "vectors", workspace_id: "../other" });
    await send(vector_storage_management_topic, {
      ...asked,
      user: "x".repeat(lifecycleLimits.messageTextCharsMax + 1),
    });
    const { handled } = process.lifecycle.metrics;
    await send(vector_storage_management_topic, { ...asked, user: "x".repeat(lifecycleLimits.messageTextCharsMax) });
    await process.lifecycle.pump();
    const letters = await dead(vector_storage_management_topic);
    expect(letters).toHaveLength(wrong.length + 3);
    for (const { reason, cause } of letters)
      expect({ cause, reason }).toEqual({ cause: "failed", reason: expect.stringMatching(/\w{3}/) });
    expect(letters.map(({ reason }) => reason).join("\n")).toMatch(/for the store "objects"/);
    expect(process.lifecycle.metrics.handled).toBe(handled + 1);
    expect(process.lifecycle.metrics.malformed).toBeGreaterThan(wrong.length);
    // A dead letter can be redriven; a malformed one fails again.
    const [first] = letters;
    await process.queue.dead.redrive(
      lifecycleScope,
      vector_storage_management_topic,
      first as NonNullable<typeof first>,
    );
    await process.lifecycle.pump();
    expect(await dead(vector_storage_management_topic)).toHaveLength(letters.length);
  });

  it("R-TG-63 R-TG-33 an unknown operation gets a reply that says so, and changes nothing", async () => {
    const place = await world.fill(process, world.admin, "papers");
    const before = await world.left(place);
    const shred = {
      operation: "shred-collection",
      user: "root",
      collection: "papers",
      timestamp: "2030-01-01T00:00:00Z",
    };
    await send(object_storage_management_topic, shred);
    // This process dies before it receives its own reply, so that the test can read it.
    const served = await world.process();
    let replied = false;
    served.calls.add({
      at: (name) => (replied ||= served.lifecycle.metrics.handled > 0) && name === "items.query queues",
      kind: "crash-before",
    });
    void served.lifecycle.pump();
    await served.calls.died;
    expect(await drain(storage_management_response_topic)).toMatchObject([
      {
        operation: "shred-collection",
        collection: "papers",
        success: false,
        error: { type: "unsupported_operation" },
        deleted: 0,
      },
    ]);
    expect(await world.left(place)).toEqual(before);
  });
});

describe("replies", () => {
  it("R-TG-59 W8 duplicate, late and foreign ones change nothing; two concurrent deletes are not confused", async () => {
    const [one, two] = [await world.fill(process, world.admin, "one"), await world.fill(process, world.admin, "two")];
    const ids = [await sent(one), await sent(two)];
    const reply = (place: Place, operation_id: string, more: object) => ({
      operation: "delete-collection",
      user: "root",
      collection: place.collection_id,
      timestamp: "2030-01-01T00:00:00Z",
      operation_id,
      incarnation: place.incarnation,
      store: "objects",
      attempt: 1,
      workspace_id: "acme",
      repository_id: "kb",
      success: true,
      error: null,
      deleted: 2,
      remaining: 0,
      duration_ms: 1,
      ...more,
    });
    const { scope } = world.admin;
    for (const topic of topics) await drain(topic);
    const told = (body: object, group = "r") => send(storage_management_response_topic, body as JsonObject, group);
    // Of the other operation, of another attempt, of an unknown one, of another workspace, and a false success.
    await told(reply(one, ids[1] as string, {}));
    await told(reply(one, ids[0] as string, { attempt: 7 }));
    await told(reply(one, ids[0] as string, { store: "tape" }));
    await told(reply(one, ids[0] as string, { workspace_id: "other" }));
    await told(reply(one, "nobody's", {}));
    await told({ success: true });
    await process.lifecycle.pump();
    const rows = async (place: Place) =>
      (await process.lifecycle.read(scope, place))?.operation.stores.map(({ store, status }) => `${store} ${status}`);
    expect(await rows(one)).toEqual(["documents sent", "objects sent", "triples sent", "vectors sent"]);
    expect(process.lifecycle.metrics.dropped).toBe(6);
    await told(reply(one, ids[0] as string, { remaining: 1 }));
    await process.lifecycle.pump();
    // A success with remaining rows is none: the next attempt was sent at once, and found the two files.
    const objects = async () =>
      (await process.lifecycle.read(scope, one))?.operation.stores.find(({ store }) => store === "objects");
    expect(await objects()).toMatchObject({ status: "confirmed", attempts: 2, deleted: 4, remaining: 0 });
    // A duplicate, and an old failure, of a confirmed row.
    await told(reply(one, ids[0] as string, {}));
    await told(reply(one, ids[0] as string, { success: false, error: { type: "late", message: "late" } }));
    await process.lifecycle.pump();
    expect(await objects()).toMatchObject({ status: "confirmed", attempts: 2, deleted: 4, error: null });
    await process.pass(6);
    for (const place of [one, two]) {
      expect((await process.lifecycle.read(scope, place))?.operation.status).toBe("done");
      expect(await world.left(place)).toEqual(nothing);
    }
  });

  it("R-TG-62 R-TG-50 a waiting request has no count yet; a success without a count is none, and the store is asked again", async () => {
    const place = await world.fill(process, world.admin, "papers");
    const operation_id = await sent(place);
    const stores = async () => (await process.knowledge.operations.get(world.admin, operation_id)).stores;
    expect((await stores()).map(({ status, remaining }) => [status, remaining])).toEqual(
      Array.from({ length: 4 }, () => ["sent", null]),
    );
    const [request] = await drain(object_storage_management_topic);
    const uncounted = { ...request, success: true, error: null, deleted: 0, duration_ms: 1 };
    for (const body of [uncounted, { ...uncounted, remaining: null }])
      await send(storage_management_response_topic, body, place.incarnation);
    await process.lifecycle.pump();
    expect((await stores()).find(({ store }) => store === "objects")).toMatchObject({
      status: "waiting",
      remaining: null,
      error: { type: "not_counted" },
    });
    expect(await dead(storage_management_response_topic)).toEqual([]);
    await process.pass(1);
    expect((await stores()).map(({ status, remaining }) => [status, remaining])).toEqual(
      Array.from({ length: 4 }, () => ["confirmed", 0]),
    );
    expect(await world.left(place)).toEqual(nothing);
  });

  it("R-TG-59 R-TG-58 duplicate and reordered messages end alike; a lost one is resent after a minute", async () => {
    const place = await world.fill(process, world.admin, "papers");
    const id = await sent(place);
    const bodies: [string, JsonObject][] = [];
    for (const topic of topics) for (const body of await drain(topic)) bodies.push([topic, body]);
    expect(bodies).toHaveLength(4);
    // Lost: nothing happens for a minute.
    world.now += lifecycleLimits.replyMsMax - 1;
    await process.sweep();
    expect((await process.knowledge.operations.get(world.admin, id)).stores.map(({ attempts }) => attempts)).toEqual([
      1, 1, 1, 1,
    ]);
    world.now += 1;
    await process.sweep();
    expect((await process.knowledge.operations.get(world.admin, id)).stores.map(({ error }) => error?.type)).toEqual(
      Array.from({ length: 4 }, () => "no_reply"),
    );
    // The old ones arrive after all, each three times, in any order, in their own groups.
    for (let i = 0; i < 3; i += 1)
      for (const [topic, body] of bodies.toReversed()) await send(topic, body, `again-${i}`);
    await process.lifecycle.pump();
    expect(await process.knowledge.operations.get(world.admin, id)).toMatchObject({ status: "done" });
    await process.pass(2);
    expect(await world.left(place)).toEqual(nothing);
    const { result } = await process.knowledge.jobs.get(world.admin, id);
    expect(
      (result as { stores: { store: string; deleted: number }[] }).stores.find(({ store }) => store === "objects")
        ?.deleted,
    ).toBe(2);
  });

  it("R-TG-60 a message that repeatedly kills its handler is dead after a bounded number of attempts; the operation sends again and succeeds; the letter can be redriven", async () => {
    const place = await world.fill(process, world.admin, "papers");
    const id = await sent(place);
    for (let i = 0; i < 12; i += 1) {
      const [message] = await process.queue.receive(lifecycleScope, vector_storage_management_topic, {
        owner: `victim ${i}`,
        leaseMs: 1_000,
      });
      if (message === undefined) break;
      // Its consumer dies: the lease expires.
      world.now += 1_001;
    }
    await process.queue.receive(lifecycleScope, vector_storage_management_topic, { owner: "next" });
    expect(await dead(vector_storage_management_topic)).toMatchObject([{ cause: "lease-lost" }]);
    await process.pass(3);
    expect(await process.knowledge.operations.get(world.admin, id)).toMatchObject({ status: "done" });
    expect(await world.left(place)).toEqual(nothing);
    const [letter] = await dead(vector_storage_management_topic);
    await process.queue.dead.redrive(
      lifecycleScope,
      vector_storage_management_topic,
      letter as NonNullable<typeof letter>,
    );
    await process.lifecycle.pump();
    expect(await dead(vector_storage_management_topic)).toEqual([]);
  });

  it("W15 a message for an incarnation that is not being deleted does nothing, whoever sent it", async () => {
    const place = await world.fill(process, world.admin, "papers");
    const before = await world.left(place);
    const forged = {
      operation: "delete-collection",
      user: "root",
      collection: "papers",
      timestamp: "2030-01-01T00:00:00Z",
    };
    const known = {
      operation_id: "forged",
      incarnation: place.incarnation,
      attempt: 1,
      workspace_id: "acme",
      repository_id: "kb",
    };
    await send(object_storage_management_topic, { ...forged, ...known, store: "objects" });
    await send(vector_storage_management_topic, { ...forged, ...known, store: "vectors" });
    await process.lifecycle.pump();
    expect(await world.left(place)).toEqual(before);
    expect(process.lifecycle.metrics).toMatchObject({ handled: 2, dropped: 2 });
  });
});

it("R-TG-61 W10 ten thousand data messages do not delay a management message", async () => {
  const place = await world.fill(process, world.admin, "papers");
  const scope = system.forTenant("pinakes.knowledge");
  for (let at = 0; at < 10_000; at += 500)
    await Promise.all(
      Array.from({ length: 500 }, (_, i) =>
        process.queue.send(scope, "documents", { body: { n: at + i }, group: `d${at + i}` }),
      ),
    );
  const before = process.calls.names.length;
  await process.purge(place);
  await process.lifecycle.idle();
  expect(await world.left(place)).toEqual(nothing);
  // The same number of calls as with an empty queue: only management messages were read.
  const calls = process.calls.names.length - before;
  const again = await world.process();
  await using empty = await World.open();
  const elsewhere = await empty.process();
  const other = await empty.fill(elsewhere, empty.admin, "papers");
  const from = elsewhere.calls.names.length;
  await elsewhere.purge(other);
  await elsewhere.lifecycle.idle();
  expect(calls).toBeLessThanOrEqual(elsewhere.calls.names.length - from + 5);
  await Promise.all([again.close(), elsewhere.close()]);
});
