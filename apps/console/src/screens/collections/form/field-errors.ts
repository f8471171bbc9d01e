/** Maps an error to a form field. The server's message starts with the field, or lists all invalid ones. */
import { isProblem, ProblemError } from "../../../api/problem.ts";

/** Keys are API fields, such as `chunking_strategy.chunk_size`. */
export type FieldErrors = Readonly<Record<string, string>>;

const named = /^([a-z_]+(?:\.[a-z_]+|\[\d+\])*): (.+)$/s;

export function fieldErrorsOf(error: unknown): FieldErrors {
  if (!(error instanceof ProblemError)) return {};
  const listed = error.problem["errors"];
  if (Array.isArray(listed) && listed.length > 0)
    return Object.fromEntries(listed.filter(isListed).map(({ path, message }) => [path, sentence(message)]));
  // Conflicts of names and ids have no field in the error, but are shown at theirs.
  const detail = error.message;
  if (isProblem(error, 409))
    return detail.startsWith("A repository")
      ? { repository_id: detail }
      : { [detail.includes(" named ") ? "name" : "collection_id"]: detail };
  const found = named.exec(detail);
  return found?.[1] === undefined || found[2] === undefined ? {} : { [found[1]]: sentence(found[2]) };
}

/** The field or a part of it: `metadata.tags[0]` belongs to `metadata.tags`. */
export function errorAt(errors: FieldErrors, field: string): string | undefined {
  const [, message] = Object.entries(errors).find(([name]) => isAt(name, field)) ?? [];
  return message;
}

function isAt(name: string, field: string): boolean {
  return name === field || name.startsWith(`${field}.`) || name.startsWith(`${field}[`);
}

/** Without the field name, capitalized. */
function sentence(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function isListed(one: unknown): one is { readonly path: string; readonly message: string } {
  return typeof one === "object" && one !== null && "path" in one && "message" in one;
}
