/**
 * Fits the curves of calibration.ts on a test set, and measures them: how many unanswerable queries are refused at the floor, and what the
 * floor costs in nDCG@10. Half of the unanswerable queries are for the fit, the others for the figures.
 */
import type { Caller } from "../domain/caller.ts";
import type { ChunkingStrategy } from "../domain/chunking.ts";
import { type Evidence, keywordMax } from "../knowledge/search/calibration.ts";
import type { SearchHit } from "../knowledge/search/search-result.ts";
import type { BeirSet } from "./beir.ts";
import type { EvaluatedKnowledge } from "./evaluated-knowledge.ts";
import { mean, ndcgAt } from "./measure.ts";
import { idField, storeSet } from "./store-set.ts";
import { nonsenseQuestions, offTopicQuestions } from "./unanswerable.ts";

const depth = 100;
/** Maximum cost of the floor. */
const ndcgLossMax = 0.001;

export interface CalibrateOptions {
  readonly chunking: ChunkingStrategy;
  readonly onProgress?: ((done: number, total: number) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

interface Curve {
  readonly bias: number;
  readonly vector: number;
  readonly keyword: number;
}

export interface FittedCurve {
  readonly mode: "hybrid" | "vector" | "keyword";
  readonly curve: Curve;
  /** The highest best score that may be refused: see above. */
  readonly floor: number;
  readonly ndcg: number;
  readonly ndcg_with_floor: number;
  /** Shares of queries. */
  readonly refused: { readonly nonsense: number; readonly off_topic: number; readonly judged: number };
}

interface Answered {
  readonly kind: "judged" | "nonsense" | "off_topic";
  /** For the figures, not for the fit. */
  readonly heldOut: boolean;
  readonly hits: readonly { readonly evidence: Required<Evidence>; readonly relevant: boolean }[];
  readonly ndcg: number;
}

/** What searches refuse with the current floor: shares of queries, and nDCG@10 with and without it. */
export interface Refusals {
  readonly mode: "hybrid" | "vector";
  readonly nonsense: number;
  readonly off_topic: number;
  readonly judged: number;
  readonly ndcg: number;
  readonly ndcg_without_floor: number;
}

export async function refusals(
  knowledge: EvaluatedKnowledge,
  caller: Caller,
  set: BeirSet,
  mode: Refusals["mode"],
  options: CalibrateOptions,
): Promise<Refusals> {
  const { repository, collection } = await storeSet(knowledge, caller, set, {
    chunking: options.chunking,
    signal: options.signal,
  });
  const ask = async (query: string, min_score?: number) => {
    options.signal?.throwIfAborted();
    return knowledge.search.run(caller, {
      query,
      mode,
      limit: depth,
      min_score,
      collections: [{ repository, collection }],
    });
  };
  const refused = async (questions: readonly string[]) => {
    let count = 0;
    for (const question of questions) if ((await ask(question)).outcome === "no_match") count += 1;
    return count / questions.length;
  };
  const ndcg = async (min_score?: number) => {
    const scores: number[] = [];
    for (const { text, relevant } of set.queries) {
      const { hits } = await ask(text, min_score);
      scores.push(
        ndcgAt(10).of({ ranked: [...new Set(hits.map((hit) => hit.metadata[idField] as string))], relevant }),
      );
    }
    return mean(scores);
  };
  return {
    mode,
    nonsense: await refused(nonsenseQuestions),
    off_topic: await refused(offTopicQuestions),
    judged: await refused(set.queries.map(({ text }) => text)),
    ndcg: await ndcg(),
    ndcg_without_floor: await ndcg(0),
  };
}

export async function calibrate(
  knowledge: EvaluatedKnowledge,
  caller: Caller,
  set: BeirSet,
  options: CalibrateOptions,
): Promise<readonly FittedCurve[]> {
  const { repository, collection } = await storeSet(knowledge, caller, set, {
    chunking: options.chunking,
    signal: options.signal,
  });
  const questions = [
    ...set.queries.map(({ text, relevant }) => ({ text, relevant, kind: "judged" as const, heldOut: false })),
    ...nonsenseQuestions.map((text, i) => ({
      text,
      relevant: new Map<string, number>(),
      kind: "nonsense" as const,
      heldOut: i % 2 === 0,
    })),
    ...offTopicQuestions.map((text, i) => ({
      text,
      relevant: new Map<string, number>(),
      kind: "off_topic" as const,
      heldOut: i % 2 === 0,
    })),
  ];
  const fitted: FittedCurve[] = [];
  for (const mode of ["hybrid", "vector", "keyword"] as const) {
    const answered: Answered[] = [];
    for (const { text, relevant, kind, heldOut } of questions) {
      options.signal?.throwIfAborted();
      const { hits } = await knowledge.search.run(caller, {
        query: text,
        mode,
        limit: depth,
        min_score: 0,
        explain: true,
        graph: mode === "hybrid" ? { hops: 0 } : undefined,
        collections: [{ repository, collection }],
      });
      const documentOf = (hit: SearchHit) => hit.metadata[idField] as string;
      const ranked = [...new Set(hits.map(documentOf))];
      const judged = hits.map((hit) => ({
        evidence: evidenceOf(hit),
        relevant: (relevant.get(documentOf(hit)) ?? 0) > 0,
      }));
      answered.push({ kind, heldOut, hits: judged, ndcg: ndcgAt(10).of({ ranked, relevant }) });
      options.onProgress?.(fitted.length * questions.length + answered.length, questions.length * 3);
    }
    fitted.push(fit(mode, answered));
  }
  return fitted;
}

function evidenceOf({ explain }: SearchHit): Required<Evidence> {
  const { vector = 0, keyword = 0 } = (explain?.["evidence"] ?? {}) as Evidence;
  return { vector, keyword: Math.min(keyword, keywordMax) };
}

function fit(mode: FittedCurve["mode"], answered: readonly Answered[]): FittedCurve {
  const features = ({ vector, keyword }: Required<Evidence>) =>
    mode === "hybrid" ? [vector, keyword] : mode === "vector" ? [vector] : [keyword];
  const known = answered
    .filter(({ heldOut }) => !heldOut)
    .flatMap(({ kind, hits }) => hits.map(({ evidence, relevant }) => ({ evidence, relevant, kind })));
  // Relevant hits weigh as much as all others; of these, the judged queries' as much as the unanswerable ones'.
  const group = ({ relevant, kind }: (typeof known)[number]) =>
    relevant ? "relevant" : kind === "judged" ? "judged" : "unanswerable";
  const counts = new Map<string, number>();
  for (const one of known) counts.set(group(one), (counts.get(group(one)) ?? 0) + 1);
  const shares: Readonly<Record<string, number>> = { relevant: 500, judged: 250, unanswerable: 250 };
  const examples = known.map((one): Example => {
    const name = group(one);
    return {
      features: features(one.evidence),
      relevant: one.relevant,
      weight: (shares[name] as number) / (counts.get(name) as number),
    };
  });
  const [bias = 0, first = 0, second = 0] = fitLogistic(examples);
  const curve = {
    bias,
    vector: mode === "keyword" ? 0 : first,
    keyword: mode === "hybrid" ? second : mode === "keyword" ? first : 0,
  };
  const best = ({ hits }: Answered) => hits.reduce((most, { evidence }) => Math.max(most, scoreOf(curve, evidence)), 0);
  const judged = answered.filter(({ kind }) => kind === "judged").map((one) => ({ best: best(one), ndcg: one.ndcg }));
  const floor = floorFor(judged);
  const refusedOf = (kind: Answered["kind"]) => {
    const some = answered.filter((one) => one.kind === kind && (kind === "judged" || one.heldOut));
    return some.filter((one) => best(one) < floor).length / some.length;
  };
  return {
    mode,
    curve,
    floor,
    ndcg: mean(judged.map(({ ndcg }) => ndcg)),
    ndcg_with_floor: mean(judged.map((one) => (one.best < floor ? 0 : one.ndcg))),
    refused: { nonsense: refusedOf("nonsense"), off_topic: refusedOf("off_topic"), judged: refusedOf("judged") },
  };
}

/** The highest floor within the allowed cost. */
function floorFor(judged: readonly { readonly best: number; readonly ndcg: number }[]): number {
  let lost = 0;
  let floor = 0;
  for (const { best, ndcg } of judged.toSorted((a, b) => a.best - b.best)) {
    floor = best;
    lost += ndcg / judged.length;
    if (lost > ndcgLossMax) break;
  }
  return floor;
}

function scoreOf({ bias, vector, keyword }: Curve, evidence: Required<Evidence>): number {
  return 1 / (1 + Math.exp(-(bias + vector * evidence.vector + keyword * evidence.keyword)));
}

/** Logistic regression by Newton's method, with example weights and slight regularisation, so that it converges on separable sets, too. */
interface Example {
  readonly features: readonly number[];
  readonly relevant: boolean;
  readonly weight: number;
}

const rounds = 50;
const ridge = 1e-3;

/** The bias first, then one coefficient per feature. */
function fitLogistic(examples: readonly Example[]): readonly number[] {
  const size = (examples[0]?.features.length ?? 0) + 1;
  let coefficients: number[] = Array.from({ length: size }, () => 0);
  for (let round = 0; round < rounds; round += 1) {
    const gradient = coefficients.map((value, i) => (i === 0 ? 0 : -ridge * value));
    const hessian = coefficients.map((_, i) => coefficients.map((__, k) => (i === k ? ridge : 0)));
    for (const { features, relevant, weight } of examples) {
      const x = [1, ...features];
      const p = 1 / (1 + Math.exp(-x.reduce((sum, value, i) => sum + value * (coefficients[i] as number), 0)));
      for (let i = 0; i < size; i += 1) {
        gradient[i] = (gradient[i] as number) + weight * ((relevant ? 1 : 0) - p) * (x[i] as number);
        const row = hessian[i] as number[];
        for (let k = 0; k < size; k += 1)
          row[k] = (row[k] as number) + weight * p * (1 - p) * (x[i] as number) * (x[k] as number);
      }
    }
    const step = solved(hessian, gradient);
    coefficients = coefficients.map((value, i) => value + (step[i] as number));
    if (Math.max(...step.map(Math.abs)) < 1e-9) break;
  }
  return coefficients;
}

/** Gaussian elimination with pivoting. */
function solved(matrix: readonly (readonly number[])[], right: readonly number[]): readonly number[] {
  const rows = matrix.map((row, i) => [...row, right[i] as number]);
  const size = rows.length;
  for (let column = 0; column < size; column += 1) {
    const pivot = rows
      .slice(column)
      .reduce(
        (best, row, i) =>
          Math.abs(row[column] as number) > Math.abs(rows[best]?.[column] as number) ? column + i : best,
        column,
      );
    [rows[column], rows[pivot]] = [rows[pivot] as number[], rows[column] as number[]];
    const head = rows[column] as number[];
    for (const [i, row] of rows.entries()) {
      if (i === column) continue;
      const factor = (row[column] as number) / (head[column] as number);
      for (let k = column; k <= size; k += 1) row[k] = (row[k] as number) - factor * (head[k] as number);
    }
  }
  return rows.map((row, i) => (row[size] as number) / (row[i] as number));
}
