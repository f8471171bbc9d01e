/**
 * SEMANTIC: a chunk ends where the subject changes. Each sentence is embedded; at every border the mean of the three sentences before it is
 * compared with the mean of the three after it, so that a single odd sentence does not split a chunk. A border below the similarity
 * threshold that is a local minimum starts a new chunk.
 */
import { invalid } from "../../domain/errors.ts";
import { invariant } from "../../domain/invariant.ts";
import { boundaryCutter } from "./boundaries.ts";
import { fixedCutter } from "./fixed.ts";
import { mayCut, pack, type Cutting } from "./pack.ts";
import type { Pause } from "./pause.ts";
import { sentenceStarts } from "./sentences.ts";
import { skipBlank, trimEnd, type Span } from "./spans.ts";

export type EmbedTexts = (texts: readonly string[]) => Promise<readonly Float32Array[]>;

/** Sentences on each side of a border. */
const sideSentences = 3;
/** A chunk below this share of the size says too little to be found; the border that would make one is skipped. */
const fillMin = 1 / 8;
const embedTextsMax = 256;

export async function semanticSpans(
  cutting: Cutting,
  threshold: number,
  embed: EmbedTexts | undefined,
  pause: Pause,
): Promise<Iterable<Span>> {
  if (embed === undefined)
    throw invalid("SEMANTIC chunking needs an embedding model; choose one for the collection, or use RECURSIVE.");
  const sentences = shortSentences(cutting, await sentenceStarts(cutting.text, pause));
  const alike = await likeness(cutting.text, sentences, embed, pause);
  return topicSpans(cutting, sentences, borders(cutting, sentences, alike, threshold));
}

/** Sentences that are too long are cut into pieces that fit. Blank ones are dropped. */
function shortSentences(cutting: Cutting, starts: readonly number[]): readonly Span[] {
  const whole = { ...cutting, overlap: 0 };
  const cutter = fixedCutter(whole);
  const usable = starts.filter((start, i) => i === 0 || mayCut(cutting, start, starts[i - 1] ?? 0));
  return usable.flatMap((start, i) => [...pack(whole, cutter, { start, end: usable[i + 1] ?? cutting.text.length })]);
}

/** Similarity of the text before and after each border: entry i is the border before sentence i + 1. */
async function likeness(
  text: string,
  sentences: readonly Span[],
  embed: EmbedTexts,
  pause: Pause,
): Promise<Float64Array> {
  const alike = new Float64Array(Math.max(0, sentences.length - 1));
  // Keeps only the vectors near the border: those of a whole book would fill the memory.
  let near: Float32Array[] = [];
  let nearFrom = 0;
  let border = 0;
  for (let from = 0; from < sentences.length; from += embedTextsMax) {
    const batch = sentences.slice(from, from + embedTextsMax).map(({ start, end }) => text.slice(start, end));
    const vectors = await embed(batch);
    invariant(
      vectors.length === batch.length,
      "INTERNAL",
      `The embedder returned ${vectors.length} vectors for ${batch.length} sentences.`,
    );
    near.push(...vectors);
    const known = from + batch.length;
    const ready = known === sentences.length ? alike.length : known - sideSentences;
    for (; border < ready; border += 1) {
      const split = border + 1 - nearFrom;
      alike[border] = cosine(
        sum(near.slice(Math.max(0, split - sideSentences), split)),
        sum(near.slice(split, split + sideSentences)),
      );
    }
    const keepFrom = Math.max(nearFrom, border + 1 - sideSentences);
    near = near.slice(keepFrom - nearFrom);
    nearFrom = keepFrom;
    await pause();
  }
  return alike;
}

/** Starts of chunks, without the first. */
function borders(
  { ruler, size, text }: Cutting,
  sentences: readonly Span[],
  alike: Float64Array,
  threshold: number,
): readonly number[] {
  const chosen: number[] = [];
  let former = sentences[0]?.start ?? 0;
  for (const [i, value] of alike.entries()) {
    const valley = value < threshold && value <= (alike[i - 1] ?? Infinity) && value <= (alike[i + 1] ?? Infinity);
    const start = sentences[i + 1]?.start ?? text.length;
    const enough = size * fillMin;
    if (!valley || ruler.cost(former, start) < enough || ruler.cost(start, text.length) < enough) continue;
    chosen.push(start);
    former = start;
  }
  return chosen;
}

/** A subject that is too long is cut between sentences, with the overlap; there is no overlap between subjects. */
function* topicSpans(cutting: Cutting, sentences: readonly Span[], begins: readonly number[]): Generator<Span> {
  const cutter = boundaryCutter(
    cutting,
    sentences.map(({ start }) => start),
  );
  let start = skipBlank(cutting.text, 0, cutting.text.length);
  for (const end of [...begins, trimEnd(cutting.text, start, cutting.text.length)]) {
    yield* pack(cutting, cutter, { start, end });
    start = end;
  }
}

function sum(vectors: readonly Float32Array[]): Float64Array {
  const total = new Float64Array(vectors[0]?.length ?? 0);
  for (const vector of vectors) for (let i = 0; i < total.length; i += 1) total[i] = (total[i] ?? 0) + (vector[i] ?? 0);
  return total;
}

/** Zero where one side is a zero vector. */
function cosine(a: Float64Array, b: Float64Array): number {
  let dot = 0;
  let aa = 0;
  let bb = 0;
  for (let i = 0; i < a.length; i += 1) {
    const x = a[i] ?? 0;
    const y = b[i] ?? 0;
    dot += x * y;
    aa += x * x;
    bb += y * y;
  }
  return aa === 0 || bb === 0 ? 0 : dot / Math.sqrt(aa * bb);
}
