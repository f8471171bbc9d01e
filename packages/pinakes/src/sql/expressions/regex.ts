/** REGEXMATCH, in time proportional to the input (runtime/regex). */
import { invalid } from "../../domain/errors.ts";
import { matches } from "../../runtime/regex/match.ts";
import { compileProgram } from "../../runtime/regex/program.ts";
import { sqlLimits } from "../limits.ts";
import { parseRegex } from "./regex-parse.ts";

export type RegexMatcher = (text: string) => boolean | undefined;

export function compileRegex(pattern: string, modifiers: string): RegexMatcher {
  if (pattern.length > sqlLimits.regexCharsMax)
    throw invalid(
      `query: REGEXMATCH: the pattern has ${pattern.length} characters; at most ${sqlLimits.regexCharsMax} are allowed.`,
    );
  if (!/^[imsx]*$/.test(modifiers))
    throw invalid(`query: REGEXMATCH: modifiers are i, m, s and x; got ${JSON.stringify(modifiers.slice(0, 20))}.`);
  const flags = {
    ignoreCase: modifiers.includes("i"),
    multiline: modifiers.includes("m"),
    dotAll: modifiers.includes("s"),
    extended: modifiers.includes("x"),
  };
  const program = compileProgram(parseRegex(pattern, flags), {
    statesMax: sqlLimits.regexStatesMax,
    tooManyStates: () =>
      invalid(
        `query: REGEXMATCH: the pattern needs more than ${sqlLimits.regexStatesMax} states; write smaller repetitions.`,
      ),
  });
  return (text) =>
    text.length > sqlLimits.regexInputCharsMax
      ? undefined
      : matches(
          program,
          Array.from(text, (char) => char.codePointAt(0) as number),
        );
}
