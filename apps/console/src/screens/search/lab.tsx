/** Ask a question with one or two settings. What was asked stands in the address; what is being typed does not, until it is asked. */
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { Columns2, Search, X } from "lucide-react";
import { useState } from "react";
import { explainedSearchOptions, type LabQuestion } from "../../api/explained-search.ts";
import { searchStrings } from "../../strings/search.ts";
import { Button } from "../../ui/button.tsx";
import { TextField } from "../../ui/field.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Empty } from "../../ui/states.tsx";
import { AnswerColumn, type Asked } from "./answer-column.tsx";
import { CollectionsPicker } from "./collection-picker.tsx";
import { inCommon } from "./compare.ts";
import { useMarks } from "./marks.ts";
import { MarksBar } from "./marks-bar.tsx";
import { FilterError, questionOf, settingsOf, type LabSearch, type Settings } from "./search-state.ts";
import { draftOf, settingsFrom, type SettingsDraft } from "./settings-draft.ts";
import { SettingsFields } from "./settings-fields.tsx";

const s = searchStrings;
const route = getRouteApi("/shell/search");

interface Draft {
  readonly q: string;
  readonly a: SettingsDraft;
  readonly b: SettingsDraft | undefined;
}

export function Lab() {
  const search = route.useSearch();
  const a = useAsked(search, settingsOf(search));
  const b = useAsked(search, search.b);
  const marks = useMarks();
  const comparing = search.b !== undefined;
  const answers = [a?.result.data, b?.result.data] as const;
  const fields = fieldsOf(answers.flatMap((answer) => answer?.hits ?? []));
  return (
    <div className="flex min-w-0 flex-col gap-4">
      <Form search={search} fields={fields} />
      <MarksBar marks={marks} />
      {a === undefined ? (
        <Empty title={s.ask}>{s.askAbout}</Empty>
      ) : (
        <>
          {comparing && answers[0] !== undefined && answers[1] !== undefined && (
            <p className="text-sm">{s.answer.common(inCommon(answers[0].hits, answers[1].hits), answers[0].hits.length, answers[1].hits.length)}</p>
          )}
          <div className={comparing ? "grid min-w-0 grid-cols-1 gap-4 lg:grid-cols-2" : "min-w-0"}>
            <AnswerColumn
              key={`a${search.q ?? ""}`}
              title={comparing ? s.answer.a : s.answer.title}
              asked={a}
              marks={marks}
              other={comparing ? { name: "B", answer: answers[1] } : undefined}
            />
            {b !== undefined && <AnswerColumn key={`b${search.q ?? ""}`} title={s.answer.b} asked={b} marks={marks} other={{ name: "A", answer: answers[0] }} />}
          </div>
        </>
      )}
    </div>
  );
}

function Form({ search, fields }: { readonly search: LabSearch; readonly fields: readonly string[] }) {
  const navigate = route.useNavigate();
  const key = JSON.stringify([search.q, settingsOf(search), search.b]);
  const [kept, setKept] = useState({ of: key, draft: draftFrom(search) });
  // Asked from elsewhere, such as by the browser's "back": the form shows what the address says.
  if (kept.of !== key) setKept({ of: key, draft: draftFrom(search) });
  const { draft } = kept;
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
  const { a, b } = draft;
  const compare = () => change({ ...draft, b: b === undefined ? a : undefined }, true);
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
          maxLength={8000}
          autoFocus
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
        <Button onClick={compare}>
          {b === undefined ? <Columns2 aria-hidden /> : <X aria-hidden />}
          {b === undefined ? s.settings.compare : s.settings.stopComparing}
        </Button>
      </div>
      <div className={b === undefined ? "min-w-0" : "grid min-w-0 grid-cols-1 gap-4 lg:grid-cols-2"}>
        <Panel title={b === undefined ? s.settings.title : s.settings.a}>
          <SettingsFields draft={a} onChange={(part, now) => change({ ...draft, a: { ...a, ...part } }, now)} onRun={() => apply(draft)} fields={fields} />
        </Panel>
        {b !== undefined && (
          <Panel title={s.settings.b}>
            <SettingsFields draft={b} onChange={(part, now) => change({ ...draft, b: { ...b, ...part } }, now)} onRun={() => apply(draft)} fields={fields} />
          </Panel>
        )}
      </div>
    </form>
  );
}

/** Undefined as long as nothing is asked. */
function useAsked({ q, in: refs }: LabSearch, settings: Settings | undefined): Asked | undefined {
  const { question, error } = settings === undefined ? {} : tryQuestion(q, refs, settings);
  const result = useQuery(explainedSearchOptions(question));
  if (q === undefined || settings === undefined) return undefined;
  return { question: q, error, result };
}

function tryQuestion(
  q: string | undefined,
  refs: readonly string[] | undefined,
  settings: Settings,
): { readonly question?: LabQuestion | undefined; readonly error?: FilterError } {
  try {
    return { question: questionOf(q, refs, settings) };
  } catch (error) {
    if (error instanceof FilterError) return { error };
    throw error;
  }
}

function draftFrom(search: LabSearch): Draft {
  return { q: search.q ?? "", a: draftOf(search), b: search.b === undefined ? undefined : draftOf(search.b) };
}

/** Those that every passage has, and those of the documents that were found. */
const ownFields = ["filename", "file_type", "page"];

function fieldsOf(hits: readonly { readonly metadata: unknown }[]): readonly string[] {
  const names = hits.flatMap(({ metadata }) => (typeof metadata === "object" && metadata !== null ? Object.keys(metadata) : []));
  return [...new Set([...ownFields, ...names])];
}
