/** Finds the narrowest part of a chunk that supports a sentence. */
import { analyzerOf, contradicts, coverageOf, readEvidence, states, type Claim, type Evidence } from "./support.ts";
import { answerLimits } from "./limits.ts";
import { sentencesOf, type Span } from "./sentences.ts";

/** Maximum number of neighbouring sentences in one quote. */
const sentencesMax = 3;

/** A chunk, parsed once for all sentences that refer to it. */
export interface ReadChunk {
  readonly sentences: readonly (Span & { readonly evidence: Evidence })[];
  readonly context: Evidence;
  readonly text: string;
}

export async function readChunk(text: string, context: string): Promise<ReadChunk> {
  const analyzer = analyzerOf(text);
  const spans = await sentencesOf(text, { charsMax: answerLimits.sourceSentenceCharsMax });
  return {
    text,
    context: readEvidence(context, analyzer),
    sentences: spans.map(({ start, end }) => ({
      start,
      end,
      evidence: readEvidence(text.slice(start, end), analyzer),
    })),
  };
}

/**
 * The sentence of the chunk that shares the most words decides: if it contradicts the claim, its neighbours cannot outweigh that. Otherwise
 * it must support the claim alone or together with its neighbours.
 */
export function findSupport(claim: Claim, { text, sentences, context }: ReadChunk): Span | undefined {
  const coverage = sentences.map(({ evidence }) => coverageOf(claim, evidence));
  const best = coverage.indexOf(Math.max(0, ...coverage));
  const nearest = sentences[best];
  if (nearest === undefined || contradicts(claim, nearest.evidence)) return undefined;
  for (let count = 1; count <= sentencesMax; count += 1)
    for (let first = Math.max(0, best - count + 1); first <= best && first + count <= sentences.length; first += 1) {
      const { start } = sentences[first] as Span;
      const { end } = sentences[first + count - 1] as Span;
      const evidence = count === 1 ? nearest.evidence : readEvidence(text.slice(start, end));
      if (states(claim, evidence, context)) return { start, end };
    }
  return undefined;
}
