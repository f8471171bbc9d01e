/**
 * Measures one candidate: its build, then every parameter of its grid until recall@10 reaches 0.95 on the 1,000 queries, one query at a time.
 * The operating point is picked on the same queries, for every candidate alike. CPU per query is the robust column on a shared machine.
 */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { inProcess, type Build, type Candidate, type Field, type Ids, type Parameter } from "./candidate.ts";
import { k, type Questions } from "./data.ts";

export interface Point {
  readonly parameter: Parameter;
  readonly recall: number;
  /** Of the process that searches, per query; the best of the rounds, to exclude noisy neighbours. */
  readonly cpuMs: number;
  /** Of this process, per query; differs from `cpuMs` only for servers. */
  readonly clientCpuMs: number;
  /** Of the best round, like the latencies. */
  readonly qps: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
}

export interface Measured {
  readonly name: string;
  readonly note: string;
  readonly data: string;
  readonly build: Build;
  readonly sweep: readonly Point[];
  /** The first point of the sweep with enough recall, measured again; else the one with the most. */
  readonly chosen: Point;
  readonly reached: boolean;
  /** The same with a filter, from the chosen parameter on; or why there is none. */
  readonly filtered: Readonly<Record<Field, Point>> | string;
  /** After the searches. */
  readonly rssBytes: number;
}

export interface MeasureOptions {
  /** 0.95 */
  readonly recall?: number;
  /** Rounds over all queries at the chosen point: 7. */
  readonly rounds?: number;
}

/** `load` returns the data once; it is released after the build, so that it does not count as the candidate's memory. */
export async function measure<Data extends { readonly name: string }, Query>(
  candidate: Candidate<Data, Query>,
  load: () => Promise<{ data: Data; questions: Questions<Query> }> | { data: Data; questions: Questions<Query> },
  options: MeasureOptions = {},
): Promise<Measured> {
  const { recall = 0.95, rounds = 7 } = options;
  const { build, data, questions } = await buildAndForget(candidate, load);
  collectGarbage();
  const sweep = await climb(candidate, questions, candidate.parameters, undefined, recall);
  const best = sweep.reduce((a, b) => (b.recall > a.recall ? b : a));
  const last = sweep.at(-1) ?? best;
  const picked = last.recall >= recall ? last : best;
  const chosen = await measurePoint(candidate, questions, picked.parameter, undefined, rounds);
  const rssBytes = candidate.rssBytes();
  const onwards = candidate.parameters.slice(candidate.parameters.indexOf(picked.parameter));
  const field = async (name: Field): Promise<Point> =>
    measurePoint(
      candidate,
      questions,
      (await climb(candidate, questions, onwards, name, recall)).reduce((a, b) => (b.recall > a.recall ? b : a))
        .parameter,
      name,
      3,
    );
  const filtered = candidate.noFilter ?? { tag10: await field("tag10"), tag1: await field("tag1") };
  return {
    name: candidate.name,
    note: candidate.note,
    data,
    build,
    sweep,
    chosen,
    reached: chosen.recall >= recall,
    filtered,
    rssBytes,
  };
}

async function buildAndForget<Data extends { readonly name: string }, Query>(
  candidate: Candidate<Data, Query>,
  load: () => Promise<{ data: Data; questions: Questions<Query> }> | { data: Data; questions: Questions<Query> },
): Promise<{ build: Build; data: string; questions: Questions<Query> }> {
  const { data, questions } = await load();
  return { build: await candidate.build(data), data: data.name, questions };
}

function collectGarbage(): void {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
}

/** One round for each parameter, until one has enough recall. */
async function climb<Query>(
  candidate: Candidate<never, Query>,
  questions: Questions<Query>,
  parameters: readonly Parameter[],
  field: Field | undefined,
  recall: number,
): Promise<Point[]> {
  const points: Point[] = [];
  for (const parameter of parameters) {
    const point = await measurePoint(candidate, questions, parameter, field, 1);
    points.push(point);
    if (point.recall >= recall) break;
  }
  return points;
}

export async function measurePoint<Query>(
  candidate: Candidate<never, Query>,
  questions: Questions<Query>,
  parameter: Parameter,
  field: Field | undefined,
  rounds: number,
): Promise<Point> {
  const { count } = questions;
  const queries = Array.from({ length: count }, (_, i) => questions.query(i));
  const filters = Array.from({ length: count }, (_, i) =>
    field === undefined ? undefined : questions.filter(i, field),
  );
  const ask = (i: number): Ids | Promise<Ids> => candidate.search(queries[i] as Query, k, parameter, filters[i]);
  for (let i = 0; i < Math.min(count, 200); i += 1) await ask(count - 1 - i);
  const answers: Ids[] = [];
  const measured: { cpuMs: number; clientCpuMs: number; wallMs: number; latencies: Float64Array }[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const latencies = new Float64Array(count);
    const [cpu, client, start] = [candidate.cpuMs(), inProcess.cpuMs(), performance.now()];
    for (let i = 0; i < count; i += 1) {
      const asked = performance.now();
      const found = ask(i);
      answers[i] = found instanceof Promise ? await found : found;
      latencies[i] = performance.now() - asked;
    }
    const wallMs = performance.now() - start;
    measured.push({
      cpuMs: candidate.cpuMs() - cpu,
      clientCpuMs: inProcess.cpuMs() - client,
      wallMs,
      latencies: latencies.sort(),
    });
  }
  const quickest = measured.reduce((a, b) => (b.wallMs < a.wallMs ? b : a));
  const least = (pick: (round: (typeof measured)[number]) => number) => Math.min(...measured.map(pick));
  return {
    parameter,
    recall: answers.reduce((sum, found, i) => sum + recallOf(found, questions.truth(i, field)), 0) / count,
    cpuMs: least(({ cpuMs }) => cpuMs) / count,
    clientCpuMs: least(({ clientCpuMs }) => clientCpuMs) / count,
    qps: (count / quickest.wallMs) * 1000,
    p50Ms: quickest.latencies[count >> 1] ?? Number.NaN,
    p95Ms: quickest.latencies[Math.floor(count * 0.95)] ?? Number.NaN,
  };
}

/** Recall; a repeated id counts once. Fewer than k matches are possible with a filter. */
export function recallOf(found: Ids, truth: Int32Array): number {
  const wanted = new Set(truth.filter((id) => id >= 0));
  if (wanted.size === 0) return 1;
  return new Set(Array.from(found).filter((id) => wanted.has(id))).size / wanted.size;
}
