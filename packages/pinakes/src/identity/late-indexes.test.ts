/** Nothing but lists may depend on an index: on DynamoDB with indexes that are late, keys and sessions work at once, and end at once. */
import { expect, it } from "vitest";
import { startLagProxy } from "../drivers/dynamodb/lag-proxy.ts";
import { TestStores } from "../drivers/dynamodb/test-stores.ts";
import { failure, ManualClock } from "../testing/item-store/fixture.ts";
import { openIdentity } from "./index.ts";
import { rootToken, system } from "./test-identity.ts";
import { forAllTests } from "../../test/support/for-tests.ts";

const proxy = forAllTests(() => startLagProxy({ lagMs: 0 }));

it("keys and sessions are good and bad at once; a late list comes without waiting forever, and is right in the end", async () => {
  const clock = new ManualClock();
  await using items = await new TestStores(() => proxy.endpoint).open({ clock, indexWaitMsMax: 100 });
  await using identity = await openIdentity({ items, system, clock, rootToken, log: () => {} });
  const root = await identity.authenticate({ bearer: rootToken, safeMethod: true });
  proxy.lag(3_600_000);
  const kept = await identity.keys.create(root, { user_id: "u1", workspace_id: "w1" });
  const gone = await identity.keys.create(root, { user_id: "u2", workspace_id: "w1" });
  const { cookie } = await identity.sessions.create({ token: gone.key });
  expect((await identity.authenticate({ bearer: kept.key, safeMethod: true })).caller.userId).toBe("u1");
  expect((await identity.authenticate({ sessionCookie: cookie, safeMethod: true })).caller.userId).toBe("u2");
  await identity.keys.revoke(root, gone.key_id);
  await failure(identity.authenticate({ bearer: gone.key, safeMethod: true }), "UNAUTHENTICATED");
  await failure(identity.authenticate({ sessionCookie: cookie, safeMethod: true }), "UNAUTHENTICATED");
  const newest = await identity.keys.create(root, { user_id: "u3", workspace_id: "w1" });
  expect((await identity.keys.list(root, { workspace_id: "w1" })).items).toEqual([]);
  expect((await identity.workspaces.list(root)).items.map(({ workspace_id }) => workspace_id)).toEqual([
    "default",
    "w1",
  ]);
  proxy.lag(20);
  const listed = async () =>
    (await identity.keys.list(root, { workspace_id: "w1" })).items.map(({ key_id }) => key_id).toSorted();
  await expect.poll(listed).toEqual([kept.key_id, newest.key_id].toSorted());
});
