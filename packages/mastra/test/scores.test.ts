import type { SaveScorePayload } from "@mastra/core/evals";
import type { ListScoresByScorerIdInput } from "@mastra/core/storage";
import { describe, expect, it } from "vitest";
import { dateAt, domainsOf, openStores, ways } from "./support/stores.ts";

function score(i: number): SaveScorePayload {
  return {
    id: `s${i}`,
    scorerId: i % 2 === 0 ? "even" : "odd",
    runId: `run${i % 3}`,
    entityId: "agent1",
    entityType: i < 5 ? "AGENT" : "WORKFLOW",
    source: i < 3 ? "LIVE" : "TEST",
    traceId: "trace",
    spanId: `span${i % 2}`,
    scorer: { name: "even" },
    entity: { id: "agent1" },
    output: { i },
    score: i / 10,
    createdAt: dateAt(i),
    ...(i > 3 ? { organizationId: "o1" } : {}),
  } as unknown as SaveScorePayload;
}

describe.each(ways)("scores and thread state on %s, %s", (engine, via) => {
  it("R-AGT-95 Mastra scores: saved, saved again, and listed by scorer, run, entity and span", async () => {
    await using stores = await openStores(engine, via);
    for (const { scores } of [stores.ours, stores.reference])
      for (let i = 0; i < 8; i += 1) await scores.saveScore(score(i));
    const pages = [
      { page: 0, perPage: 2 },
      { page: 1, perPage: 2 },
      { page: 0, perPage: false },
    ] as const;
    for (const pagination of pages) {
      const wishes: readonly Omit<ListScoresByScorerIdInput, "pagination">[] = [
        { scorerId: "even" },
        { scorerId: "odd", entityId: "agent1", entityType: "AGENT", source: "LIVE" },
        { scorerId: "even", filters: { organizationId: "o1" } },
        { scorerId: "nobody" },
      ];
      for (const wish of wishes) {
        const [ours, theirs] = [
          await stores.ours.scores.listScoresByScorerId({ ...wish, pagination }),
          await stores.reference.scores.listScoresByScorerId({ ...wish, pagination }),
        ];
        expect(bare(ours)).toEqual(bare(theirs));
      }
      const span = { traceId: "trace", spanId: "span1", pagination };
      expect(bare(await stores.ours.scores.listScoresBySpan(span))).toEqual(
        bare(await stores.reference.scores.listScoresBySpan(span)),
      );
    }
    const { scores } = stores.ours;
    const all = { page: 0, perPage: false } as const;
    expect((await scores.listScoresByRunId({ runId: "run1", pagination: all })).scores.map(({ id }) => id)).toEqual([
      "s7",
      "s4",
      "s1",
    ]);
    expect(
      (await scores.listScoresByEntityId({ entityId: "agent1", entityType: "WORKFLOW", pagination: all })).pagination
        .total,
    ).toBe(3);
    const { score: again } = await scores.saveScore({ ...score(2), score: 1 });
    expect([again.createdAt, (await scores.getScoreById({ id: "s2" }))?.score]).toEqual([dateAt(2), 1]);
    expect(await scores.getScoreById({ id: "nobody" })).toBeNull();
    const { id: _id, ...unnamed } = score(1) as SaveScorePayload & { id?: string };
    expect((await scores.saveScore(unnamed as SaveScorePayload)).score.id).not.toBe("");
    await scores.dangerouslyClearAll();
    expect(await scores.getScoreById({ id: "s2" })).toBeNull();
  });

  it("R-AGT-95 Mastra thread state: one value per thread and type; domains that are not offered are undefined", async () => {
    await using stores = await openStores(engine, via);
    const { threadState } = stores.store.stores;
    const key = { threadId: "t1", type: "task" };
    expect(await threadState?.getState(key)).toBeUndefined();
    await threadState?.setState({ ...key, value: [{ id: "1" }] });
    await threadState?.setState({ ...key, value: [{ id: "2" }] });
    await threadState?.setState({ ...key, type: "goal", value: null });
    const other = (await stores.another()).stores.threadState;
    expect([await other?.getState(key), await other?.getState({ ...key, type: "goal" })]).toEqual([
      [{ id: "2" }],
      null,
    ]);
    await threadState?.deleteState(key);
    expect(await threadState?.getState(key)).toBeUndefined();
    await stores.store.init();
    expect(await stores.store.getStore("observability")).toBeUndefined();
    expect(await stores.store.getStore("agents")).toBeUndefined();
    expect(domainsOf(stores.store).memory.supportsObservationalMemory).toBe(false);
    await expect(domainsOf(stores.store).memory.getObservationalMemory("t1", "r1")).rejects.toThrow(/not implemented/);
  });
});

function bare({ scores, pagination }: { readonly scores: readonly object[]; readonly pagination: object }) {
  return { pagination, scores: scores.map((row) => ({ ...row, updatedAt: undefined })) };
}
