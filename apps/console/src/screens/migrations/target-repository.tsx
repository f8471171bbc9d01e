/** The target: a repository by name, or any by id, which the user may not be able to list. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { repositoriesOptions } from "../../api/collections.ts";
import { migrationStrings } from "../../strings/migrations.ts";
import { Select, TextField } from "../../ui/field.tsx";
import type { FieldValues, SourceField } from "./source-fields.ts";

const s = migrationStrings.form;
/** Not a valid id, so it cannot collide. */
const byId = "by id";

interface Props {
  readonly field: SourceField;
  readonly values: FieldValues;
  readonly onChange: (next: FieldValues) => void;
}

export function TargetRepository({ field: { name, label, hint, required = false }, values, onChange }: Props) {
  const repositories = useQuery(repositoriesOptions).data?.items ?? [];
  const [typing, setTyping] = useState(false);
  const value = String(values[name] ?? "");
  const set = (next: string) => onChange({ [name]: next });
  const choose = (next: string) => {
    setTyping(next === byId);
    set(next === byId ? "" : next);
  };
  return (
    <div className="flex min-w-0 flex-col gap-2">
      <Select
        label={label}
        hint={hint}
        value={typing ? byId : value}
        choices={[
          { value: "", label: name === "to.repository" ? s.sameRepository : s.none },
          ...repositories.map((one) => ({ value: one.repository_id, label: one.name })),
          { value: byId, label: s.otherRepository },
        ]}
        onChoose={choose}
      />
      {typing && (
        <TextField
          label={s.repositoryId(label)}
          required={required}
          spellCheck={false}
          value={value}
          onChange={({ target }) => set(target.value)}
        />
      )}
    </div>
  );
}
