/** Maps an error to a form field: the server names the field, lists all invalid ones, or gives a reason that is about one. */
import type { ProblemReason } from "@pinakes/client";
import { ProblemError } from "../../../api/problem.ts";

/** Keys are API fields, such as `chunking_strategy.chunk_size`. */
export type FieldErrors = Readonly<Record<string, string>>;

/** Conflicts of names and ids, and where they are shown. */
const fieldOf: Partial<Readonly<Record<ProblemReason, string>>> = {
  repository_exists: "repository_id",
  collection_exists: "collection_id",
  collection_name_taken: "name",
};

export function fieldErrorsOf(error: unknown): FieldErrors {
  if (!(error instanceof ProblemError)) return {};
  const { reason, field, errors: listed } = error.problem;
  if (Array.isArray(listed) && listed.length > 0)
    return Object.fromEntries(listed.filter(isListed).map(({ path, message }) => [path, sentence(message)]));
  const taken = reason === undefined ? undefined : fieldOf[reason];
  if (taken !== undefined) return { [taken]: error.message };
  return field === undefined ? {} : { [field]: sentence(error.message.slice(field.length + 2)) };
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
