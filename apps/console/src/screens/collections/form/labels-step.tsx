import { collectionFormStrings as s } from "../../../strings/collection-form.ts";
import { CodeEditor } from "../../../ui/code-editor.tsx";
import { TextField } from "../../../ui/field.tsx";
import { errorAt } from "./field-errors.ts";
import type { StepProps } from "./step-props.ts";

export function LabelsStep({ values, onChange, errors }: StepProps) {
  const wrong = errorAt(errors, "metadata.custom_fields");
  return (
    <>
      <TextField
        label={s.tags}
        hint={s.tagsHint}
        error={errorAt(errors, "metadata.tags")}
        value={values.tags}
        onChange={({ target }) => onChange({ tags: target.value })}
        autoComplete="off"
      />
      <div className="flex flex-col gap-1">
        <p className="text-xs font-medium text-soft">{s.fields}</p>
        <CodeEditor
          label={s.fields}
          language="json"
          value={values.fields}
          onChange={(fields) => onChange({ fields })}
        />
        {wrong === undefined ? (
          <p className="text-xs text-soft">{s.fieldsHint}</p>
        ) : (
          <p role="alert" className="text-xs text-bad">
            {wrong}
          </p>
        )}
      </div>
    </>
  );
}
