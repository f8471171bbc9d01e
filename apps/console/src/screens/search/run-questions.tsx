/** Questions of a run. Each opens in the lab with the run's settings. */
import type { Evaluation, EvaluationRun, RunQuestion } from "@pinakes/client";
import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { refOf } from "../../api/collection-ref.ts";
import { runQuestionsOptions } from "../../api/evaluations.ts";
import { moreOf } from "../../api/page.ts";
import { formatDateTime, formatMs } from "../../lib/format.ts";
import { searchStrings } from "../../strings/search.ts";
import { DataTable, type Column } from "../../ui/data-table.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Empty } from "../../ui/states.tsx";

const s = searchStrings.evaluations.questions;
const route = getRouteApi("/shell/search");

const columns: readonly Column<RunQuestion>[] = [
  { id: "number", header: s.columns.number, width: "3.5rem", align: "right", cell: ({ number }) => number },
  {
    id: "query",
    header: s.columns.query,
    width: "minmax(10rem,2fr)",
    cell: ({ query }) => <span className="truncate">{query}</span>,
  },
  { id: "ranks", header: s.columns.ranks, width: "minmax(9rem,1fr)", cell: (question) => <Ranks of={question} /> },
  { id: "ndcg", header: s.columns.ndcg, width: "5rem", align: "right", cell: ({ ndcg }) => ndcg.toFixed(3) },
  { id: "recall", header: s.columns.recall, width: "5rem", align: "right", cell: ({ recall }) => recall.toFixed(3) },
  { id: "mrr", header: s.columns.mrr, width: "5rem", align: "right", cell: ({ mrr }) => mrr.toFixed(3) },
  { id: "time", header: s.columns.time, width: "5rem", align: "right", cell: ({ search_ms }) => formatMs(search_ms) },
];

interface Props {
  readonly of: Evaluation;
  readonly run: EvaluationRun;
  readonly onClose: () => void;
}

export function RunQuestions({ of, run, onClose }: Props) {
  const navigate = route.useNavigate();
  const list = useInfiniteQuery(runQuestionsOptions(of.evaluation_id, run.job_id));
  const { mode, fusion, vector_weight: weight, diversity } = run.configuration;
  const places = of.collections.map(({ repository, collection }) => refOf({ rid: repository, cid: collection }));
  return (
    <Dialog open onClose={onClose} title={s.title(formatDateTime(run.finished_at))} about={s.about(run.k)} wide>
      <DataTable
        label={s.label}
        columns={columns}
        items={list.data?.items}
        rowId={({ number }) => String(number)}
        onOpen={({ query }) =>
          void navigate({ search: { tab: "try", q: query, in: places, mode, fusion, weight, diversity } })
        }
        empty={<Empty title={s.empty} />}
        error={list.error}
        onRetry={() => void list.refetch()}
        more={moreOf(list)}
      />
    </Dialog>
  );
}

/** Ranks of the relevant documents, and how many were not among the first k. */
function Ranks({ of: { found, relevant } }: { readonly of: RunQuestion }) {
  const missing = relevant.length - found.length;
  return (
    <span className="truncate">
      {found.map(({ rank }) => `#${rank}`).join(", ")}
      {found.length > 0 && missing > 0 && "; "}
      {missing > 0 && <span className="text-bad">{s.missing(missing)}</span>}
    </span>
  );
}
