/** Entries of the work registry, as stored since the first version. */
import { expect, it } from "vitest";
import { systemScope } from "../../domain/scope.ts";
import { openMemoryItems } from "../../drivers/memory/index.ts";
import { vectorWork, vectorWorkContainer, type RegisteredVectorWork } from "./vector-work.ts";

it("an entry of the first version is found when it is due, renewed in the same form, and removed when it is done", async () => {
  const system = systemScope("tests of the work registry", () => {});
  const scope = system.forTenant("pinakes.system");
  const items = await openMemoryItems();
  await items.openContainer({
    name: "vector-work",
    partitionKey: ["shard"],
    indexes: { due: { partition: ["shard"], sort: ["notBefore"] } },
  });
  const document = {
    id: "compact:acme:papers",
    shard: "0",
    kind: "compact",
    tenant: "acme",
    collection: "papers",
    notBefore: 7,
  };
  await items.write(scope, "vector-work", ["0"], { op: "create", document });

  // The same declaration: nothing is rebuilt.
  await items.openContainer(vectorWorkContainer);
  const work = vectorWork(items, system);
  expect(await Array.fromAsync(work.due(6))).toEqual([]);
  const [found] = await Array.fromAsync(work.due(7));
  expect(found).toEqual({ kind: "compact", tenant: "acme", key: "papers", due_at: 7, etag: found?.etag });
  await work.put({ kind: "compact", tenant: "acme", key: "papers", due_at: 7 });
  expect((await items.read(scope, "vector-work", { partition: ["0"], id: document.id }))?.document).toEqual(document);
  await work.remove((await work.read({ kind: "compact", tenant: "acme", key: "papers" })) as RegisteredVectorWork);
  expect(await Array.fromAsync(work.due(7))).toEqual([]);
});
