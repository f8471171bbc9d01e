/** Schema violations in plain words: what is expected, and what was received. The same for documents and for requests. */
import type { z } from "zod";
import { show } from "../domain/errors.ts";

/** For `safeParse(value, { error: plainIssue })`; undefined where zod's own message is good enough. */
export function plainIssue(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case "invalid_type":
      if (issue.input === undefined) return `is missing; expected ${kind(issue.expected)}`;
      return `must be ${kind(issue.expected)}, got ${show(issue.input)}`;
    case "invalid_value":
      if (issue.input === undefined) return `is missing; expected one of ${issue.values.map(show).join(", ")}`;
      return `must be ${issue.values.length === 1 ? "" : "one of "}${issue.values.map(show).join(", ")}, got ${show(issue.input)}`;
    case "too_big":
      return `must be ${bound(issue.origin, "at most", String(issue.maximum), issue.inclusive !== false)}`;
    case "too_small":
      return `must be ${bound(issue.origin, "at least", String(issue.minimum), issue.inclusive !== false)}`;
    case "not_multiple_of":
      return `must be a multiple of ${issue.divisor}`;
    case "invalid_union":
      return `matches none of the accepted forms, got ${show(issue.input)}`;
    case "invalid_key":
      return "contains a name that is not allowed";
    case "invalid_format":
      return issue.format === "regex" && issue.pattern !== undefined
        ? `must match ${issue.pattern}, got ${show(issue.input)}`
        : undefined;
    default:
      return undefined;
  }
}

/** `aggregates[0]`, `metadata.priority`; empty for the whole. */
export function issuePath(path: readonly PropertyKey[]): string {
  return path
    .map((step, i) => (typeof step === "number" ? `[${step}]` : `${i === 0 ? "" : "."}${String(step)}`))
    .join("");
}

function bound(origin: string, words: "at most" | "at least", limit: string, inclusive: boolean): string {
  const unit =
    { string: " characters long", array: " elements long", set: " elements long", file: " bytes long" }[origin] ?? "";
  if (!inclusive) return `${words === "at most" ? "less than" : "more than"} ${limit}${unit}`;
  return `${words} ${limit}${unit}`;
}

const kinds: Readonly<Record<string, string>> = {
  string: "a text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  object: "an object",
  record: "an object",
  array: "a list",
  null: "null",
};

function kind(expected: string): string {
  return kinds[expected] ?? `of type ${expected}`;
}
