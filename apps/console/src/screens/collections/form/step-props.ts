import type { Collection } from "@pinakes/client";
import type { FieldErrors } from "./field-errors.ts";
import type { FormValues } from "./form-values.ts";

export interface StepProps {
  readonly values: FormValues;
  readonly onChange: (next: Partial<FormValues>) => void;
  readonly errors: FieldErrors;
  /** The edited collection; absent for a new one. */
  readonly collection?: Collection | undefined;
}
