import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, describe, expect, it } from "vitest";
import { until } from "../../test/support/until.ts";
import type { Caller } from "../domain/caller.ts";
import { open } from "../open.ts";
import type { JobView } from "../knowledge/views.ts";
import { evaluationLimits, type NewEvaluation } from "./evaluation-input.ts";
import type { EvaluationRun } from "./evaluations.ts";
import { forAllTests } from "../../test/support/for-tests.ts";

const { queriesMax, runsMax, rankedKeptMax } = evaluationLimits;
const texts = {
  bees: "Bees dance to tell where flowers are.",
  bread: "Yeast makes bread rise.",
  moon: "The moon moves the sea.",
};

let admin: Caller;
let anna: Caller;
let ben: Caller;
const ids = new Map<string, string>();
const collections = [{ repository: "library", collection: "open" }];

const pinakes = forAllTests(() => open({ items: "memory:", objects: "memory:" }));
beforeAll(async () => {
  const { knowledge } = pinakes;
  admin = pinakes.as({ tenant: "acme", userId: "root", role: "admin" });
  anna = pinakes.as({ tenant: "acme", userId: "anna", groups: ["readers"] });
  ben = pinakes.as({ tenant: "acme", userId: "ben" });
  await knowledge.repositories.create(admin, {
    repository_id: "library",
    name: "Library",
    chunking_strategy: { type: "NONE" },
  });
  await knowledge.collections.create(admin, "library", { collection_id: "open", name: "Open" });
  await knowledge.collections.create(admin, "library", {
    collection_id: "closed",
    name: "Closed",
    allowed_groups: ["readers"],
  });
  for (const collection of ["open", "closed"]) {
    for (const [name, text] of Object.entries(texts)) {
      const { document_id } = await knowledge.documents.upload(admin, "library", collection, {
        name: `${name}.txt`,
        body: bodyOf(text),
      });
      ids.set(`${collection}/${name}`, document_id);
    }
    await until(
      async () => (await knowledge.collections.get(admin, "library", collection)).documents_by_status.indexed === 3,
    );
  }
});

async function* bodyOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

function input(collection: string, changes: Partial<NewEvaluation> = {}): NewEvaluation {
  const document = (name: string) => ({ document_id: ids.get(`${collection}/${name}`) as string });
  return {
    name: "Questions",
    collections: [{ repository: "library", collection }],
    queries: [
      { query: "bees dance", relevant: [{ ...document("bees"), grade: 2 }] },
      { query: "the sea", relevant: [document("moon"), { document_id: "not-there" }] },
    ],
    ...changes,
  };
}

async function finished(caller: Caller, { job_id }: JobView): Promise<JobView> {
  await until(async () => ["succeeded", "failed"].includes((await pinakes.knowledge.jobs.get(caller, job_id)).status));
  return pinakes.knowledge.jobs.get(caller, job_id);
}

describe("stored evaluations", () => {
  it("run as a job whose result has the metrics, verified by hand", async () => {
    const { knowledge } = pinakes;
    const { evaluation_id, ...created } = await knowledge.evaluations.create(anna, input("open"));
    expect(created).toMatchObject({
      name: "Questions",
      query_count: 2,
      k: 10,
      created_by: "anna",
      runs: [],
      collections,
    });
    const job = await finished(anna, await knowledge.evaluations.run(anna, evaluation_id, { mode: "keyword" }));
    expect(job).toMatchObject({
      kind: "evaluation",
      status: "succeeded",
      progress: { done: 2, total: 2 },
      created_by: "anna",
    });
    // The second query finds one of two, at rank 1: 1 / (1 + 1/log2(3)).
    const second = 1 / (1 + 1 / Math.log2(3));
    expect(job.result).toMatchObject({
      queries: 2,
      k: 10,
      recall: 0.75,
      mrr: 1,
      configuration: { mode: "keyword" },
      run_by: "anna",
    });
    expect((job.result as unknown as EvaluationRun).ndcg).toBeCloseTo((1 + second) / 2, 12);
    const { runs } = await knowledge.evaluations.get(anna, evaluation_id);
    expect(runs).toEqual([job.result]);
    await finished(anna, await knowledge.evaluations.run(anna, evaluation_id, { fusion: "rrf", vector_weight: 0.3 }));
    expect(
      (await knowledge.evaluations.get(anna, evaluation_id)).runs.map(({ configuration }) => configuration),
    ).toEqual([{ fusion: "rrf", vector_weight: 0.3 }, { mode: "keyword" }]);
  });

  it(`the metrics of the last ${runsMax} runs are kept`, async () => {
    const { knowledge } = pinakes;
    const { evaluation_id } = await knowledge.evaluations.create(anna, input("open"));
    const jobs: string[] = [];
    for (let run = 0; run <= runsMax; run += 1)
      jobs.push(
        (await finished(anna, await knowledge.evaluations.run(anna, evaluation_id, { mode: "keyword" }))).job_id,
      );
    expect((await knowledge.evaluations.get(anna, evaluation_id)).runs.map(({ job_id }) => job_id)).toEqual(
      jobs.toReversed().slice(0, runsMax),
    );
  });

  it("k limits the ranking", async () => {
    const { knowledge } = pinakes;
    const relevant = Object.keys(texts).map((name) => ({ document_id: ids.get(`open/${name}`) as string }));
    const { evaluation_id } = await knowledge.evaluations.create(
      anna,
      input("open", { k: 1, queries: [{ query: "bees dance", relevant }] }),
    );
    const { result } = await finished(anna, await knowledge.evaluations.run(anna, evaluation_id, { mode: "vector" }));
    expect(result).toMatchObject({ k: 1, ndcg: 1, mrr: 1 });
    expect((result as unknown as EvaluationRun).recall).toBeCloseTo(1 / 3, 12);
  });
});

describe("the questions of an evaluation", () => {
  const objects = async (evaluation_id: string) =>
    (await pinakes.objects.list(admin.scope, `evaluations/${evaluation_id}`)).keys.map(({ key }) =>
      key.slice(`evaluations/${evaluation_id}`.length),
    );

  it("are read page by page, with their outcomes in a run, verified by hand", async () => {
    const { evaluations } = pinakes.knowledge;
    const { evaluation_id } = await evaluations.create(anna, input("open"));
    const [bees, moon] = [ids.get("open/bees") as string, ids.get("open/moon") as string];
    const first = { number: 1, query: "bees dance", relevant: [{ document_id: bees, grade: 2 }] };
    const second = {
      number: 2,
      query: "the sea",
      relevant: [moon, "not-there"].map((document_id) => ({ document_id, grade: 1 })),
    };
    expect(await evaluations.questions(anna, evaluation_id)).toEqual({ items: [first, second], next_cursor: null });
    expect(await evaluations.questions(anna, evaluation_id, { limit: 1 })).toEqual({
      items: [first],
      next_cursor: "1",
    });
    expect(await evaluations.questions(anna, evaluation_id, { limit: 1, cursor: "1" })).toEqual({
      items: [second],
      next_cursor: null,
    });
    expect(await evaluations.questions(anna, evaluation_id, { cursor: String(queriesMax) })).toEqual({
      items: [],
      next_cursor: null,
    });
    for (const cursor of [String(queriesMax + 1), "-1", "x", ""])
      await expect(evaluations.questions(anna, evaluation_id, { cursor })).rejects.toMatchObject({ code: "INVALID" });
    const { job_id } = await finished(anna, await evaluations.run(anna, evaluation_id, { mode: "keyword" }));
    const { items, next_cursor } = await evaluations.runQuestions(anna, evaluation_id, job_id);
    expect(items).toEqual([
      {
        ...first,
        ndcg: 1,
        recall: 1,
        mrr: 1,
        search_ms: expect.any(Number),
        found: [{ document_id: bees, rank: 1 }],
        ranked: [bees],
      },
      {
        ...second,
        ndcg: expect.closeTo(1 / (1 + 1 / Math.log2(3)), 12),
        recall: 0.5,
        mrr: 1,
        search_ms: expect.any(Number),
        found: [{ document_id: moon, rank: 1 }],
        ranked: [moon],
      },
    ]);
    expect(next_cursor).toBeNull();
    expect((await evaluations.runQuestions(anna, evaluation_id, job_id, { limit: 1, cursor: "1" })).items).toEqual(
      items.slice(1),
    );
    await expect(evaluations.runQuestions(anna, evaluation_id, "no-run")).rejects.toMatchObject({ code: "NOT_FOUND" });
    // A run from before outcomes were stored.
    await pinakes.objects.delete(admin.scope, [`evaluations/${evaluation_id}/runs/${job_id}.json`]);
    await expect(evaluations.runQuestions(anna, evaluation_id, job_id)).rejects.toThrow(
      /were not stored, only its means/,
    );
  });

  it("other users see what a run found only among judged documents; the full ranking is for who ran it and for admins", async () => {
    const { evaluations } = pinakes.knowledge;
    const { evaluation_id } = await evaluations.create(anna, input("open"));
    const { job_id } = await finished(admin, await evaluations.run(admin, evaluation_id, { mode: "vector" }));
    const [own] = (await evaluations.runQuestions(admin, evaluation_id, job_id)).items;
    expect(own?.ranked).toHaveLength(3);
    const [answer] = (await evaluations.runQuestions(anna, evaluation_id, job_id)).items;
    expect(answer).toEqual({ ...own, ranked: null });
    expect(answer?.found).toEqual([{ document_id: ids.get("open/bees"), rank: 1 }]);
    await expect(evaluations.runQuestions(ben, evaluation_id, job_id)).rejects.toMatchObject({ code: "NOT_FOUND" });
    await expect(evaluations.questions(ben, evaluation_id)).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  it(`are deleted with the evaluation, and those of a run with the run, once there are ${runsMax} newer ones`, async () => {
    const { evaluations } = pinakes.knowledge;
    const { evaluation_id } = await evaluations.create(anna, input("open"));
    const run = async () =>
      (await finished(anna, await evaluations.run(anna, evaluation_id, { mode: "keyword" }))).job_id;
    const jobs: string[] = [];
    for (let i = 0; i < runsMax; i += 1) jobs.push(await run());
    expect(await objects(evaluation_id)).toHaveLength(runsMax + 1);
    jobs.push(await run());
    expect((await objects(evaluation_id)).toSorted()).toEqual(
      [".json", ...jobs.slice(1).map((job) => `/runs/${job}.json`)].toSorted(),
    );
    for (const other of [ben, pinakes.as({ tenant: "globex", userId: "anna", role: "admin" })])
      await expect(evaluations.delete(other, evaluation_id)).rejects.toMatchObject({ code: "NOT_FOUND" });
    expect(await objects(evaluation_id)).toHaveLength(runsMax + 1);
    await evaluations.delete(anna, evaluation_id);
    expect(await objects(evaluation_id)).toEqual([]);
    await expect(evaluations.get(anna, evaluation_id)).rejects.toMatchObject({ code: "NOT_FOUND" });
    await expect(evaluations.delete(anna, evaluation_id)).rejects.toMatchObject({ code: "NOT_FOUND" });
    expect((await evaluations.list(anna, { limit: 100 })).items.map((one) => one.evaluation_id)).not.toContain(
      evaluation_id,
    );
  });

  it("a run that outlives its evaluation fails and leaves nothing behind", async () => {
    const { evaluations } = pinakes.knowledge;
    const many = Array.from({ length: 200 }, () => input("open").queries[0] as NewEvaluation["queries"][0]);
    const { evaluation_id } = await evaluations.create(anna, input("open", { queries: many }));
    const job = await evaluations.run(anna, evaluation_id, { mode: "keyword" });
    await until(async () => (await pinakes.knowledge.jobs.get(anna, job.job_id)).progress.done > 0);
    await evaluations.delete(admin, evaluation_id);
    expect(await finished(anna, job)).toMatchObject({ status: "failed" });
    expect(await objects(evaluation_id)).toEqual([]);
  });

  it("a run keeps at most the allowed number of ranked documents", async () => {
    const { knowledge } = pinakes;
    await knowledge.collections.create(admin, "library", { collection_id: "many", name: "Many" });
    for (let i = 0; i <= rankedKeptMax; i += 1)
      await knowledge.documents.upload(admin, "library", "many", {
        name: `${i}.txt`,
        body: bodyOf(`the same word ${i}`),
      });
    await until(
      async () =>
        (await knowledge.collections.get(admin, "library", "many")).documents_by_status.indexed === rankedKeptMax + 1,
    );
    const kept = async (k: number) => {
      const queries = [{ query: "same word", relevant: [{ document_id: "d" }] }];
      const { evaluation_id } = await knowledge.evaluations.create(anna, {
        name: "Many",
        collections: [{ repository: "library", collection: "many" }],
        queries,
        k,
      });
      const { job_id } = await finished(
        anna,
        await knowledge.evaluations.run(anna, evaluation_id, { mode: "keyword" }),
      );
      return (await knowledge.evaluations.runQuestions(anna, evaluation_id, job_id)).items[0]?.ranked?.length;
    };
    expect(await kept(rankedKeptMax)).toBe(rankedKeptMax);
    expect(await kept(rankedKeptMax + 1)).toBe(rankedKeptMax);
  });
});

describe("access to an evaluation", () => {
  it("its creator and admins see it; for others, and in other workspaces, it does not exist", async () => {
    const { knowledge } = pinakes;
    const { evaluation_id } = await knowledge.evaluations.create(anna, input("open", { name: "Annas" }));
    const stranger = pinakes.as({ tenant: "globex", userId: "anna", role: "admin" });
    expect(await knowledge.evaluations.get(admin, evaluation_id)).toMatchObject({ name: "Annas" });
    for (const other of [ben, stranger]) {
      await expect(knowledge.evaluations.get(other, evaluation_id)).rejects.toMatchObject({ code: "NOT_FOUND" });
      await expect(knowledge.evaluations.run(other, evaluation_id)).rejects.toMatchObject({ code: "NOT_FOUND" });
      expect((await knowledge.evaluations.list(other)).items).toEqual([]);
    }
    const { job_id } = await finished(anna, await knowledge.evaluations.run(anna, evaluation_id));
    await expect(knowledge.jobs.get(ben, job_id)).rejects.toMatchObject({ code: "NOT_FOUND" });
    expect((await finished(admin, await knowledge.evaluations.run(admin, evaluation_id))).result).toMatchObject({
      run_by: "root",
    });
    await expect(knowledge.evaluations.list({ ...anna })).rejects.toMatchObject({ code: "UNAUTHENTICATED" });
  });

  it("lists are newest first, page by page", async () => {
    const { knowledge } = pinakes;
    const cora = pinakes.as({ tenant: "acme", userId: "cora" });
    for (const name of ["one", "two", "three"]) {
      await knowledge.evaluations.create(cora, input("open", { name }));
      await sleep(2);
    }
    const first = await knowledge.evaluations.list(cora, { limit: 2 });
    expect(first.items.map(({ name }) => name)).toEqual(["three", "two"]);
    const rest = await knowledge.evaluations.list(cora, { limit: 2, cursor: first.next_cursor ?? "" });
    expect(rest).toMatchObject({ items: [{ name: "one" }], next_cursor: null });
    const all = await knowledge.evaluations.list(admin, { limit: 100 });
    expect(new Set(all.items.map(({ created_by }) => created_by))).toEqual(new Set(["anna", "cora"]));
  });

  it("collections must be readable at creation, when a run is started, and when it searches", async () => {
    const { knowledge } = pinakes;
    await expect(knowledge.evaluations.create(ben, input("closed"))).rejects.toMatchObject({ code: "NOT_FOUND" });
    const { evaluation_id } = await knowledge.evaluations.create(anna, input("closed"));
    expect(await finished(anna, await knowledge.evaluations.run(anna, evaluation_id))).toMatchObject({
      status: "succeeded",
      result: { mrr: 1 },
    });
    const without = pinakes.as({ tenant: "acme", userId: "anna" });
    await expect(knowledge.evaluations.run(without, evaluation_id)).rejects.toMatchObject({ code: "NOT_FOUND" });
    await knowledge.collections.update(admin, "library", "closed", { allowed_groups: ["writers"] });
    await expect(knowledge.evaluations.run(anna, evaluation_id)).rejects.toMatchObject({ code: "NOT_FOUND" });
    await knowledge.collections.update(admin, "library", "closed", { allowed_groups: ["readers"] });
  });

  it("me is the creator's personal repository, whoever runs it", async () => {
    const { knowledge } = pinakes;
    await knowledge.collections.create(anna, "me", { collection_id: "own", name: "Own" });
    const { evaluation_id, collections: named } = await knowledge.evaluations.create(
      anna,
      input("open", { collections: [{ repository: "me", collection: "own" }] }),
    );
    expect(named).toEqual([
      { repository: (await knowledge.repositories.get(anna, "me")).repository_id, collection: "own" },
    ]);
    expect(await finished(admin, await knowledge.evaluations.run(admin, evaluation_id))).toMatchObject({
      status: "succeeded",
      result: { ndcg: 0 },
    });
  });
});
