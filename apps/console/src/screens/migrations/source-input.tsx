import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { repositoriesOptions, repositoryCollectionsOptions } from "../../api/collections.ts";
import { migrationStrings as s } from "../../strings/migrations.ts";
import { Check, Select, TextField } from "../../ui/field.tsx";
import type { FieldValues, SourceField } from "./source-fields.ts";
import { TargetRepository } from "./target-repository.tsx";

interface Props {
  readonly field: SourceField;
  readonly values: FieldValues;
  readonly onChange: (next: FieldValues) => void;
}

export function SourceInput(props: Props) {
  const { field, values, onChange } = props;
  const { name, label, hint, input, required = false } = field;
  const value = values[name];
  const words = typeof value === "string" ? value : "";
  if (input === "target") return <TargetRepository {...props} />;
  if (input === "repository") return <RepositoryChoice {...props} />;
  if (input === "collection") return <CollectionChoice {...props} />;
  if (input === "flag")
    return (
      <div className="sm:col-span-2">
        <Check label={label} checked={value === true} onCheck={(next) => onChange({ [name]: next })} />
      </div>
    );
  if (input === "objects")
    return (
      <Select
        label={label}
        value={words}
        choices={(["absolute", "literal", "iri"] as const).map((one) => ({
          value: one as string,
          label: s.objects[one],
        }))}
        onChoose={(next) => onChange({ [name]: next })}
      />
    );
  return (
    <TextField
      label={label}
      hint={hint}
      value={words}
      required={required}
      spellCheck={false}
      onChange={({ target }) => onChange({ [name]: target.value })}
    />
  );
}

function RepositoryChoice({ field: { name, label }, values, onChange }: Props) {
  const repositories = useQuery(repositoriesOptions).data?.items ?? [];
  return (
    <Select
      label={label}
      value={String(values[name] ?? "")}
      choices={[
        { value: "", label: s.form.none },
        ...repositories.map((one) => ({ value: one.repository_id, label: one.name })),
      ]}
      onChoose={(next) => onChange({ [name]: next, collection: "" })}
    />
  );
}

function CollectionChoice({ field: { name, label }, values, onChange }: Props) {
  const repository = String(values["repository"] ?? "");
  const { data } = useInfiniteQuery({ ...repositoryCollectionsOptions(repository), enabled: repository !== "" });
  return (
    <Select
      label={label}
      value={String(values[name] ?? "")}
      disabled={repository === ""}
      choices={[
        { value: "", label: s.form.none },
        ...(data?.items ?? []).map((one) => ({ value: one.collection_id, label: one.name })),
      ]}
      onChoose={(next) => onChange({ [name]: next })}
    />
  );
}
