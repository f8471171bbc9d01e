/** The contract of every store that holds data of collections (RFC 0007), on the given engine. */
import { randomUUID } from "node:crypto";
import { expect, it } from "vitest";
import { tenantScope, type Scope } from "../../../src/domain/scope.ts";
import type { Incarnation, Participant } from "../../../src/lifecycle/index.ts";

export interface SuiteStore {
  readonly participant: Participant;
  /** Writes about `rows` rows of an incarnation, as its data handler does; false if writes are refused. */
  readonly put: (scope: Scope, life: Incarnation, rows: number) => Promise<boolean>;
  /** Whether its data can be read. */
  readonly reads: (scope: Scope, life: Incarnation) => Promise<boolean>;
}

const scope = tenantScope("acme");
const newLife = (over: Partial<Incarnation> = {}): Incarnation => ({
  repository_id: "kb",
  collection_id: "papers",
  incarnation: randomUUID(),
  ...over,
});

async function remove(
  { participant }: SuiteStore,
  life: Incarnation,
  limit = 500,
): Promise<{ deleted: number; steps: number }> {
  let deleted = 0;
  for (let steps = 1; ; steps += 1) {
    const step = await participant.deleteStep(scope, life, { limit });
    deleted += step.deleted;
    if (step.done) return { deleted, steps };
    expect(steps, "a delete ends").toBeLessThan(1_000);
  }
}

async function held({ participant }: SuiteStore, of: Scope = scope): Promise<string[]> {
  const found: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await participant.incarnations(of, { limit: 3, cursor });
    found.push(...page.lives.map(({ incarnation }) => incarnation));
    ({ cursor } = page);
  } while (cursor !== undefined);
  return found;
}

/** `own`: whether it fences and refuses writes itself; the objects' fence is that of their documents. */
export function participantSuite(open: () => SuiteStore, { own }: { readonly own: boolean }): void {
  it("R-TG-66 R-TG-67 R-TG-69 R-TG-70 the first write creates it; a delete removes everything in bounded steps, and reports how much", async () => {
    const store = open();
    const life = newLife();
    expect(await store.participant.count(scope, life)).toBe(0);
    expect(await store.put(scope, life, 130)).toBe(true);
    const before = await store.participant.count(scope, life);
    expect(before).toBeGreaterThan(0);
    const { deleted, steps } = await remove(store, life, 20);
    expect(deleted).toBeGreaterThanOrEqual(before);
    expect(steps).toBeGreaterThan(1);
    expect(await store.participant.count(scope, life)).toBe(0);
    expect(await store.reads(scope, life)).toBe(false);
  });

  it("R-TG-68 an unknown incarnation is a success with 0, repeatedly", async () => {
    const store = open();
    const life = newLife();
    for (let i = 0; i < 3; i += 1) {
      expect((await remove(store, life)).deleted).toBe(0);
      expect(await store.participant.count(scope, life)).toBe(0);
    }
  });

  it("R-TG-47 after a delete every write of that incarnation is refused, even if it had no data", async () => {
    const store = open();
    for (const rows of [0, 4]) {
      const life = newLife();
      if (rows > 0) await store.put(scope, life, rows);
      await remove(store, life);
      expect(await store.participant.count(scope, life), `${rows}`).toBe(0);
      if (!own) continue;
      expect(await store.put(scope, life, 1)).toBe(false);
      expect(await store.participant.count(scope, life), `${rows}`).toBe(0);
    }
  });

  it("R-TG-30 another incarnation, another tenant's and one with a common name prefix stay complete", async () => {
    const store = open();
    const life = newLife();
    const other = newLife();
    await store.put(scope, life, 5);
    await store.put(scope, other, 5);
    const foreign = tenantScope("other");
    await store.put(foreign, life, 5);
    const counts = [await store.participant.count(scope, other), await store.participant.count(foreign, life)];
    await remove(store, life);
    expect([await store.participant.count(scope, other), await store.participant.count(foreign, life)]).toEqual(counts);
    expect([await store.reads(scope, other), await store.reads(foreign, life)]).toEqual([true, true]);
  });

  it("R-TG-53 a fence keeps every byte and can be undone; a delete cannot", async () => {
    const store = open();
    const life = newLife();
    await store.put(scope, life, 6);
    const before = await store.participant.count(scope, life);
    for (let i = 0; i < 2; i += 1) {
      await store.participant.fence(scope, life, { purgeAt: Date.now() + 86_400_000 });
      await store.participant.fence(scope, life, { purgeAt: Date.now() + 86_400_000 });
      if (own) expect(await store.put(scope, life, 1)).toBe(false);
      expect(await store.participant.count(scope, life)).toBe(before);
      await store.participant.unfence(scope, life, { archived: false });
      await store.participant.unfence(scope, life, { archived: false });
      expect(await store.reads(scope, life)).toBe(true);
    }
    await remove(store, life);
    await store.participant.unfence(scope, life, { archived: false }).catch(() => {});
    if (own) expect(await store.put(scope, life, 1)).toBe(false);
    expect(await store.participant.count(scope, life)).toBe(0);
  });

  it("R-TG-59 two concurrent deletes of one incarnation leave nothing", async () => {
    const store = open();
    const life = newLife();
    await store.put(scope, life, 60);
    const ends = await Promise.allSettled([remove(store, life, 10), remove(store, life, 10), remove(store, life, 10)]);
    if (ends.some(({ status }) => status === "rejected")) await remove(store, life);
    expect(await store.participant.count(scope, life)).toBe(0);
  });

  it("R-TG-70 lists the incarnations it holds, in pages, and not purged ones", async () => {
    const store = open();
    const lives = Array.from({ length: 7 }, () => newLife());
    for (const life of lives) await store.put(scope, life, 1);
    await expect.poll(() => held(store)).toEqual(expect.arrayContaining(lives.map(({ incarnation }) => incarnation)));
    for (const life of lives.slice(0, 4)) await remove(store, life);
    await expect
      .poll(async () =>
        (await held(store)).filter((one) => lives.some(({ incarnation }) => incarnation === one)).toSorted(),
      )
      .toEqual(
        lives
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
    const life = newLife();
    await store.put(scope, life, 3);
    const before = await store.participant.count(scope, life);
    await store.participant.fence(scope, life, { purgeAt: Date.now() + 1_000 });
    await store.participant.unfence(scope, life, { archived: true });
    expect((await store.participant.archive(scope, life)).count).toBeGreaterThan(0);
    expect(await store.participant.count(scope, life)).toBe(before);
  });
}
