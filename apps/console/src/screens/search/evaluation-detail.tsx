import type { Evaluation } from "@pinakes/client";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { ArrowLeft } from "lucide-react";
import { evaluationOptions } from "../../api/evaluations.ts";
import { searchStrings } from "../../strings/search.ts";
import { Button } from "../../ui/button.tsx";
import { Chart } from "../../ui/chart.tsx";
import { Facts, Panel } from "../../ui/panel.tsx";
import { ErrorBox, Loading } from "../../ui/states.tsx";
import { Ago } from "../../ui/time.tsx";
import { formatDateTime } from "../../lib/format.ts";
import { DeleteEvaluation } from "./delete-evaluation.tsx";
import { RunForm } from "./run-form.tsx";
import { RunQuestions } from "./run-questions.tsx";
import { RunsTable } from "./runs-table.tsx";

const s = searchStrings.evaluations;
const route = getRouteApi("/shell/search");
const measures = [
  { key: "ndcg", label: s.runColumns.ndcg },
  { key: "recall", label: s.runColumns.recall },
  { key: "mrr", label: s.runColumns.mrr },
] as const;
/** A line needs two points. */
const chartRunsMin = 2;

export function EvaluationDetail({ id }: { readonly id: string }) {
  const navigate = route.useNavigate();
  const { data, error, refetch } = useQuery(evaluationOptions(id));
  return (
    <div className="flex min-w-0 flex-col gap-4">
      <Button
        look="quiet"
        className="self-start"
        onClick={() => void navigate({ search: (old) => ({ ...old, evaluation: undefined, run: undefined }) })}
      >
        <ArrowLeft aria-hidden />
        {s.back}
      </Button>
      {error !== null ? (
        <ErrorBox error={error} onRetry={() => void refetch()} />
      ) : data === undefined ? (
        <Loading />
      ) : (
        <Detail of={data} />
      )}
    </div>
  );
}

function Detail({ of }: { readonly of: Evaluation }) {
  const { collections, query_count, k, created_at, created_by, runs } = of;
  const { run } = route.useSearch();
  const navigate = route.useNavigate();
  const show = (job: string | undefined) => void navigate({ search: (old) => ({ ...old, run: job }) });
  const shown = runs.find(({ job_id }) => job_id === run);
  const points = runs
    .toReversed()
    .map(({ finished_at, ndcg, recall, mrr }) => ({ at: finished_at, ndcg, recall, mrr }));
  return (
    <>
      <div className="grid min-w-0 grid-cols-1 gap-4 lg:grid-cols-2">
        <Panel title={of.name} actions={<DeleteEvaluation of={of} />}>
          <Facts
            of={[
              [s.facts.questions, query_count],
              [s.facts.k, k],
              [
                s.facts.collections,
                collections.map(({ repository, collection }) => `${repository} / ${collection}`).join(", "),
              ],
              [s.facts.created, <Ago key="made" at={created_at} />],
              [s.facts.by, created_by],
            ]}
          />
        </Panel>
        <Panel title={s.runTitle}>
          <RunForm id={of.evaluation_id} />
        </Panel>
      </div>
      {points.length >= chartRunsMin && (
        <Panel title={s.quality}>
          <Chart
            kind="line"
            label={s.chart}
            points={points}
            series={measures}
            format={(value) => value.toFixed(3)}
            formatAt={formatDateTime}
          />
        </Panel>
      )}
      <RunsTable runs={runs} onOpen={show} />
      {shown !== undefined && <RunQuestions of={of} run={shown} onClose={() => show(undefined)} />}
    </>
  );
}
