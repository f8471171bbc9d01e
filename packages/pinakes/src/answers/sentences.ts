/** Where the sentences of a chunk, or of an answer, are. */
import { pauses } from "../knowledge/chunking/pause.ts";
import { sentenceStarts } from "../knowledge/chunking/sentences.ts";

export interface Span {
  readonly start: number;
  readonly end: number;
}

const abbreviation =
  /(?:^|[\s(])(?:\p{L}|Dr|Mr|Mrs|Ms|Prof|St|No|Nr|vs|etc|e\.g|i\.e|z\.\s?B|d\.\s?h|bzw|ca|approx|Fig|al|Abs|Art|\d{1,2})\.\s*$/u;

/** Without the space around them. What follows an abbreviation goes on with its sentence. */
export async function sentencesOf(text: string, signal?: AbortSignal): Promise<readonly Span[]> {
  const starts = await sentenceStarts(text, pauses(signal));
  const spans: Span[] = [];
  let begins = 0;
  for (const [i] of starts.entries()) {
    const end = starts[i + 1] ?? text.length;
    if (end < text.length && abbreviation.test(text.slice(Math.max(begins, end - 12), end))) continue;
    const span = trimmed(text, begins, end);
    if (span.end > span.start) spans.push(span);
    begins = end;
  }
  return spans;
}

function trimmed(text: string, start: number, end: number): Span {
  const piece = text.slice(start, end);
  const from = start + (piece.length - piece.trimStart().length);
  return { start: from, end: Math.max(from, start + piece.trimEnd().length) };
}
