import type { ScheduledPipeline } from "@pinakes/client";
import { ListChecks, Play, Trash2 } from "lucide-react";
import { pipelineStrings as s } from "../../../strings/pipelines.ts";
import type { Column } from "../../../ui/data-table.tsx";
import { Menu } from "../../../ui/menu.tsx";
import { Ago } from "../../../ui/time.tsx";

interface Actions {
  readonly disabled: boolean;
  readonly onPlan: (pipeline: ScheduledPipeline) => void;
  readonly onRun: (pipeline: ScheduledPipeline) => void;
  readonly onDelete: (pipeline: ScheduledPipeline) => void;
}

export function pipelineColumns({ disabled, onPlan, onRun, onDelete }: Actions): readonly Column<ScheduledPipeline>[] {
  const of = s.columns;
  return [
    {
      id: "source",
      header: of.source,
      width: "minmax(14rem,2fr)",
      cell: ({ source }) => (
        <code className="truncate font-mono text-xs" title={source}>
          {source}
        </code>
      ),
    },
    {
      id: "trigger",
      header: of.trigger,
      width: "minmax(10rem,1fr)",
      cell: ({ trigger, schedule }) => schedule ?? s.triggers[trigger],
    },
    {
      id: "next",
      header: of.next,
      width: "8rem",
      cell: ({ next_run_at }) => (next_run_at === null ? s.never : <Ago at={next_run_at} />),
    },
    { id: "removes", header: of.removes, width: "6rem", cell: ({ auto_remove }) => (auto_remove ? s.yes : s.no) },
    { id: "created", header: of.created, width: "8rem", cell: ({ created_at }) => <Ago at={created_at} /> },
    {
      id: "actions",
      header: of.actions,
      width: "5rem",
      cell: (pipeline) => (
        <Menu
          label={s.actionsFor(pipeline.source)}
          entries={[
            { label: s.plan, icon: <ListChecks aria-hidden />, disabled, onChoose: () => onPlan(pipeline) },
            { label: s.run, icon: <Play aria-hidden />, disabled, onChoose: () => onRun(pipeline) },
            {
              label: s.delete,
              icon: <Trash2 aria-hidden />,
              disabled,
              danger: true,
              onChoose: () => onDelete(pipeline),
            },
          ]}
        />
      ),
    },
  ];
}
