/** The exact best rows for each query, by brute force, on all cores. */
import { once } from "node:events";
import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import { filterOf, k, queryCount } from "./data.ts";
import { assembleKernel } from "./kernel.ts";

/** Ids, k per query, the best first. */
export type Answers = Readonly<Record<"none" | "tag10" | "tag1", Int32Array>>;

/** All arrays on shared memory. */
export interface TruthInput {
  readonly vectors: Float32Array;
  readonly tag10: Uint8Array;
  readonly tag1: Uint8Array;
  readonly queries: Float32Array;
  readonly rows: number;
  readonly dims: number;
}

export interface TruthTask extends TruthInput {
  readonly module: WebAssembly.Module;
  readonly from: number;
  readonly to: number;
}

export type TruthPart = Readonly<Record<keyof Answers, Best>>;

/** The best k per query so far; the lower id wins a tie, if rows come in order. */
export class Best {
  readonly ids = new Int32Array(queryCount * k).fill(-1);
  readonly scores = new Float32Array(queryCount * k).fill(Number.NEGATIVE_INFINITY);

  offer(query: number, id: number, score: number): void {
    const first = query * k;
    let at = first + k - 1;
    if (score <= (this.scores[at] as number)) return;
    for (; at > first && score > (this.scores[at - 1] as number); at -= 1) {
      this.scores[at] = this.scores[at - 1] as number;
      this.ids[at] = this.ids[at - 1] as number;
    }
    this.scores[at] = score;
    this.ids[at] = id;
  }
}

export const allows = {
  tag10: (query: number, tag: number): boolean => filterOf(query, "tag10").equals === tag,
  tag1: (query: number, tag: number): boolean => filterOf(query, "tag1").equals === tag,
};

export async function exactAnswers(input: TruthInput): Promise<Answers> {
  const module = assembleKernel();
  const threads = availableParallelism();
  const share = Math.ceil(input.rows / threads);
  const parts = await Promise.all(
    Array.from({ length: threads }, async (_, t) => {
      const workerData: TruthTask = { ...input, module, from: t * share, to: Math.min(input.rows, (t + 1) * share) };
      const [part] = (await once(
        new Worker(new URL("truth-worker.ts", import.meta.url), { workerData }),
        "message",
      )) as [TruthPart];
      return part;
    }),
  );
  const merged = { none: new Best(), tag10: new Best(), tag1: new Best() };
  for (const part of parts)
    for (const field of ["none", "tag10", "tag1"] as const)
      for (let i = 0; i < queryCount * k; i += 1)
        merged[field].offer(Math.floor(i / k), part[field].ids[i] as number, part[field].scores[i] as number);
  return { none: merged.none.ids, tag10: merged.tag10.ids, tag1: merged.tag1.ids };
}
