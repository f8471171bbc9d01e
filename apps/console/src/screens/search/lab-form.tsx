/** The query form. The submitted query is in the URL; unsubmitted input is not. */
import { getRouteApi } from "@tanstack/react-router";
import { Columns2, Search, X } from "lucide-react";
import { useState } from "react";
import { searchStrings as s } from "../../strings/search.ts";
import { Button } from "../../ui/button.tsx";
import { TextField } from "../../ui/field.tsx";
import { Panel } from "../../ui/panel.tsx";
import { CollectionsPicker } from "./collection-picker.tsx";
import { settingsOf, type LabSearch } from "./search-state.ts";
import { draftOf, settingsFrom, type SettingsDraft } from "./settings-draft.ts";
import { SettingsFields } from "./settings-fields.tsx";

const route = getRouteApi("/shell/search");
/** The server's default. */
const queryCharsMax = 10_000;

interface Draft {
  readonly q: string;
  readonly a: SettingsDraft;
  readonly b: SettingsDraft | undefined;
}

interface LabFormProps {
  readonly search: LabSearch;
  /** Known metadata fields. */
  readonly fields: readonly string[];
}

export function LabForm({ search, fields }: LabFormProps) {
  const { draft, change, apply } = useDraft(search);
  const { a, b } = draft;
  return (
    <form
      role="search"
      className="flex min-w-0 flex-col gap-3"
      onSubmit={(event) => {
        event.preventDefault();
        apply(draft);
      }}
    >
      <div className="flex items-end gap-2">
        <TextField
          label={s.query}
          placeholder={s.queryExample}
          type="search"
          value={draft.q}
          onChange={({ target }) => change({ ...draft, q: target.value })}
          maxLength={queryCharsMax}
          autoFocus={search.q === undefined}
          className="flex-1"
        />
        <Button type="submit" look="main">
          <Search aria-hidden />
          {s.submit}
        </Button>
      </div>
      <div className="flex flex-wrap items-end gap-3">
        <div className="min-w-0 flex-1 basis-64">
          <CollectionsPicker
            label={s.collections.label}
            refs={search.in ?? []}
            onChoose={(refs) => apply(draft, { in: refs.length === 0 ? undefined : refs })}
          />
        </div>
        <Button onClick={() => change({ ...draft, b: b === undefined ? a : undefined }, true)}>
          {b === undefined ? <Columns2 aria-hidden /> : <X aria-hidden />}
          {b === undefined ? s.settings.compare : s.settings.stopComparing}
        </Button>
      </div>
      <div className={b === undefined ? "min-w-0" : "grid min-w-0 grid-cols-1 gap-4 lg:grid-cols-2"}>
        <Panel title={b === undefined ? s.settings.title : s.settings.a}>
          <SettingsFields
            draft={a}
            onChange={(part, now) => change({ ...draft, a: { ...a, ...part } }, now)}
            onRun={(filter) => apply({ ...draft, a: { ...a, filter } })}
            fields={fields}
          />
        </Panel>
        {b !== undefined && (
          <Panel title={s.settings.b}>
            <SettingsFields
              draft={b}
              onChange={(part, now) => change({ ...draft, b: { ...b, ...part } }, now)}
              onRun={(filter) => apply({ ...draft, b: { ...b, filter } })}
              fields={fields}
            />
          </Panel>
        )}
      </div>
    </form>
  );
}

function useDraft(search: LabSearch) {
  const navigate = route.useNavigate();
  const key = JSON.stringify([search.q, settingsOf(search), search.b]);
  const [kept, setKept] = useState({ of: key, draft: draftFrom(search) });
  // Changed from outside, such as by browser navigation: shows the URL's query.
  if (kept.of !== key) setKept({ of: key, draft: draftFrom(search) });
  const apply = (next: Draft, part: Partial<LabSearch> = {}) =>
    void navigate({
      search: (old) => ({
        ...old,
        q: next.q.trim() === "" ? undefined : next.q.trim(),
        ...settingsFrom(next.a),
        b: next.b === undefined ? undefined : settingsFrom(next.b),
        ...part,
      }),
    });
  const change = (next: Draft, now = false) => {
    setKept({ of: key, draft: next });
    if (now) apply(next);
  };
  return { draft: kept.draft, change, apply };
}

function draftFrom(search: LabSearch): Draft {
  return { q: search.q ?? "", a: draftOf(search), b: search.b === undefined ? undefined : draftOf(search.b) };
}
