/** The form's steps, and the API fields of each. */
import { errorAt, type FieldErrors } from "./field-errors.ts";

export const steps = ["basics", "labels", "chunking", "access"] as const;
export type Step = (typeof steps)[number];

const fieldsOf: Readonly<Record<Step, readonly string[]>> = {
  basics: ["name", "collection_id", "repository_name", "repository_id", "description"],
  labels: ["metadata"],
  chunking: ["chunking_strategy", "allow_chunking_override"],
  access: ["embedding_model", "private", "allowed_groups"],
};

export function hasErrors(step: Step, errors: FieldErrors): boolean {
  return fieldsOf[step].some((field) => errorAt(errors, field) !== undefined);
}

export function firstWithErrors(errors: FieldErrors): Step | undefined {
  return steps.find((step) => hasErrors(step, errors));
}
