/**
 * The text that chunks and citations refer to, in windows, since a text of fifty megabytes is too large for one response. Offsets are
 * UTF-16 code units of the whole text in every window: `text.slice(start - window.start, end - window.start)` is the cited text.
 */
import type { DocumentText } from "@pinakes/client";
import { invalid, show } from "../../domain/errors.ts";
import type { ParsedText } from "../../ports/parser.ts";

/** Maximum UTF-16 code units per response. */
export const textWindowCharsMax = 1_000_000;
const textWindowCharsDefault = 200_000;

export interface TextQuery {
  /** Default: the version that searches show. */
  readonly version?: number | undefined;
  /** Start of the window; default 0. */
  readonly start?: number | undefined;
  /** End of the window, at most `textWindowCharsMax` after `start`. */
  readonly end?: number | undefined;
}

export type { DocumentText as TextWindow };

export function textWindow(
  documentId: string,
  version: number,
  { text, pages, sections, warnings }: ParsedText,
  query: TextQuery,
): DocumentText {
  const { start, end } = windowOf(text, query);
  const touched = ({ start: from, end: to }: { readonly start: number; readonly end: number }): boolean =>
    from < end && to > start;
  return {
    document_id: documentId,
    version,
    length: text.length,
    start,
    end,
    text: text.slice(start, end),
    next_start: end < text.length ? end : null,
    pages: spans(pages, text.length, ({ page }) => ({ page })).filter(touched),
    sections: spans(sections, text.length, ({ path }) => ({ path })).filter(touched),
    warnings,
  };
}

/** Checks what does not depend on the text, before reading it. */
export function checkTextQuery({ version, start = 0, end }: TextQuery): void {
  if (version !== undefined && !(Number.isInteger(version) && version >= 1))
    throw invalid(`version: must be a whole number from 1, got ${show(version)}.`);
  if (!Number.isInteger(start) || start < 0) throw invalid(`start: must be a whole number from 0, got ${show(start)}.`);
  if (end === undefined) return;
  if (!Number.isInteger(end) || end < start)
    throw invalid(`end: must be a whole number from start (${start}), got ${show(end)}.`);
  if (end - start > textWindowCharsMax)
    throw invalid(`end: at most ${textWindowCharsMax} after start; read the text in several windows.`);
}

function windowOf(
  text: string,
  { start: from = 0, end: to }: TextQuery,
): { readonly start: number; readonly end: number } {
  const start = Math.min(from, text.length);
  if (to !== undefined) return { start, end: Math.min(to, text.length) };
  const end = Math.min(start + textWindowCharsDefault, text.length);
  // A default end never splits a surrogate pair.
  return { start, end: end < text.length && isPair(text, end) ? end - 1 : end };
}

function isPair(text: string, at: number): boolean {
  return /^[\uD800-\uDBFF][\uDC00-\uDFFF]$/.test(text.slice(at - 1, at + 1));
}

/** Each mark reaches to the start of the next one. */
function spans<Mark extends { readonly start: number }, Rest>(
  marks: readonly Mark[],
  length: number,
  rest: (mark: Mark) => Rest,
) {
  return marks.map((mark, i) => ({ ...rest(mark), start: mark.start, end: marks[i + 1]?.start ?? length }));
}
