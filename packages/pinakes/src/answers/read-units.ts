/**
 * Splits a model's output, as it arrives, into complete units: a line, or the text before a group of citations that is followed by more
 * text. A unit left incomplete by a limit, a broken stream or a timeout is dropped.
 */
import type { AnswerFinish } from "@pinakes/client";
import type { ChatPiece, ChatUsage } from "../ports/chat-model.ts";
import type { AnswerLimits } from "./limits.ts";

export interface Unit {
  /** Without the citations. */
  readonly text: string;
  /** The numbers it refers to, without duplicates. */
  readonly sources: readonly number[];
}

const group = /\[\d{1,3}(?:\s*,\s*\d{1,3})*\]/g;
const bullet = /^\s*(?:[-*•]|#{1,6}|\d{1,3}[.)])\s+/;

export async function* unitsOf(
  pieces: AsyncIterable<ChatPiece>,
  { answerCharsMax, unitCharsMax }: Pick<AnswerLimits, "answerCharsMax" | "unitCharsMax">,
  onUsage?: (usage: ChatUsage) => void,
): AsyncGenerator<Unit, AnswerFinish> {
  let buffer = "";
  let read = 0;
  for await (const piece of pieces) {
    if ("end" in piece) {
      if (piece.usage !== undefined) onUsage?.(piece.usage);
      if (piece.end !== "stop") return piece.end === "length" ? "length" : "cut_off";
      yield* unitOf(buffer);
      return "complete";
    }
    buffer += piece.text;
    read += piece.text.length;
    for (let end = unitEnd(buffer); end !== undefined; end = unitEnd(buffer)) {
      yield* unitOf(buffer.slice(0, end));
      buffer = buffer.slice(end);
    }
    if (buffer.length > unitCharsMax || read > answerCharsMax) return "length";
  }
  return "cut_off";
}

/** End of the first complete unit; undefined if there is none yet. */
function unitEnd(text: string): number | undefined {
  const newline = text.indexOf("\n");
  const line = newline === -1 ? text : text.slice(0, newline);
  for (const { index, 0: found } of line.matchAll(group)) {
    const next = /^[\s.!?…)]*/.exec(line.slice(index + found.length))?.[0].length ?? 0;
    const after = index + found.length + next;
    // Another group, or a sentence that continues after its citation.
    if (after < line.length && !/^[[,;:\p{Ll}]/u.test(line.slice(after))) return after;
  }
  return newline === -1 ? undefined : newline + 1;
}

function* unitOf(raw: string): Generator<Unit, void> {
  const sources = [...raw.matchAll(group)].flatMap(([found]) => (found.match(/\d+/g) ?? []).map(Number));
  const text = raw
    .replaceAll(group, "")
    .replace(bullet, "")
    .replaceAll(/\s+/g, " ")
    .replace(/ (?=[.,;:!?]|$)/g, "")
    .trim();
  if (/[\p{L}\p{N}]/u.test(text)) yield { text, sources: [...new Set(sources)] };
}
