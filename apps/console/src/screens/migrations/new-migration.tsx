/** A new migration: the fields of its kind, and others as JSON. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { createMigration, migrationsKey, type NewMigration } from "../../api/migrations.ts";
import { migrationStrings } from "../../strings/migrations.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Check, Select, TextArea, TextField } from "../../ui/field.tsx";
import { ErrorBox } from "../../ui/states.tsx";
import { type FieldValues, sourceFields, type SourceKind, sourceKinds, sourceOf } from "./source-fields.ts";
import { SourceInput } from "./source-input.tsx";

const s = migrationStrings.form;

const first: FormValues = {
  kind: "collection",
  fields: { objects: "absolute" },
  more: "",
  retainDays: "",
  auto: false,
};

interface Props {
  readonly onClose: () => void;
  readonly onMade: (id: string) => void;
}

export function NewMigrationDialog({ onClose, onMade }: Props) {
  const [values, setValues] = useState(first);
  const client = useQueryClient();
  const read = readMigration(values);
  const creating = useMutation({
    mutationFn: createMigration,
    onSuccess: async ({ migration_id }) => {
      await client.invalidateQueries({ queryKey: migrationsKey });
      onMade(migration_id);
    },
  });
  return (
    <Dialog open onClose={onClose} title={migrationStrings.create} about={s.about} wide unsaved={values !== first}>
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          if (read.input !== undefined && !creating.isPending) creating.mutate(read.input);
        }}
      >
        <Fields values={values} errors={read.errors} onChange={(next) => setValues((old) => ({ ...old, ...next }))} />
        {creating.error !== null && <ErrorBox error={creating.error} />}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{s.cancel}</Button>
          <Button type="submit" look="main" disabled={creating.isPending || read.input === undefined}>
            {creating.isPending ? s.submitting : s.submit}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

interface FieldsProps {
  readonly values: FormValues;
  readonly errors: ReturnType<typeof readMigration>["errors"];
  readonly onChange: (next: Partial<FormValues>) => void;
}

function Fields({ values, errors, onChange }: FieldsProps) {
  const { kind, fields, more, retainDays, auto } = values;
  return (
    <>
      <Select
        label={s.kind}
        value={kind}
        choices={sourceKinds.map((value) => ({ value, label: migrationStrings.kinds[value] }))}
        onChoose={(next) => onChange({ kind: next })}
      />
      <div className="grid gap-4 sm:grid-cols-2">
        {sourceFields[kind].map((field) => (
          <SourceInput
            key={field.name}
            field={field}
            values={fields}
            onChange={(next) => onChange({ fields: { ...fields, ...next } })}
          />
        ))}
      </div>
      <TextArea
        label={s.more}
        hint={s.moreHint}
        error={errors.more}
        rows={3}
        spellCheck={false}
        value={more}
        onChange={({ target }) => onChange({ more: target.value })}
      />
      {kind !== "collection" && (
        <TextField
          label={s.retain}
          hint={s.retainHint}
          error={errors.retainDays}
          className="max-w-72"
          inputMode="numeric"
          value={retainDays}
          onChange={({ target }) => onChange({ retainDays: target.value })}
        />
      )}
      <Check label={s.auto} checked={auto} onCheck={(next) => onChange({ auto: next })} />
    </>
  );
}

/** Validates the form of a new migration. */
interface FormValues {
  readonly kind: SourceKind;
  readonly fields: FieldValues;
  /** JSON. */
  readonly more: string;
  readonly retainDays: string;
  readonly auto: boolean;
}

interface Read {
  /** Undefined while invalid. */
  readonly input: NewMigration | undefined;
  readonly errors: { readonly more?: string; readonly retainDays?: string };
}

export function readMigration({ kind, fields, more, retainDays, auto }: FormValues): Read {
  const extra = objectOf(more);
  // A moved collection is kept in the trash, for the trash's retention.
  const days = retainDays.trim() === "" || kind === "collection" ? undefined : Number(retainDays);
  const errors = {
    ...(extra === undefined ? { more: s.notObject } : {}),
    ...(days !== undefined && !Number.isInteger(days) ? { retainDays: s.notNumber } : {}),
  };
  if (extra === undefined || Object.keys(errors).length > 0) return { input: undefined, errors };
  const input = {
    source: sourceOf(kind, fields, extra),
    retain_days: days,
    ...(auto ? { auto } : {}),
  };
  return { input, errors };
}

function objectOf(text: string): Readonly<Record<string, unknown>> | undefined {
  if (text.trim() === "") return {};
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Readonly<Record<string, unknown>>)
      : undefined;
  } catch {
    return undefined;
  }
}
