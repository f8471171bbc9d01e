/** Registry entries: marked before the work starts, and never removed while someone relies on them. */
import { beforeEach, describe, expect, it } from "vitest";
import { systemScope } from "../../domain/scope.ts";
import { openMemoryItems } from "../../drivers/memory/index.ts";
import type { ItemStore } from "../../ports/item-store.ts";
import { freshMs, KnowledgeWork, knowledgeWorkContainer, restMs, type RegisteredUnfinished } from "./work-registry.ts";

const system = systemScope("tests of unfinished work", () => {});
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
  it("an entry that this process just marked is not rewritten until the mark has aged", async () => {
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

  it("an entry with its own due time is always written, and not due before it", async () => {
    await work.mark(job, now + 10);
    await work.mark(job, now + 20);
    expect(await due(now + 19)).toEqual([]);
    expect(await due(now + 20)).toMatchObject([job]);
  });
});

describe("removing", () => {
  it("entries of documents marked less than a minute ago stay, older ones are removed", async () => {
    await work.mark(documents);
    now += restMs - 1;
    await work.remove(await first());
    expect(await due()).toMatchObject([documents]);
    now += 1;
    await work.remove(await first());
    expect(await due()).toEqual([]);
  });

  it("a job entry is removed at once, but not one that was marked again in the meantime", async () => {
    await work.mark(job, 0);
    const old = await first();
    await work.mark(job, 0);
    await work.remove(old);
    expect(await due()).toMatchObject([job]);
    await work.remove(await first());
    expect(await due()).toEqual([]);
  });

  it("an entry removed by another process is marked again once this process's mark has aged", async () => {
    await work.mark(documents);
    const other = new KnowledgeWork(items, system, { now: () => now + restMs });
    await other.remove(await first());
    expect(await due()).toEqual([]);
    now += freshMs;
    await work.mark(documents);
    expect(await due()).toMatchObject([documents]);
  });
});

it("a postponed entry keeps its age; one that was marked in the meantime keeps the due time of that mark", async () => {
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

it("an entry in the format of the first version is found when due, marked in the same format, and removed", async () => {
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
