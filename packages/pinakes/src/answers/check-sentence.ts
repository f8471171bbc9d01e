/**
 * A sentence with the citations that passed both checks of RFC 0018: the source supports the sentence, and the quote is in the stored
 * bytes.
 */
import type { AnswerSentence } from "@pinakes/client";
import type { Citation } from "../knowledge/search/search-result.ts";
import { answerLimits } from "./limits.ts";
import type { Source } from "./prompt.ts";
import { sentencesOf, type Span } from "./sentences.ts";
import {
  analyzerOf,
  type Claim,
  contradicts,
  coverageOf,
  type Evidence,
  readClaim,
  readEvidence,
  states,
} from "./support.ts";

/** The citations whose quotes are in the stored bytes, readable for this caller, now. */
export type Verify = (citations: readonly Citation[]) => Promise<readonly Citation[]>;

export class SentenceChecker {
  readonly #sources: readonly Source[];
  readonly #verify: Verify;
  readonly #citationsMax: number;
  readonly #chunks = new Map<Source, Promise<ReadChunk>>();

  constructor(sources: readonly Source[], verify: Verify, citationsMax: number) {
    this.#sources = sources;
    this.#verify = verify;
    this.#citationsMax = citationsMax;
  }

  /** Of the sources named by the sentence, all that support it; if none does, the first of the others that does. */
  async check(text: string, named: readonly number[]): Promise<AnswerSentence> {
    const first = named.flatMap((number) => this.#sources[number - 1] ?? []).slice(0, this.#citationsMax);
    const stating = (await Promise.all(first.map((source) => this.#citation(text, source)))).flatMap(
      (one) => one ?? [],
    );
    let citations = stating.length === 0 ? stating : await this.#verify(stating);
    for (const source of citations.length > 0 ? [] : this.#sources) {
      const found = first.includes(source) ? undefined : await this.#citation(text, source);
      citations = found === undefined ? [] : await this.#verify([found]);
      if (citations.length > 0) break;
    }
    return { text, supported: citations.length > 0, citations };
  }

  async #citation(text: string, source: Source): Promise<Citation | undefined> {
    const chunk = await this.#read(source);
    const span = findSupport(readClaim(text, analyzerOf(chunk.text)), chunk);
    return span === undefined ? undefined : quoteOf(source.hit.citation, span);
  }

  #read(source: Source): Promise<ReadChunk> {
    const { filename, section = "" } = source.hit.citation;
    const known = this.#chunks.get(source) ?? readChunk(source.text, `${filename} ${section}`);
    this.#chunks.set(source, known);
    return known;
  }
}

/** A part of a citation's quote. Positions are those of its document. */
export function quoteOf(
  citation: Citation,
  { start, end }: { readonly start: number; readonly end: number },
): Citation {
  return {
    ...citation,
    start: citation.start + start,
    end: citation.start + end,
    quote: citation.quote.slice(start, end),
  };
}

// Finds the narrowest part of a chunk that supports a sentence.

/** Maximum number of neighbouring sentences in one quote. */
const sentencesMax = 3;

/** A chunk, parsed once for all sentences that refer to it. */
interface ReadChunk {
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
