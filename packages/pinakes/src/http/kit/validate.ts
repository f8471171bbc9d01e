/** What came in against its schema. Every mistake is told at once, each with its path and what is wanted, in plain words. */
import type { z } from "zod";
import { show } from "../../domain/errors.ts";
import { HttpError } from "./http-error.ts";

export interface FieldError {
  readonly path: string;
  readonly message: string;
}

/** More would not help a person; the rest is counted. */
const errorsShownMax = 10;

type Issue = z.core.$ZodIssue;
type RawIssue = z.core.$ZodRawIssue;

/** `where` names what is checked when the mistake has no path of its own: "body", "query". */
export function validate<Schema extends z.ZodType>(schema: Schema, value: unknown, where: "path" | "query" | "body"): z.output<Schema> {
  const result = schema.safeParse(value, { error: (issue) => plainMessage(issue, where) });
  if (result.success) return result.data;
  throw invalidFields(flatten(result.error.issues, []), where);
}

export function invalidFields(errors: readonly FieldError[], where: string): HttpError {
  const shown = errors.slice(0, errorsShownMax);
  const rest = errors.length - shown.length;
  const list = shown.map(({ path, message }) => `${path === "" ? where : path}: ${message}`);
  if (rest > 0) list.push(`and ${rest} more`);
  return new HttpError("INVALID", `${list.join("; ")}.`, { more: { errors: shown } });
}

function flatten(issues: readonly Issue[], above: readonly PropertyKey[]): FieldError[] {
  return issues.flatMap((issue): FieldError[] => {
    const path = [...above, ...issue.path];
    if (issue.code === "unrecognized_keys") {
      return issue.keys.map((key) => ({ path: pathText([...path, key]), message: "is not known here; remove it or correct its name" }));
    }
    if (issue.code === "invalid_union") {
      const nearest = nearestBranch(issue.errors);
      if (nearest !== undefined) return flatten(nearest, path);
    }
    return [{ path: pathText(path), message: issue.message }];
  });
}

/** The form that the client most likely meant: one of the right kind at all, with the fewest mistakes. */
function nearestBranch(branches: readonly (readonly Issue[])[]): readonly Issue[] | undefined {
  const right = branches.filter((issues) => issues.length > 0 && !issues.some(({ path, code }) => path.length === 0 && code !== "unrecognized_keys"));
  return right.toSorted((a, b) => a.length - b.length)[0];
}

function pathText(path: readonly PropertyKey[]): string {
  return path.map((step, i) => (typeof step === "number" ? `[${step}]` : `${i === 0 ? "" : "."}${String(step)}`)).join("");
}

function plainMessage(issue: RawIssue, where: string): string | undefined {
  const root = (issue.path?.length ?? 0) === 0;
  switch (issue.code) {
    case "invalid_type":
      if (issue.input === undefined) return root && where === "body" ? "is missing; send it as JSON" : `is missing; ${kind(issue.expected)} is wanted`;
      return `must be ${kind(issue.expected)}, got ${show(issue.input)}`;
    case "invalid_value":
      if (issue.input === undefined) return `is missing; one of ${issue.values.map(show).join(", ")} is wanted`;
      return `must be ${issue.values.length === 1 ? "" : "one of "}${issue.values.map(show).join(", ")}, got ${show(issue.input)}`;
    case "too_big":
      return `must be ${bound(issue.origin, "at most", String(issue.maximum), issue.inclusive !== false)}`;
    case "too_small":
      return `must be ${bound(issue.origin, "at least", String(issue.minimum), issue.inclusive !== false)}`;
    case "not_multiple_of":
      return `must be a multiple of ${issue.divisor}`;
    case "invalid_union":
      return `does not fit any of the accepted forms, got ${show(issue.input)}`;
    case "invalid_key":
      return "holds a name that is not allowed";
    case "invalid_format":
      return issue.format === "regex" && issue.pattern !== undefined ? `must match ${issue.pattern}, got ${show(issue.input)}` : undefined;
    default:
      return undefined;
  }
}

function bound(origin: string, words: "at most" | "at least", limit: string, inclusive: boolean): string {
  const unit = { string: " characters long", array: " elements long", set: " elements long", file: " bytes long" }[origin] ?? "";
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
