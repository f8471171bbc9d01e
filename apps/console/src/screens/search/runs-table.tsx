/** The runs of an evaluation, newest first, each compared with the baseline. */
import type { EvaluationRun, RunConfiguration } from "@pinakes/client";
import { useState } from "react";
import { formatDateTime, formatMs } from "../../lib/format.ts";
import { searchStrings } from "../../strings/search.ts";
import { DataTable, type Column } from "../../ui/data-table.tsx";
import { Select } from "../../ui/field.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Empty } from "../../ui/states.tsx";
import { Ago } from "../../ui/time.tsx";

const s = searchStrings.evaluations;
const names = s.runColumns;

interface Props {
  readonly runs: readonly EvaluationRun[];
  readonly onOpen: (jobId: string) => void;
}

export function RunsTable({ runs, onOpen }: Props) {
  const [baseId, setBaseId] = useState("");
  const base = runs.find(({ job_id }) => job_id === baseId);
  const choices = [
    { value: "", label: s.baseNone },
    ...runs.map((run) => ({
      value: run.job_id,
      label: `${formatDateTime(run.finished_at)} · ${nameOf(run.configuration)}`,
    })),
  ];
  return (
    <Panel title={s.runs}>
      <div className="flex flex-col gap-3">
        {runs.length > 1 && (
          <Select
            label={s.base}
            hint={s.keptRuns}
            value={base === undefined ? "" : baseId}
            choices={choices}
            onChoose={setBaseId}
            className="max-w-md"
          />
        )}
        {runs.length > 0 && <p className="text-sm text-soft">{s.openRun}</p>}
        <DataTable
          label={s.runs}
          columns={columnsWith(base)}
          items={runs}
          rowId={({ job_id }) => job_id}
          onOpen={({ job_id }) => onOpen(job_id)}
          empty={<Empty title={s.noRuns}>{s.noRunsAbout}</Empty>}
        />
      </div>
    </Panel>
  );
}

function columnsWith(base: EvaluationRun | undefined): readonly Column<EvaluationRun>[] {
  const measure = (id: "ndcg" | "recall" | "mrr"): Column<EvaluationRun> => ({
    id,
    header: names[id],
    width: "9rem",
    align: "right",
    cell: (run) => <Measured value={run[id]} base={run === base ? undefined : base?.[id]} />,
  });
  return [
    { id: "at", header: names.at, width: "8rem", cell: ({ finished_at }) => <Ago at={finished_at} /> },
    {
      id: "with",
      header: names.with,
      width: "minmax(12rem,1fr)",
      cell: ({ configuration }) => <span className="truncate">{nameOf(configuration)}</span>,
    },
    measure("ndcg"),
    measure("recall"),
    measure("mrr"),
    {
      id: "p50",
      header: names.p50,
      width: "7rem",
      align: "right",
      cell: ({ search_ms_p50 }) => formatMs(search_ms_p50),
    },
    {
      id: "p95",
      header: names.p95,
      width: "7rem",
      align: "right",
      cell: ({ search_ms_p95 }) => formatMs(search_ms_p95),
    },
    { id: "by", header: names.by, width: "8rem", cell: ({ run_by }) => <span className="truncate">{run_by}</span> },
  ];
}

function Measured({ value, base }: { readonly value: number; readonly base: number | undefined }) {
  const difference = base === undefined ? undefined : value - base;
  return (
    <>
      {difference !== undefined && (
        <span className={difference > 0 ? "text-good" : difference < 0 ? "text-bad" : "text-soft"}>
          {difference > 0 ? "+" : ""}
          {difference.toFixed(3)}
        </span>
      )}
      {value.toFixed(3)}
    </>
  );
}

function nameOf({ mode = "hybrid", fusion, vector_weight, diversity }: RunConfiguration): string {
  const { modes, fusions, weight, diversity: diverse } = searchStrings.settings;
  return [
    modes[mode],
    ...(fusion === undefined ? [] : [fusions[fusion]]),
    ...(vector_weight === undefined ? [] : [`${weight} ${vector_weight}`]),
    ...(diversity === undefined ? [] : [`${diverse} ${diversity}`]),
  ].join(", ");
}
