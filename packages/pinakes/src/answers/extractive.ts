/**
 * An answer without a chat model: the sentences of the chunks that are most similar to the question, verbatim. The result is deterministic
 * for the same question and documents.
 */
import type { Citation, SearchHit } from "../knowledge/search/search-result.ts";
import type { Embedder } from "../ports/embedder.ts";
import { quoteOf } from "./check-sentence.ts";
import type { AnswerLimits } from "./limits.ts";
import { sentencesOf } from "./sentences.ts";
import { readClaim, coverageOf, readEvidence, type Claim, type Evidence } from "./support.ts";

/** Minimum relevance of the best sentence: below it, the chunk is not about the question. */
const relevanceShareMin = 0.6;
const overlapMax = 0.8;
/** Weights relative to the similarity to the question: the share of matched words, and the chunk's own score. */
const wordsWeight = 0.5;
const chunkWeight = 0.25;

interface Candidate {
  readonly citation: Citation;
  readonly evidence: Evidence;
  readonly chunkScore: number;
}

export interface Extraction {
  readonly question: string;
  readonly hits: readonly SearchHit[];
  readonly sentencesMax: number;
  readonly limits: AnswerLimits;
  /** Undefined: only words are compared, as in a keyword search. */
  readonly embedder: Embedder | undefined;
  readonly signal: AbortSignal | undefined;
}

/** The quotes, most relevant first, without duplicates. */
export async function extract(extraction: Extraction): Promise<readonly Citation[]> {
  const { question, hits, sentencesMax, limits, embedder, signal } = extraction;
  const candidates = await candidatesOf(hits, limits, signal);
  const similarity = await similarities(embedder, question, candidates, signal);
  const asked = readClaim(question);
  const ranked = candidates
    .map((candidate, i) => ({ ...candidate, relevance: relevanceOf(asked, candidate, similarity[i] ?? 0) }))
    .toSorted((a, b) => b.relevance - a.relevance);
  const least = (ranked[0]?.relevance ?? 0) * relevanceShareMin;
  const chosen: Candidate[] = [];
  for (const candidate of ranked) {
    if (chosen.length >= sentencesMax || candidate.relevance < least) break;
    if (!chosen.some((one) => saysTheSame(one.evidence, candidate.evidence))) chosen.push(candidate);
  }
  return chosen.map(({ citation }) => citation);
}

async function candidatesOf(
  hits: readonly SearchHit[],
  { candidatesMax, sourceSentenceCharsMax }: AnswerLimits,
  signal: AbortSignal | undefined,
): Promise<readonly Candidate[]> {
  const all: Candidate[] = [];
  for (const { text, citation, score } of hits)
    for (const span of await sentencesOf(text, { charsMax: sourceSentenceCharsMax, signal })) {
      const quote = quoteOf(citation, span);
      all.push({ citation: quote, evidence: readEvidence(quote.quote), chunkScore: score });
    }
  const statements = all.filter(({ citation: { quote } }) => isStatement(quote));
  return (statements.length > 0 ? statements : all).slice(0, candidatesMax);
}

/** Not a heading, a question or a fragment. */
function isStatement(quote: string): boolean {
  return !/^#|\?$/.test(quote) && (quote.match(/[\p{L}\p{N}]+/gu)?.length ?? 0) >= 3;
}

async function similarities(
  embedder: Embedder | undefined,
  question: string,
  candidates: readonly Candidate[],
  signal: AbortSignal | undefined,
): Promise<readonly number[]> {
  if (embedder === undefined || candidates.length === 0) return [];
  const options = signal === undefined ? {} : { signal };
  const [asked] = await embedder.embed([question], { kind: "query", ...options });
  const vectors = await embedder.embed(
    candidates.map(({ citation }) => citation.quote),
    { kind: "document", ...options },
  );
  return vectors.map((vector) => cosine(vector, asked as Float32Array));
}

function cosine(a: Float32Array, b: Float32Array): number {
  let [dot, aa, bb] = [0, 0, 0];
  for (const [i, x] of a.entries()) {
    const y = b[i] as number;
    dot += x * y;
    aa += x * x;
    bb += y * y;
  }
  return aa === 0 || bb === 0 ? 0 : dot / Math.sqrt(aa * bb);
}

function relevanceOf(asked: Claim, { evidence, chunkScore }: Candidate, similarity: number): number {
  return similarity + wordsWeight * coverageOf(asked, evidence) + chunkWeight * chunkScore;
}

function saysTheSame(a: Evidence, b: Evidence): boolean {
  if (a.text === b.text) return true;
  const [small, large] = a.terms.size <= b.terms.size ? [a, b] : [b, a];
  const shared = small.terms.intersection(large.terms).size;
  const sameNumbers = a.numbers.symmetricDifference(b.numbers).size === 0;
  return sameNumbers && a.negated === b.negated && small.terms.size > 0 && shared / large.terms.size >= overlapMax;
}
