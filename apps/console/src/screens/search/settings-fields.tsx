import { useState } from "react";
import { useQuery } from "@tanstack/react-query";
import { meOptions } from "../../api/identity.ts";
import { searchStrings } from "../../strings/search.ts";
import { Select, TextField } from "../../ui/field.tsx";
import { FilterBuilder } from "./filter-builder.tsx";
import { fusions, limitDefault, modes } from "./search-state.ts";
import type { SettingsDraft } from "./settings-draft.ts";

const s = searchStrings.settings;
const modeChoices = modes.map((value) => ({ value, label: s.modes[value] }));
const fusionChoices = ["", ...fusions].map((value) => ({ value, label: s.fusions[value as keyof typeof s.fusions] }));

interface SettingsFieldsProps {
  readonly draft: SettingsDraft;
  /** `now`: selected, not typed, so it is submitted immediately. */
  readonly onChange: (part: Partial<SettingsDraft>, now?: boolean) => void;
  /** Submitted from the filter, with its text. */
  readonly onRun: (filter: string) => void;
  readonly fields: readonly string[];
}

export function SettingsFields({ draft, onChange, onRun, fields }: SettingsFieldsProps) {
  const { mode: _mode, limit: _limit, min: _min, ...rest } = draft;
  const [open, setOpen] = useState(() => Object.values(rest).some((value) => value !== ""));
  return (
    <div className="@container flex min-w-0 flex-col gap-3">
      <div className="grid grid-cols-2 gap-3 sm:grid-cols-3">
        <Select
          label={s.mode}
          value={draft.mode}
          choices={modeChoices}
          onChoose={(mode) => onChange({ mode }, true)}
          className="col-span-2 sm:col-span-1"
        />
        <Numeric
          label={s.limit}
          min={1}
          max={1000}
          step={1}
          placeholder={String(limitDefault)}
          value={draft.limit}
          onType={(limit) => onChange({ limit })}
        />
        <Numeric label={s.min} step="any" value={draft.min} onType={(min) => onChange({ min })} />
      </div>
      <details open={open} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary className="w-fit cursor-pointer rounded text-sm text-soft hover:text-ink">{s.more}</summary>
        {open && (
          <div className="mt-3 flex flex-col gap-3">
            <FilterBuilder
              text={draft.filter}
              onChange={(filter) => onChange({ filter })}
              onRun={onRun}
              fields={fields}
            />
            <More draft={draft} onChange={onChange} />
          </div>
        )}
      </details>
    </div>
  );
}

function More({ draft, onChange }: Pick<SettingsFieldsProps, "draft" | "onChange">) {
  const isAdmin = useQuery(meOptions).data?.role === "admin";
  return (
    <div className="grid grid-cols-2 gap-3 @3xl:grid-cols-4">
      <Select
        label={s.fusion}
        value={draft.fusion}
        choices={fusionChoices}
        onChoose={(fusion) => onChange({ fusion }, true)}
      />
      <Numeric
        label={s.weight}
        hint={s.weightHint}
        min={0}
        max={1}
        step="any"
        value={draft.weight}
        onType={(weight) => onChange({ weight })}
      />
      <Numeric
        label={s.diversity}
        hint={s.diversityHint}
        min={0}
        max={1}
        step="any"
        value={draft.diversity}
        onType={(diversity) => onChange({ diversity })}
      />
      <Numeric
        label={s.hops}
        hint={s.hopsHint}
        min={0}
        max={3}
        step={1}
        placeholder="1"
        value={draft.hops}
        onType={(hops) => onChange({ hops })}
      />
      <TextField
        label={s.asOf}
        hint={s.asOfHint}
        value={draft.asof}
        onChange={({ target }) => onChange({ asof: target.value })}
        spellCheck={false}
        className="col-span-2"
      />
      {isAdmin && (
        <>
          <TextField
            label={s.user}
            hint={s.userHint}
            value={draft.user}
            onChange={({ target }) => onChange({ user: target.value })}
            autoComplete="off"
            spellCheck={false}
          />
          <TextField
            label={s.groups}
            hint={s.groupsHint}
            value={draft.groups}
            onChange={({ target }) => onChange({ groups: target.value })}
            autoComplete="off"
            spellCheck={false}
            disabled={draft.user.trim() === ""}
          />
        </>
      )}
    </div>
  );
}

interface NumericProps {
  readonly label: string;
  readonly hint?: string;
  readonly min?: number;
  readonly max?: number;
  readonly step: number | "any";
  readonly placeholder?: string;
  readonly value: string;
  readonly onType: (value: string) => void;
}

function Numeric({ onType, ...props }: NumericProps) {
  return <TextField {...props} type="number" onChange={({ target }) => onType(target.value)} />;
}
