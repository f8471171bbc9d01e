import { useQuery } from "@tanstack/react-query";
import { repositoriesOptions } from "../../../api/collections.ts";
import { collectionFormStrings as s } from "../../../strings/collection-form.ts";
import { Select, TextArea, TextField } from "../../../ui/field.tsx";
import { errorAt } from "./field-errors.ts";
import type { StepProps } from "./step-props.ts";

export function BasicsStep({ values, onChange, errors, collection }: StepProps) {
  const editing = collection !== undefined;
  return (
    <>
      <TextField
        label={s.name}
        hint={s.nameHint}
        error={errorAt(errors, "name")}
        value={values.name}
        onChange={({ target }) => onChange({ name: target.value })}
        autoComplete="off"
        autoFocus
      />
      <TextField
        label={s.id}
        hint={editing ? s.cannotChange : s.idHint}
        error={errorAt(errors, "collection_id")}
        value={values.id}
        disabled={editing}
        onChange={({ target }) => onChange({ id: target.value })}
        autoComplete="off"
        spellCheck={false}
      />
      {editing ? (
        <TextField label={s.repository} hint={s.cannotChange} value={collection.repository_name} disabled readOnly />
      ) : (
        <RepositoryFields values={values} onChange={onChange} errors={errors} />
      )}
      <TextArea
        label={s.description}
        rows={3}
        error={errorAt(errors, "description")}
        value={values.description}
        onChange={({ target }) => onChange({ description: target.value })}
      />
    </>
  );
}

function RepositoryFields({ values, onChange, errors }: StepProps) {
  const listed = useQuery(repositoriesOptions).data?.items ?? [];
  const known = listed
    .filter(({ personal }) => !personal)
    .map(({ repository_id, name }) => ({ value: repository_id, label: name }));
  const missing = ["", "me", ...known.map(({ value }) => value)].includes(values.repository)
    ? []
    : [{ value: values.repository, label: values.repository }];
  const creating = values.repository === "";
  return (
    <>
      <Select
        label={s.repository}
        value={values.repository}
        choices={[{ value: "me", label: s.personal }, ...known, ...missing, { value: "", label: s.newRepository }]}
        onChoose={(repository) => onChange({ repository })}
      />
      {creating && (
        <div className="grid gap-4 rounded-md border p-3 sm:grid-cols-2">
          <TextField
            label={s.newRepositoryName}
            error={errorAt(errors, "repository_name")}
            value={values.newRepositoryName}
            onChange={({ target }) => onChange({ newRepositoryName: target.value })}
            autoComplete="off"
          />
          <TextField
            label={s.newRepositoryId}
            hint={s.idHint}
            error={errorAt(errors, "repository_id")}
            value={values.newRepositoryId}
            onChange={({ target }) => onChange({ newRepositoryId: target.value })}
            autoComplete="off"
            spellCheck={false}
          />
        </div>
      )}
    </>
  );
}
