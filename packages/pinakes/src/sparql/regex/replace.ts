/**
 * REPLACE (F&O 5.6.3). Undefined is a type error: an invalid expression, one that matches the empty string, or an invalid `$` in the
 * replacement.
 */
import { PinakesError } from "../../domain/errors.ts";
import { sparqlLimits } from "../limits.ts";
import { charsOf, type Regex } from "./match.ts";

type Piece = string | number;

export function replaceMatches(text: string, regex: Regex, replacement: string, literal: boolean): string | undefined {
  if (regex.test("")) return undefined;
  const pieces = literal ? [replacement] : piecesOf(replacement, regex.groups);
  if (pieces === undefined) return undefined;
  const chars = charsOf(text);
  const out: string[] = [];
  let [at, length] = [0, 0];
  for (let found = regex.find(chars, 0); found !== undefined; found = regex.find(chars, at)) {
    const [start = 0, end = 0] = found;
    // Only an assertion could match at the end of an empty input; patterns that match the empty string were rejected above.
    if (end === start) return undefined;
    out.push(chars.slice(at, start).join(""));
    for (const piece of pieces) {
      const part = typeof piece === "string" ? piece : groupText(chars, found, piece);
      out.push(part);
      length += part.length;
    }
    if (length > sparqlLimits.madeCharsMax)
      throw new PinakesError(
        "LIMIT_EXCEEDED",
        `SPARQL: REPLACE produces a string of more than ${sparqlLimits.madeCharsMax} characters (madeCharsMax).`,
      );
    at = end;
  }
  return out.join("") + chars.slice(at).join("");
}

function groupText(chars: readonly string[], found: readonly number[], group: number): string {
  const [start = -1, end = -1] = [found[group * 2], found[group * 2 + 1]];
  return start === -1 ? "" : chars.slice(start, end).join("");
}

/** `$1` is a group, `\$` and `\\` are literal. As many digits are used as form the number of an existing group. */
function piecesOf(replacement: string, groups: number): readonly Piece[] | undefined {
  const pieces: Piece[] = [];
  for (let at = 0; at < replacement.length; at += 1) {
    const char = replacement[at] as string;
    if (char === "\\") {
      const next = replacement[(at += 1)];
      if (next !== "\\" && next !== "$") return undefined;
      pieces.push(next);
    } else if (char === "$") {
      let digits = /^\d+/.exec(replacement.slice(at + 1, at + 7))?.[0];
      if (digits === undefined) return undefined;
      while (digits.length > 1 && Number(digits) > groups) digits = digits.slice(0, -1);
      if (Number(digits) <= groups) pieces.push(Number(digits));
      at += digits.length;
    } else pieces.push(char);
  }
  return pieces;
}
