import { useQuery } from "@tanstack/react-query";
import { modelsOptions } from "../../../api/models.ts";
import { collectionFormStrings as s } from "../../../strings/collection-form.ts";
import { Check, Select, TextArea, TextField } from "../../../ui/field.tsx";
import { errorAt } from "./field-errors.ts";
import type { StepProps } from "./step-props.ts";

export function AccessStep({ values, onChange, errors, collection }: StepProps) {
  const models = useQuery(modelsOptions).data ?? [];
  return (
    <>
      {collection === undefined ? (
        <Select
          label={s.model}
          hint={s.modelHint}
          error={errorAt(errors, "embedding_model")}
          value={values.model}
          choices={[
            { value: "", label: s.modelDefault },
            ...models.map(({ id, provider }) => ({ value: id, label: `${id} (${provider})` })),
          ]}
          onChoose={(model) => onChange({ model })}
        />
      ) : (
        <TextField label={s.model} hint={s.cannotChange} value={values.model} disabled readOnly />
      )}
      <Check label={s.private} checked={values.private} onCheck={(hidden) => onChange({ private: hidden })} />
      {errorAt(errors, "private") !== undefined && <p className="text-xs text-bad">{errorAt(errors, "private")}</p>}
      <TextArea
        label={s.groups}
        hint={s.groupsHint}
        error={errorAt(errors, "allowed_groups")}
        rows={4}
        value={values.groups}
        onChange={({ target }) => onChange({ groups: target.value })}
        spellCheck={false}
      />
    </>
  );
}
