/** The queue of a workspace's drop box among its queues: counted, looked into, sent again and forgotten, by its own admins alone. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { systemScope } from "../../src/domain/scope.ts";
import { announceDelta, dropBoxQueue } from "../../src/vectors/index.ts";
import { openTestServer, type Json, type TestServer } from "./support/server.ts";

let server: TestServer;
const keys: Record<string, string> = {};
beforeAll(async () => {
  // Without background work the test is the one that takes messages.
  server = await openTestServer("memory", { background: false, dropBoxes: [{ tenant: "acme" }, { tenant: "globex" }] });
  for (const workspace of ["acme", "globex", "boxless"])
    keys[workspace] = await server.key(workspace, "ada", { role: "admin" });
  keys["user"] = await server.key("acme", "uli");
});
afterAll(() => server?.[Symbol.asyncDispose]());

const system = systemScope("tests of the queue of drop boxes", () => {});
const call = (method: string, path: string, who: string) => server.call(method, path, { key: keys[who] as string });
const queueOf = async (who: string) =>
  ((await call("GET", "/v1/queues", who)).json["items"] as Json[]).find(({ name }) => name === dropBoxQueue);
const lettersOf = async (who: string) =>
  (await call("GET", `/v1/queues/${dropBoxQueue}/dead`, who)).json["items"] as Json[];

/** Failed as often as it takes. */
async function bury(tenant: string, deltaKey: string): Promise<void> {
  const { queue } = server.pinakes;
  const scope = system.forTenant(tenant);
  await announceDelta(queue, scope, { deltaKey, collection: "rows" });
  for (;;) {
    const [message] = await queue.receive(scope, dropBoxQueue, { owner: "test" });
    if (message === undefined) return;
    await queue.failed(scope, message.receipt, { reason: `NOT_FOUND: ${deltaKey} of ${tenant}`, retryInMs: 0 });
  }
}

it("dead letters of vector-deltas are counted and shown, each to the workspace whose drop box it is", async () => {
  await bury("acme", "delta/a");
  await bury("acme", "delta/b");
  await bury("globex", "delta/secret");
  await announceDelta(server.pinakes.queue, system.forTenant("acme"), { deltaKey: "delta/waits", collection: "rows" });
  expect(await queueOf("acme")).toMatchObject({
    waiting: 1,
    in_progress: 0,
    failed: 0,
    dead: 2,
    oldest_age_seconds: expect.any(Number),
  });
  expect(await queueOf("globex")).toMatchObject({ waiting: 0, dead: 1, oldest_age_seconds: null });
  expect(await queueOf("boxless")).toBeUndefined();
  const own = await lettersOf("acme");
  expect(own.map(({ message, reason, cause }) => ({ message, reason, cause }))).toEqual(
    ["delta/a", "delta/b"].map((key) => ({
      message: { delta_key: key, collection: "rows" },
      reason: `NOT_FOUND: ${key} of acme`,
      cause: "failed",
    })),
  );
  const [theirs] = await lettersOf("globex");
  // Another workspace's letter answers as one that does not exist, a queue that is not there as any other.
  for (const verb of ["redrive", "discard"]) {
    const foreign = await call(
      "POST",
      `/v1/queues/${dropBoxQueue}/dead/${theirs?.["dead_id"] as string}:${verb}`,
      "acme",
    );
    const absent = await call("POST", `/v1/queues/${dropBoxQueue}/dead/${"0".repeat(40)}:${verb}`, "acme");
    expect([foreign.status, absent.status]).toEqual([404, 404]);
    const at = `/v1/queues/${dropBoxQueue}/dead/${own[0]?.["dead_id"] as string}:${verb}`;
    expect([
      (await call("POST", at, "boxless")).status,
      (await call("POST", at, "globex")).status,
      (await call("POST", at, "user")).status,
    ]).toEqual([404, 404, 403]);
  }
  expect((await call("GET", `/v1/queues/${dropBoxQueue}/dead`, "boxless")).status).toBe(404);
  expect((await call("GET", `/v1/queues/${dropBoxQueue}/dead`, "user")).status).toBe(403);
  expect([await lettersOf("acme"), await lettersOf("globex")].map(({ length }) => length)).toEqual([2, 1]);
  const [first, second] = own.map(({ dead_id }) => `/v1/queues/${dropBoxQueue}/dead/${dead_id as string}`);
  expect((await call("POST", `${first}:redrive`, "acme")).status).toBe(202);
  expect((await call("POST", `${second}:discard`, "acme")).status).toBe(204);
  expect(await queueOf("acme")).toMatchObject({ waiting: 2, dead: 0 });
  expect(await queueOf("globex")).toMatchObject({ dead: 1 });
});
