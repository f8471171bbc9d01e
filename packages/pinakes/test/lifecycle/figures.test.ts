/** What operators see of deletes: metrics over all tenants, and a warning if a store does not confirm. */
import { expect, it } from "vitest";
import { metricsText } from "../../src/http/metrics.ts";
import { open } from "../../src/open.ts";

it("R-TG-109 metrics have operations by status, their lag, late writes and dropped messages; readiness warns of stuck ones", async () => {
  await using pinakes = await open({ items: "memory:", objects: "memory:", background: false });
  const figure = (name: string) =>
    Number(new RegExp(`^${name} (\\S+)$`, "m").exec(metricsText(pinakes, Date.now()))?.[1]);
  expect((await pinakes.ready()).warnings).toEqual({});
  expect(figure("pinakes_operations_failed")).toBe(0);
  pinakes.lifecycle.metrics.unfinished = { running: 3, failed: 2, oldestMs: 61_000 };
  pinakes.lifecycle.metrics.dropped = 4;
  expect([
    figure("pinakes_operations_running"),
    figure("pinakes_operations_failed"),
    figure("pinakes_deletion_lag_seconds"),
  ]).toEqual([3, 2, 61]);
  expect(figure("pinakes_lifecycle_dropped_total")).toBe(4);
  expect(await pinakes.ready()).toMatchObject({
    ready: true,
    warnings: { failed_deletions: expect.stringContaining("2 deletes") },
  });
  const caller = pinakes.as({ tenant: "acme", userId: "root", role: "admin" });
  await pinakes.knowledge.repositories.create(caller, { repository_id: "kb" });
  const { incarnation } = await pinakes.knowledge.collections.create(caller, "kb", { collection_id: "papers" });
  const gate = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  async function* slow(): AsyncGenerator<Uint8Array> {
    begun.resolve();
    await gate.promise;
    yield Buffer.from("late");
  }
  const uploading = pinakes.knowledge.documents.upload(caller, "kb", "papers", { name: "slow.txt", body: slow() });
  await begun.promise;
  await pinakes.knowledge.collections.delete(caller, "kb", "papers");
  gate.resolve();
  await expect(uploading).rejects.toMatchObject({ code: "CONFLICT" });
  expect(figure("pinakes_late_writes_total")).toBeGreaterThan(0);
  expect((await pinakes.objects.list(caller.scope, `knowledge/${incarnation}/`)).keys).toEqual([]);
});

it("an invalid trash time or prefix fails the open with instructions", async () => {
  const stores = { items: "memory:", objects: "memory:", background: false };
  for (const trashDays of [-1, 1.5, 36_501]) await expect(open({ ...stores, trashDays })).rejects.toThrow(/trashDays/);
  await expect(open({ ...stores, topicPrefix: "Not A Prefix" })).rejects.toThrow(/topicPrefix/);
  await using pinakes = await open({ ...stores, trashDays: 36_500, topicPrefix: "green-" });
  expect(pinakes.lifecycle.topics.replies).toBe("green-storage-management-response");
});
