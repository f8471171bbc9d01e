import type { Evaluation } from "@pinakes/client";
import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { evaluationsOptions } from "../../api/evaluations.ts";
import { moreOf } from "../../api/page.ts";
import { searchStrings } from "../../strings/search.ts";
import { DataTable, type Column } from "../../ui/data-table.tsx";
import { ShownName } from "../../ui/name.tsx";
import { Empty } from "../../ui/states.tsx";
import { Ago } from "../../ui/time.tsx";
import { EvaluationDetail } from "./evaluation-detail.tsx";

const s = searchStrings.evaluations;
const route = getRouteApi("/shell/search");

const columns: readonly Column<Evaluation>[] = [
  {
    id: "name",
    header: s.columns.name,
    width: "minmax(12rem,2fr)",
    cell: ({ name }) => (
      <span className="truncate font-medium">
        <ShownName of={name} />
      </span>
    ),
  },
  {
    id: "questions",
    header: s.columns.questions,
    width: "6rem",
    align: "right",
    cell: ({ query_count }) => query_count,
  },
  { id: "runs", header: s.columns.runs, width: "5rem", align: "right", cell: ({ runs }) => runs.length },
  {
    id: "ndcg",
    header: s.columns.ndcg,
    width: "7rem",
    align: "right",
    cell: ({ runs }) => runs[0]?.ndcg.toFixed(3) ?? "–",
  },
  {
    id: "collections",
    header: s.columns.collections,
    width: "minmax(10rem,1fr)",
    cell: ({ collections }) => (
      <span className="truncate">{collections.map(({ collection }) => collection).join(", ")}</span>
    ),
  },
  { id: "created", header: s.columns.created, width: "8rem", cell: ({ created_at }) => <Ago at={created_at} /> },
  {
    id: "by",
    header: s.columns.by,
    width: "8rem",
    cell: ({ created_by }) => <span className="truncate">{created_by}</span>,
  },
];

export function Evaluations() {
  const { evaluation } = route.useSearch();
  return evaluation === undefined ? <List /> : <EvaluationDetail key={evaluation} id={evaluation} />;
}

function List() {
  const navigate = route.useNavigate();
  const list = useInfiniteQuery(evaluationsOptions);
  return (
    <DataTable
      label={s.list}
      columns={columns}
      items={list.data?.items}
      rowId={({ evaluation_id }) => evaluation_id}
      onOpen={({ evaluation_id }) => void navigate({ search: (old) => ({ ...old, evaluation: evaluation_id }) })}
      empty={<Empty title={s.empty}>{s.emptyAbout}</Empty>}
      error={list.error}
      onRetry={() => void list.refetch()}
      more={moreOf(list)}
    />
  );
}
