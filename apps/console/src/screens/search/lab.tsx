/** Searches with one or two settings. The submitted query is in the URL; unsubmitted input is not. */
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { explainedSearchOptions, type LabQuestion } from "../../api/explained-search.ts";
import { searchStrings } from "../../strings/search.ts";
import { Empty } from "../../ui/states.tsx";
import { AnswerColumn, type Asked } from "./answer-column.tsx";
import { inCommon } from "./compare.ts";
import { LabForm } from "./lab-form.tsx";
import { useMarks } from "./marks.ts";
import { MarksBar } from "./marks-bar.tsx";
import { FilterError, questionOf, settingsOf, type LabSearch, type Settings } from "./search-state.ts";

const s = searchStrings;
const route = getRouteApi("/shell/search");

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
      <LabForm search={search} fields={fields} />
      <MarksBar marks={marks} />
      {a === undefined ? (
        <Empty title={s.ask}>{s.askAbout}</Empty>
      ) : (
        <>
          {comparing && answers[0] !== undefined && answers[1] !== undefined && (
            <p className="text-sm">
              {s.answer.common(
                inCommon(answers[0].hits, answers[1].hits),
                answers[0].hits.length,
                answers[1].hits.length,
              )}
            </p>
          )}
          <div className={comparing ? "grid min-w-0 grid-cols-1 gap-4 lg:grid-cols-2" : "min-w-0"}>
            <AnswerColumn
              key={`a${search.q ?? ""}`}
              title={comparing ? s.answer.a : s.answer.title}
              asked={a}
              marks={marks}
              other={comparing ? { name: "B", answer: answers[1] } : undefined}
            />
            {b !== undefined && (
              <AnswerColumn
                key={`b${search.q ?? ""}`}
                title={s.answer.b}
                asked={b}
                marks={marks}
                other={{ name: "A", answer: answers[0] }}
              />
            )}
          </div>
        </>
      )}
    </div>
  );
}

/** Undefined without a query. */
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

/** Fields that every chunk has, and those of the results. */
const ownFields = ["filename", "file_type", "page"];

function fieldsOf(hits: readonly { readonly metadata: unknown }[]): readonly string[] {
  const names = hits.flatMap(({ metadata }) =>
    typeof metadata === "object" && metadata !== null ? Object.keys(metadata) : [],
  );
  return [...new Set([...ownFields, ...names])];
}
