/** The contract of every store that holds data of collections (RFC 0007), on the given engine. */
import { randomUUID } from "node:crypto";
import { expect, it } from "vitest";
import { tenantScope, type Scope } from "../../../src/domain/scope.ts";
import type { Incarnation, Participant } from "../../../src/lifecycle/index.ts";
import { pagesOf } from "../../../src/runtime/pages.ts";

export interface SuiteStore {
  readonly participant: Participant;
  /** Writes about `rows` rows of an incarnation, as its data handler does; false if writes are refused. */
  readonly put: (scope: Scope, incarnation: Incarnation, rows: number) => Promise<boolean>;
  /** Whether its data can be read. */
  readonly reads: (scope: Scope, incarnation: Incarnation) => Promise<boolean>;
}

const scope = tenantScope("acme");
const newIncarnation = (over: Partial<Incarnation> = {}): Incarnation => ({
  repository_id: "kb",
  collection_id: "papers",
  incarnation: randomUUID(),
  ...over,
});

async function remove(
  { participant }: SuiteStore,
  incarnation: Incarnation,
  limit = 500,
): Promise<{ deleted: number; steps: number }> {
  let deleted = 0;
  for (let steps = 1; ; steps += 1) {
    const step = await participant.deleteStep(scope, incarnation, { limit });
    deleted += step.deleted;
    if (step.done) return { deleted, steps };
    expect(steps, "a delete ends").toBeLessThan(1_000);
  }
}

async function held({ participant }: SuiteStore, of: Scope = scope): Promise<string[]> {
  const found: string[] = [];
  for await (const page of pagesOf((cursor) => participant.incarnations(of, { limit: 3, cursor }))) {
    found.push(...page.incarnations.map(({ incarnation }) => incarnation));
  }
  return found;
}

/** `own`: whether it fences and refuses writes itself; the objects' fence is that of their documents. */
export function participantSuite(open: () => SuiteStore, { own }: { readonly own: boolean }): void {
  it("R-TG-66 R-TG-67 R-TG-69 R-TG-70 the first write creates it; a delete removes everything in bounded steps, and reports how much", async () => {
    const store = open();
    const incarnation = newIncarnation();
    expect(await store.participant.count(scope, incarnation)).toBe(0);
    expect(await store.put(scope, incarnation, 130)).toBe(true);
    const before = await store.participant.count(scope, incarnation);
    expect(before).toBeGreaterThan(0);
    const { deleted, steps } = await remove(store, incarnation, 20);
    expect(deleted).toBeGreaterThanOrEqual(before);
    expect(steps).toBeGreaterThan(1);
    expect(await store.participant.count(scope, incarnation)).toBe(0);
    expect(await store.reads(scope, incarnation)).toBe(false);
  });

  it("R-TG-68 an unknown incarnation is a success with 0, repeatedly", async () => {
    const store = open();
    const incarnation = newIncarnation();
    for (let i = 0; i < 3; i += 1) {
      expect((await remove(store, incarnation)).deleted).toBe(0);
      expect(await store.participant.count(scope, incarnation)).toBe(0);
    }
  });

  it("R-TG-47 after a delete every write of that incarnation is refused, even if it had no data", async () => {
    const store = open();
    for (const rows of [0, 4]) {
      const incarnation = newIncarnation();
      if (rows > 0) await store.put(scope, incarnation, rows);
      await remove(store, incarnation);
      expect(await store.participant.count(scope, incarnation), `${rows}`).toBe(0);
      if (!own) continue;
      expect(await store.put(scope, incarnation, 1)).toBe(false);
      expect(await store.participant.count(scope, incarnation), `${rows}`).toBe(0);
    }
  });

  it("R-TG-30 another incarnation, another tenant's and one with a common name prefix stay complete", async () => {
    const store = open();
    const incarnation = newIncarnation();
    const other = newIncarnation();
    await store.put(scope, incarnation, 5);
    await store.put(scope, other, 5);
    const foreign = tenantScope("other");
    await store.put(foreign, incarnation, 5);
    const counts = [await store.participant.count(scope, other), await store.participant.count(foreign, incarnation)];
    await remove(store, incarnation);
    expect([await store.participant.count(scope, other), await store.participant.count(foreign, incarnation)]).toEqual(
      counts,
    );
    expect([await store.reads(scope, other), await store.reads(foreign, incarnation)]).toEqual([true, true]);
  });

  it("R-TG-53 a fence keeps every byte and can be undone; a delete cannot", async () => {
    const store = open();
    const incarnation = newIncarnation();
    await store.put(scope, incarnation, 6);
    const before = await store.participant.count(scope, incarnation);
    for (let i = 0; i < 2; i += 1) {
      await store.participant.fence(scope, incarnation, { purgeAt: Date.now() + 86_400_000 });
      await store.participant.fence(scope, incarnation, { purgeAt: Date.now() + 86_400_000 });
      if (own) expect(await store.put(scope, incarnation, 1)).toBe(false);
      expect(await store.participant.count(scope, incarnation)).toBe(before);
      await store.participant.unfence(scope, incarnation, { archived: false });
      await store.participant.unfence(scope, incarnation, { archived: false });
      expect(await store.reads(scope, incarnation)).toBe(true);
    }
    await remove(store, incarnation);
    await store.participant.unfence(scope, incarnation, { archived: false }).catch(() => {});
    if (own) expect(await store.put(scope, incarnation, 1)).toBe(false);
    expect(await store.participant.count(scope, incarnation)).toBe(0);
  });

  it("R-TG-59 two concurrent deletes of one incarnation leave nothing", async () => {
    const store = open();
    const incarnation = newIncarnation();
    await store.put(scope, incarnation, 60);
    const ends = await Promise.allSettled([
      remove(store, incarnation, 10),
      remove(store, incarnation, 10),
      remove(store, incarnation, 10),
    ]);
    if (ends.some(({ status }) => status === "rejected")) await remove(store, incarnation);
    expect(await store.participant.count(scope, incarnation)).toBe(0);
  });

  it("R-TG-70 lists the incarnations it holds, in pages, and not purged ones", async () => {
    const store = open();
    const incarnations = Array.from({ length: 7 }, () => newIncarnation());
    for (const incarnation of incarnations) await store.put(scope, incarnation, 1);
    await expect
      .poll(() => held(store))
      .toEqual(expect.arrayContaining(incarnations.map(({ incarnation }) => incarnation)));
    for (const incarnation of incarnations.slice(0, 4)) await remove(store, incarnation);
    await expect
      .poll(async () =>
        (await held(store)).filter((one) => incarnations.some(({ incarnation }) => incarnation === one)).toSorted(),
      )
      .toEqual(
        incarnations
          .slice(4)
          .map(({ incarnation }) => incarnation)
          .toSorted(),
      );
    expect(await held(store, tenantScope("nobody"))).toEqual([]);
    const { store: name, class: storeClass, capabilities } = store.participant;
    expect({ name, storeClass, capabilities }).toEqual({
      name: expect.stringMatching(/^[a-z]+$/),
      storeClass: expect.stringMatching(/^(?:object|vector|triples)$/),
      capabilities: { delete: true, archive: true, list: true },
    });
  });

  it("R-TG-63 archiving reports the count and removes nothing", async () => {
    const store = open();
    const incarnation = newIncarnation();
    await store.put(scope, incarnation, 3);
    const before = await store.participant.count(scope, incarnation);
    await store.participant.fence(scope, incarnation, { purgeAt: Date.now() + 1_000 });
    await store.participant.unfence(scope, incarnation, { archived: true });
    expect((await store.participant.archive(scope, incarnation)).count).toBeGreaterThan(0);
    expect(await store.participant.count(scope, incarnation)).toBe(before);
  });
}
