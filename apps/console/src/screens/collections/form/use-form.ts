import { useState } from "react";
import { fieldErrorsOf, type FieldErrors } from "./field-errors.ts";
import type { FormValues } from "./form-values.ts";
import { firstWithErrors } from "./steps.ts";

const noErrors: FieldErrors = {};

/** Form values, errors per field, and general errors. */
export function useForm(initial: FormValues) {
  const [values, setValues] = useState(initial);
  const [errors, setErrors] = useState(noErrors);
  const [error, setError] = useState<unknown>(undefined);
  return {
    values,
    errors,
    error,
    /** Whether there are unsaved changes. */
    changed: JSON.stringify(values) !== JSON.stringify(initial),
    change: (next: Partial<FormValues>) => setValues((old) => ({ ...old, ...next })),
    begin: () => {
      setErrors(noErrors);
      setError(undefined);
    },
    refuse: (next: FieldErrors) => setErrors(next),
    fail: (cause: unknown) => {
      const found = fieldErrorsOf(cause);
      // An error of a field that no step shows would be invisible.
      const known = firstWithErrors(found) !== undefined;
      setErrors(known ? found : noErrors);
      setError(known ? undefined : cause);
    },
    reset: setValues,
  };
}
