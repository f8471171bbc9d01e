/** An edit conflict: both versions side by side, and a choice per field. */
import type { CollectionChange } from "@pinakes/client";
import { useState } from "react";
import { collectionFormStrings as s } from "../../../strings/collection-form.ts";
import { uiStrings } from "../../../strings/ui.ts";
import { Button } from "../../../ui/button.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { ErrorBox } from "../../../ui/states.tsx";
import { changedFields, only, type Field } from "./changes.ts";
import type { Changeable } from "./form-values.ts";

interface Props {
  /** The common base. */
  readonly base: Changeable;
  readonly mine: Changeable;
  readonly theirs: Changeable;
  readonly pending: boolean;
  readonly error: unknown;
  readonly onSave: (change: CollectionChange) => void;
  readonly onDrop: () => void;
  readonly onClose: () => void;
}

type Side = "mine" | "theirs";

export function ConflictView({ base, mine, theirs, pending, error, onSave, onDrop, onClose }: Props) {
  const touched = changedFields(base, mine);
  const differing = changedFields(theirs, mine);
  const [chosen, setChosen] = useState<Partial<Record<Field, Side>>>({});
  // Fields that were not edited here keep the other's value.
  const sideOf = (field: Field): Side => chosen[field] ?? (touched.includes(field) ? "mine" : "theirs");
  return (
    <Dialog
      open
      onClose={onClose}
      title={s.conflictTitle}
      about={differing.length === 0 ? s.conflictSame : s.conflictAbout}
      wide
      unsaved
    >
      <div className="flex flex-col gap-4">
        {differing.map((field) => (
          <FieldChoice
            key={field}
            name={s.fieldNames[field]}
            mine={shownOf(mine[field])}
            theirs={shownOf(theirs[field])}
            side={sideOf(field)}
            onChoose={(side) => setChosen((old) => ({ ...old, [field]: side }))}
          />
        ))}
        {error !== undefined && error !== null && <ErrorBox error={error} />}
        <div className="flex flex-wrap justify-end gap-2">
          <Button look="quiet" onClick={onClose}>
            {uiStrings.cancel}
          </Button>
          <Button onClick={onDrop}>{s.takeTheirs}</Button>
          <Button
            look="main"
            disabled={pending}
            onClick={() =>
              onSave(
                only(
                  mine,
                  differing.filter((field) => sideOf(field) === "mine"),
                ),
              )
            }
          >
            {pending ? s.saving : s.saveChosen}
          </Button>
        </div>
      </div>
    </Dialog>
  );
}

interface FieldChoiceProps {
  readonly name: string;
  readonly mine: string;
  readonly theirs: string;
  readonly side: Side;
  readonly onChoose: (side: Side) => void;
}

function FieldChoice({ name, mine, theirs, side, onChoose }: FieldChoiceProps) {
  const sides = [
    ["theirs", s.theirs, theirs],
    ["mine", s.mine, mine],
  ] as const;
  return (
    <fieldset className="rounded-md border p-3">
      <legend className="px-1 text-sm font-medium">{name}</legend>
      <div className="grid gap-3 sm:grid-cols-2">
        {sides.map(([value, label, shown]) => (
          <label
            key={value}
            className="flex min-w-0 flex-col gap-1 rounded-md border p-2 has-checked:border-brand has-checked:bg-brand-soft"
          >
            <span className="flex items-center gap-2 text-sm">
              <input type="radio" className="accent-brand" checked={side === value} onChange={() => onChoose(value)} />
              {label}
            </span>
            <span className="max-h-48 overflow-auto font-mono text-xs break-words whitespace-pre-wrap">{shown}</span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}

function shownOf(value: unknown): string {
  if (value === null || value === "") return s.empty;
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}
