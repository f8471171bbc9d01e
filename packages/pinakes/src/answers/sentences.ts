/** Splits a chunk, or an answer, into sentences. */
import { pauses } from "../knowledge/chunking/pause.ts";
import { sentenceStarts } from "../knowledge/chunking/sentences.ts";

export interface Span {
  readonly start: number;
  readonly end: number;
}

const abbreviation =
  /(?:^|[\s(])(?:\p{L}|Dr|Mr|Mrs|Ms|Prof|St|No|Nr|vs|etc|e\.g|i\.e|z\.\s?B|d\.\s?h|bzw|ca|approx|Fig|al|Abs|Art|\d{1,2})\.\s*$/u;

interface SentenceOptions {
  /** Longer text (a log, a transcript without punctuation) is split between words. */
  readonly charsMax: number;
  readonly signal?: AbortSignal | undefined;
}

/** Without surrounding whitespace. An abbreviation does not end a sentence. */
export async function sentencesOf(text: string, { charsMax, signal }: SentenceOptions): Promise<readonly Span[]> {
  const starts = await sentenceStarts(text, pauses(signal));
  const spans: Span[] = [];
  let begins = 0;
  for (const [i] of starts.entries()) {
    const end = starts[i + 1] ?? text.length;
    if (end < text.length && abbreviation.test(text.slice(Math.max(begins, end - 12), end))) continue;
    spans.push(...cut(text, trimmed(text, begins, end), charsMax));
    begins = end;
  }
  return spans;
}

function cut(text: string, { start, end }: Span, charsMax: number): readonly Span[] {
  const pieces: Span[] = [];
  for (let from = start; from < end;) {
    const space = end - from <= charsMax ? end : text.lastIndexOf(" ", from + charsMax);
    const to =
      space > from ? space : from + charsMax - Number(/[\uD800-\uDBFF]/.test(text.charAt(from + charsMax - 1)));
    const piece = trimmed(text, from, to);
    if (piece.end > piece.start) pieces.push(piece);
    from = to;
  }
  return pieces;
}

function trimmed(text: string, start: number, end: number): Span {
  const piece = text.slice(start, end);
  const from = start + (piece.length - piece.trimStart().length);
  return { start: from, end: Math.max(from, start + piece.trimEnd().length) };
}
