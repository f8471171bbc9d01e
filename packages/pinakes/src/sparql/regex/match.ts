/** Regular expressions of REGEX and REPLACE, in time proportional to the input (runtime/regex). */
import { PinakesError } from "../../domain/errors.ts";
import { find, matches, type Captures } from "../../runtime/regex/match.ts";
import { compileProgram } from "../../runtime/regex/program.ts";
import { sparqlLimits } from "../limits.ts";
import { parseRegex } from "./parse.ts";

export interface Regex {
  readonly groups: number;
  test(text: string): boolean;
  /** Start and end of the first match at or after `from`, and of its groups. */
  find(chars: readonly string[], from: number): Captures | undefined;
}

/** Undefined if the pattern or the flags are invalid. */
export function compileRegex(pattern: string, flagText: string): Regex | undefined {
  if (!/^[smixq]*$/.test(flagText)) return undefined;
  if (pattern.length > sparqlLimits.regexCharsMax)
    throw tooMuch(
      `has ${pattern.length} characters; at most ${sparqlLimits.regexCharsMax} are allowed (regexCharsMax)`,
    );
  const has = (flag: string) => flagText.includes(flag);
  const flags = { ignoreCase: has("i"), multiline: has("m"), dotAll: has("s"), extended: has("x"), literal: has("q") };
  const parsed = parseRegex(pattern, flags);
  if (parsed === undefined) return undefined;
  const { node: part, groups } = parsed;
  const program = compileProgram<string>(
    { kind: "capture", part, number: 0 },
    {
      statesMax: sparqlLimits.regexStatesMax,
      tooManyStates: () =>
        tooMuch(`needs more than ${sparqlLimits.regexStatesMax} states (regexStatesMax); write smaller repetitions`),
    },
  );
  return {
    groups,
    test: (text) => matches(program, charsOf(text)),
    find: (chars, from) => find(program, chars, from, 2 * (groups + 1)),
  };
}

export function charsOf(text: string): readonly string[] {
  if (text.length > sparqlLimits.regexInputCharsMax)
    throw tooMuch(
      `is applied to a string of ${text.length} characters; at most ${sparqlLimits.regexInputCharsMax} are allowed (regexInputCharsMax)`,
    );
  return Array.from(text);
}

function tooMuch(what: string): PinakesError {
  return new PinakesError("LIMIT_EXCEEDED", `SPARQL: the regular expression ${what}.`);
}
