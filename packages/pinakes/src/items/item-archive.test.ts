import { expect, it } from "vitest";
import { tenantScope } from "../domain/scope.ts";
import { MemoryItemEngine } from "../drivers/memory/engine.ts";
import { createItemStore } from "./create-item-store.ts";
import { archiveOf } from "./item-archive.ts";

it("R-AGT-51 a move keeps what the definition says beside its indexes: absent keys and the tenants' own times to live", async () => {
  let now = 1_000_000;
  const clock = { now: () => now };
  const source = new MemoryItemEngine();
  const store = await createItemStore(source, { clock });
  const definition = { name: "things", partitionKey: ["p"], ttl: 100, optionalKey: true, feed: true };
  await store.openContainer(definition);
  const [a, b] = [tenantScope("a"), tenantScope("b")];
  for (const scope of [a, b])
    await store.write(scope, "things", [null], { op: "create", document: { id: "x", p: null } });
  await store.setDefaultTtl(a, "things", 1_000);
  now += 500_000;

  const [archived] = await archiveOf(source).containers();
  const { items } = await archiveOf(source).dump("things", { now });
  expect(items.map(({ tenant }) => tenant)).toEqual(["a"]);
  const target = new MemoryItemEngine();
  await archiveOf(target).load(archived as never, items);
  const moved = await createItemStore(target, { clock });
  await moved.openContainer(definition);
  expect(moved.defaultTtl(a, "things")).toEqual({ seconds: 1_000, changes: 1 });
  expect(moved.defaultTtl(b, "things")).toEqual({ seconds: 100, changes: 0 });
  const key = { partition: [null], id: "x" };
  expect((await moved.read(a, "things", key))?.document).toEqual({ id: "x", p: null });
  now += 500_000;
  expect(await moved.read(a, "things", key)).toBeUndefined();
});
