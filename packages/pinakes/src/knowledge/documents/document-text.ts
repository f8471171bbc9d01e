/**
 * The text that passages and citations point into, in windows: a text of fifty megabytes is too much for one answer. Places are UTF-16 code
 * units of the whole text, in every window, so that `text.slice(start - window.start, end - window.start)` is what a citation means.
 */
import type { DocumentText } from "@pinakes/client";
import { invalid, show } from "../../domain/errors.ts";
import type { ParsedText } from "../../ports/parser.ts";

/** UTF-16 code units of one answer. */
export const textWindowCharsMax = 1_000_000;
const textWindowCharsDefault = 200_000;

export interface TextQuery {
  /** The one that searches show when absent. */
  readonly version?: number | undefined;
  /** Where the window begins; 0 when absent. */
  readonly start?: number | undefined;
  /** Where it ends, at most `textWindowCharsMax` later. */
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

/** Before anything is read: what is wrong with a window does not depend on the text. */
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
  // Where nobody said where to end, not between the halves of a character.
  return { start, end: end < text.length && isPair(text, end) ? end - 1 : end };
}

function isPair(text: string, at: number): boolean {
  return /^[\uD800-\uDBFF][\uDC00-\uDFFF]$/.test(text.slice(at - 1, at + 1));
}

/** Each mark reaches to where the next one begins. */
function spans<Mark extends { readonly start: number }, Rest>(
  marks: readonly Mark[],
  length: number,
  rest: (mark: Mark) => Rest,
) {
  return marks.map((mark, i) => ({ ...rest(mark), start: mark.start, end: marks[i + 1]?.start ?? length }));
}
