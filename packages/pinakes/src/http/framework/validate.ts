/** Validates input against its schema. All errors are reported at once, each with its path and the expected value, in plain language. */
import type { z } from "zod";
import { issuePath, plainIssue } from "../../containers/index.ts";
import { HttpError } from "./http-error.ts";

export interface FieldError {
  readonly path: string;
  readonly message: string;
  /** The field itself is unknown. */
  readonly unknown?: boolean;
}

/** More would not help a reader; the rest is counted. */
const errorsShownMax = 10;

type Issue = z.core.$ZodIssue;
type RawIssue = z.core.$ZodRawIssue;

/** `where` names the input if the error has no path of its own: "body", "query". */
export function validate<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  where: "path" | "query" | "body",
): z.output<Schema> {
  const result = schema.safeParse(value, { error: (issue) => plainMessage(issue, where) });
  if (result.success) return result.data;
  throw invalidFields(flatten(result.error.issues, []), where);
}

export function invalidFields(errors: readonly FieldError[], where: string): HttpError {
  const shown = errors.slice(0, errorsShownMax);
  const rest = errors.length - shown.length;
  const list = shown.map(({ path, message }) => `${path === "" ? where : path}: ${message}`);
  if (rest > 0) list.push(`and ${rest} more`);
  const reason = errors.some(({ unknown }) => unknown === true) ? "unknown_field" : undefined;
  const fields = shown.map(({ path, message }) => ({ path, message }));
  return new HttpError("INVALID", `${list.join("; ")}.`, { more: { errors: fields }, reason });
}

function flatten(issues: readonly Issue[], above: readonly PropertyKey[]): FieldError[] {
  return issues.flatMap((issue): FieldError[] => {
    const path = [...above, ...issue.path];
    if (issue.code === "unrecognized_keys") {
      return issue.keys.map((key) => ({
        path: issuePath([...path, key]),
        message: "is unknown; remove it or correct its name",
        unknown: true,
      }));
    }
    if (issue.code === "invalid_union") {
      const nearest = nearestBranch(issue.errors);
      if (nearest !== undefined) return flatten(nearest, path);
    }
    return [{ path: issuePath(path), message: issue.message }];
  });
}

/** The variant that the client most likely meant: of the right type, with the fewest errors. */
function nearestBranch(branches: readonly (readonly Issue[])[]): readonly Issue[] | undefined {
  const right = branches.filter(
    (issues) =>
      issues.length > 0 && !issues.some(({ path, code }) => path.length === 0 && code !== "unrecognized_keys"),
  );
  return right.toSorted((a, b) => a.length - b.length)[0];
}

function plainMessage(issue: RawIssue, where: string): string | undefined {
  const root = (issue.path?.length ?? 0) === 0;
  if (root && where === "body" && issue.code === "invalid_type" && issue.input === undefined)
    return "is missing; send it as JSON";
  return plainIssue(issue);
}
