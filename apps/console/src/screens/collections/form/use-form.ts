import { useState } from "react";
import { fieldErrorsOf, type FieldErrors } from "./field-errors.ts";
import type { FormValues } from "./form-values.ts";
import { firstWithErrors } from "./steps.ts";

const noErrors: FieldErrors = {};

/** The values in the fields, what is wrong with them, and what is wrong with none of them in particular. */
export function useForm(initial: FormValues) {
  const [values, setValues] = useState(initial);
  const [errors, setErrors] = useState(noErrors);
  const [error, setError] = useState<unknown>(undefined);
  return {
    values,
    errors,
    error,
    /** Something is in the fields that would be lost. */
    changed: JSON.stringify(values) !== JSON.stringify(initial),
    change: (next: Partial<FormValues>) => setValues((old) => ({ ...old, ...next })),
    begin: () => {
      setErrors(noErrors);
      setError(undefined);
    },
    refuse: (next: FieldErrors) => setErrors(next),
    fail: (cause: unknown) => {
      const found = fieldErrorsOf(cause);
      // Of a field that stands in no step nobody would see it.
      const known = firstWithErrors(found) !== undefined;
      setErrors(known ? found : noErrors);
      setError(known ? undefined : cause);
    },
    reset: setValues,
  };
}
