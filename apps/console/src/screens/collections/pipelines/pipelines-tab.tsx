/** Pipelines of the collection. They are immutable: delete and create another. */
import type { ScheduledPipeline } from "@pinakes/client";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Plus } from "lucide-react";
import { useState } from "react";
import { refreshWork } from "../../../api/refresh-work.ts";
import type { CollectionId } from "../../../api/collections.ts";
import { deletePipeline, pipelinesOptions, runPipeline } from "../../../api/pipelines.ts";
import { pipelineStrings as s } from "../../../strings/pipelines.ts";
import { Button } from "../../../ui/button.tsx";
import { Confirm } from "../../../ui/confirm.tsx";
import { DataTable } from "../../../ui/data-table.tsx";
import { Empty } from "../../../ui/states.tsx";
import { toast, toastError } from "../../../ui/toast.tsx";
import { NewPipelineDialog } from "./new-pipeline.tsx";
import { pipelineColumns } from "./pipeline-columns.tsx";
import { PlanDialog } from "./plan-dialog.tsx";

interface Props {
  readonly id: CollectionId;
  readonly mayChange: boolean;
  readonly onFollow: (jobId: string) => void;
}

type Asked = { readonly what: "create" } | { readonly what: "plan" | "delete"; readonly pipeline: ScheduledPipeline };

export default function PipelinesTab({ id, mayChange, onFollow }: Props) {
  const [asked, setAsked] = useState<Asked>();
  const client = useQueryClient();
  const { data, error, refetch } = useQuery(pipelinesOptions(id));
  const close = () => setAsked(undefined);
  const running = useMutation({
    mutationFn: ({ pipeline, force }: { readonly pipeline: ScheduledPipeline; readonly force: boolean }) =>
      runPipeline(id, pipeline.pipeline_id, force),
    onSuccess: ({ job_id }) => {
      close();
      toast(s.started);
      void refreshWork(client);
      onFollow(job_id);
    },
    onError: (cause) => toastError(s.run, cause),
  });
  const columns = pipelineColumns({
    disabled: !mayChange || running.isPending,
    onPlan: (pipeline) => setAsked({ what: "plan", pipeline }),
    onRun: (pipeline) => running.mutate({ pipeline, force: false }),
    onDelete: (pipeline) => setAsked({ what: "delete", pipeline }),
  });
  return (
    <div className="flex flex-col gap-4">
      <div className="flex flex-wrap items-center gap-2">
        <p className="min-w-0 flex-1 basis-60 text-sm text-soft">{s.about}</p>
        <Button onClick={() => setAsked({ what: "create" })} disabled={!mayChange}>
          <Plus aria-hidden />
          {s.create}
        </Button>
      </div>
      <DataTable
        label={s.table}
        columns={columns}
        items={data}
        rowId={({ pipeline_id }) => pipeline_id}
        error={data === undefined ? error : undefined}
        onRetry={() => void refetch()}
        empty={<Empty title={s.empty}>{s.emptyAbout}</Empty>}
      />
      {asked?.what === "create" && <NewPipelineDialog id={id} onClose={close} />}
      {asked?.what === "plan" && (
        <PlanDialog
          id={id}
          pipeline={asked.pipeline}
          pending={running.isPending}
          onRun={(force) => running.mutate({ pipeline: asked.pipeline, force })}
          onClose={close}
        />
      )}
      {asked?.what === "delete" && <DeletePipeline id={id} pipeline={asked.pipeline} onClose={close} />}
    </div>
  );
}

function DeletePipeline({
  id,
  pipeline,
  onClose,
}: {
  readonly id: CollectionId;
  readonly pipeline: ScheduledPipeline;
  readonly onClose: () => void;
}) {
  const client = useQueryClient();
  const deleting = useMutation({
    mutationFn: () => deletePipeline(id, pipeline.pipeline_id),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: pipelinesOptions(id).queryKey });
      toast(s.deleting.done);
      onClose();
    },
  });
  return (
    <Confirm
      open
      onClose={onClose}
      title={s.deleting.title}
      action={s.delete}
      onConfirm={() => deleting.mutate()}
      pending={deleting.isPending}
      error={deleting.error}
    >
      <p className="mb-2 font-mono text-xs break-all">{pipeline.source}</p>
      <p>{s.deleting.about}</p>
    </Confirm>
  );
}
