/** What operators and owners see: metrics of each collection, of each operation and its stores, and stuck operations. */
import { expect, it } from "vitest";
import { createApp } from "../../src/http/app.ts";
import { open } from "../../src/open.ts";
import { World } from "../lifecycle/support/world.ts";

it("R-TG-109 R-TG-05 each collection has its own figures, which follow its contents", async () => {
  await using world = await World.open();
  const process = await world.process();
  const { knowledge } = process;
  await world.fill(process, world.admin, "large", { files: 3, rows: 5 });
  await world.fill(process, world.admin, "small", { files: 1, rows: 1 });
  const figures = async (id: string) => {
    const { document_count, total_size_bytes, triples, stores } = await knowledge.collections.usage(
      world.admin,
      "kb",
      id,
    );
    return { document_count, total_size_bytes, triples, vectors: stores["vectors"], objects: stores["objects"] };
  };
  expect(await figures("large")).toEqual({
    document_count: 3,
    total_size_bytes: 45,
    triples: 5,
    vectors: 5,
    objects: 3,
  });
  expect(await figures("small")).toEqual({
    document_count: 1,
    total_size_bytes: 15,
    triples: 1,
    vectors: 1,
    objects: 1,
  });
  await knowledge.rows.delete(world.admin, "kb", "large", { ids: ["r0"] });
  await knowledge.graph.removeTriples(world.admin, "kb", "large", { s: "urn:s1" });
  expect(await figures("large")).toMatchObject({ triples: 4, vectors: 4 });
  expect(await figures("small")).toMatchObject({ triples: 1, vectors: 1 });
  await process.close();
});

it("R-TG-109 a delete that a store fails is shown as running, then as stuck: by its operation, in the metrics and in readiness, until it is done", async () => {
  await using world = await World.open();
  const process = await world.process();
  const stuck = await world.fill(process, world.admin, "stuck");
  await world.fill(process, world.admin, "fine");
  const fault = {
    at: (name: string) => name === `triples.purge ${stuck.incarnation}`,
    kind: "error-before",
    always: true,
  } as const;
  process.calls.add(fault);
  const { job_id } = await process.purge(stuck);
  const fine = await process.purge({ ...stuck, collection_id: "fine" });
  await process.lifecycle.idle();
  const operation = async (id: string) => process.knowledge.operations.get(world.admin, id);
  const rowOf = async (store: string) => (await operation(job_id)).stores.find((row) => row.store === store);
  expect(await operation(fine.job_id)).toMatchObject({ status: "done" });
  await process.sweep();
  expect(process.lifecycle.metrics.unfinished).toMatchObject({ running: 1, failed: 0 });
  // Serves the metrics and readiness, from the findings of this process's sweep.
  await using pinakes = await open({
    items: "memory:",
    objects: "memory:",
    background: false,
    deletionLagSeconds: 604_800,
  });
  const app = await createApp(pinakes);
  const seen = async () => {
    pinakes.lifecycle.metrics.unfinished = process.lifecycle.metrics.unfinished;
    const text = await (await app.request("/metrics")).text();
    const figure = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, "m").exec(text)?.[1]);
    const ready = (await (await app.request("/readyz")).json()) as { status: string; warnings: Record<string, string> };
    return {
      running: figure("pinakes_operations_running"),
      failed: figure("pinakes_operations_failed"),
      lag: figure("pinakes_deletion_lag_seconds"),
      ...ready,
    };
  };
  expect(await seen()).toMatchObject({ running: 1, failed: 0, status: "ready", warnings: {} });
  const began = world.now;
  await process.pass(8);
  expect(await operation(job_id)).toMatchObject({ status: "failed", collection_id: "stuck" });
  expect(await rowOf("triples")).toMatchObject({ status: "waiting", error: { message: expect.any(String) as string } });
  expect((await rowOf("triples"))?.attempts).toBeGreaterThan(4);
  for (const store of ["documents", "objects", "vectors"])
    expect(await rowOf(store)).toMatchObject({ remaining: 0, error: null });
  const lag = (world.now - began) / 1_000;
  expect(await seen()).toMatchObject({
    running: 0,
    failed: 1,
    lag,
    warnings: { failed_deletions: expect.stringContaining("1 deletes are not confirmed by some store") as string },
  });
  process.calls.clear();
  await process.pass(2);
  expect(await operation(job_id)).toMatchObject({ status: "done" });
  expect(await seen()).toMatchObject({ running: 0, failed: 0, lag: 0, warnings: {} });
  await process.close();
});
