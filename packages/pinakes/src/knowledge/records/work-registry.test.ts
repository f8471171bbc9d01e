/** What is unfinished: marked before it begins, and never taken away from under somebody who relies on it. */
import { beforeEach, describe, expect, it } from "vitest";
import { systemScope } from "../../domain/scope.ts";
import { openMemoryItems } from "../../drivers/memory/index.ts";
import type { ItemStore } from "../../ports/item-store.ts";
import { freshMs, KnowledgeWork, knowledgeWorkContainer, restMs, type RegisteredUnfinished } from "./work-registry.ts";

const system = systemScope("tests of what is unfinished", () => {});
const scope = system.forTenant("pinakes.knowledge");
const documents = {
  kind: "documents",
  tenant: "acme",
  repository_id: "kb",
  collection_id: "c1",
  incarnation: "i1",
} as const;
const job = { ...documents, kind: "job", incarnation: "j1" } as const;

let now = 0;
let items: ItemStore;
let work: KnowledgeWork;
beforeEach(async () => {
  now = 1_000_000;
  const clock = { now: () => now };
  items = await openMemoryItems({ clock });
  await items.openContainer(knowledgeWorkContainer);
  work = new KnowledgeWork(items, system, clock);
});

const due = (at = now) => Array.fromAsync(work.due(at));
const first = async () => (await due(Number.MAX_SAFE_INTEGER))[0] as RegisteredUnfinished;

describe("marking", () => {
  it("an entry that this process marked a moment ago is not written again, and is when the moment is over", async () => {
    await work.mark(documents);
    const { etag } = await first();
    now += freshMs - 1;
    await work.mark(documents);
    expect((await first()).etag).toBe(etag);
    now += 1;
    await work.mark(documents);
    expect(await first()).toEqual({ ...documents, marked_at: now, etag: (await first()).etag });
    expect((await first()).etag).not.toBe(etag);
  });

  it("one with a time of its own is always written, and due then and not before", async () => {
    await work.mark(job, now + 10);
    await work.mark(job, now + 20);
    expect(await due(now + 19)).toEqual([]);
    expect(await due(now + 20)).toMatchObject([job]);
  });
});

describe("removing", () => {
  it("documents that were marked less than a minute ago stay: somebody may rely on it; a minute later they go", async () => {
    await work.mark(documents);
    now += restMs - 1;
    await work.remove(await first());
    expect(await due()).toMatchObject([documents]);
    now += 1;
    await work.remove(await first());
    expect(await due()).toEqual([]);
  });

  it("a job goes at once, and one that was marked again meanwhile stays", async () => {
    await work.mark(job, 0);
    const old = await first();
    await work.mark(job, 0);
    await work.remove(old);
    expect(await due()).toMatchObject([job]);
    await work.remove(await first());
    expect(await due()).toEqual([]);
  });

  it("what another process took away is marked again as soon as this one's mark is not fresh any more", async () => {
    await work.mark(documents);
    const other = new KnowledgeWork(items, system, { now: () => now + restMs });
    await other.remove(await first());
    expect(await due()).toEqual([]);
    now += freshMs;
    await work.mark(documents);
    expect(await due()).toMatchObject([documents]);
  });
});

it("one that is postponed is due then, as old as it was; one that was marked meanwhile is due when that mark says", async () => {
  const purge = { ...documents, kind: "purge" } as const;
  await work.mark(purge, now);
  const old = await first();
  now += 5;
  await work.postpone(old, now + 100);
  expect(await due(now + 99)).toEqual([]);
  expect(await due(now + 100)).toMatchObject([{ ...purge, marked_at: now - 5 }]);
  const later = await first();
  await work.mark(purge, now + 1);
  await work.postpone(later, now + 100);
  expect(await due(now + 1)).toMatchObject([{ ...purge, marked_at: now }]);
});

it("an entry of the first version is found when it is due, is marked in the same form, and goes", async () => {
  const document = {
    id: "documents:acme:i1",
    shard: "3",
    kind: "documents",
    tenant: "acme",
    repository_id: "kb",
    collection_id: "c1",
    incarnation: "i1",
    marked_at: 5,
    not_before: 7,
  };
  await items.write(scope, "knowledge-work", ["3"], { op: "create", document });
  expect(await due(6)).toEqual([]);
  const [found] = await due(7);
  expect(found).toEqual({ ...documents, marked_at: 5, etag: found?.etag });
  await work.mark(documents);
  const stored = await items.read(scope, "knowledge-work", { partition: ["3"], id: document.id });
  expect(stored?.document).toEqual({ ...document, marked_at: now, not_before: now });
  now += restMs;
  await work.remove(await first());
  expect(await due()).toEqual([]);
});
