import type { PipelinePlan, ScheduledPipeline } from "@pinakes/client";
import { useQuery } from "@tanstack/react-query";
import type { CollectionId } from "../../../api/collections.ts";
import { planOptions } from "../../../api/pipelines.ts";
import { formatNumber } from "../../../lib/format.ts";
import { pipelineStrings } from "../../../strings/pipelines.ts";
import { Button } from "../../../ui/button.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { ErrorBox, Loading } from "../../../ui/states.tsx";

const s = pipelineStrings.planning;
const kinds = ["add", "replace", "remove", "keep", "unchanged", "skipped"] as const;
/** Limits the files per kind. */
const namesShownMax = 50;

interface Props {
  readonly id: CollectionId;
  readonly pipeline: ScheduledPipeline;
  readonly pending: boolean;
  readonly onRun: (force: boolean) => void;
  readonly onClose: () => void;
}

export function PlanDialog({ id, pipeline, pending, onRun, onClose }: Props) {
  const { data: plan, error, refetch } = useQuery(planOptions(id, pipeline.pipeline_id));
  return (
    <Dialog open onClose={onClose} title={s.title} about={s.about} wide>
      <div className="flex flex-col gap-4 text-sm">
        <p className="font-mono text-xs break-all">{pipeline.source}</p>
        {plan === undefined &&
          (error === null ? <Loading what={s.loading} /> : <ErrorBox error={error} onRetry={() => void refetch()} />)}
        {plan !== undefined && (
          <>
            {plan.blocked !== null && (
              <div role="alert" className="rounded-md bg-warn-soft p-3 text-warn">
                <p className="font-medium">{s.blocked}</p>
                <p className="break-words">{plan.blocked}</p>
              </div>
            )}
            {kinds.map((kind) => (
              <Kind key={kind} label={s.kinds[kind]} count={plan.counts[kind]} names={namesOf(plan, kind)} />
            ))}
            <div className="flex justify-end">
              <Button
                look={plan.blocked === null ? "main" : "danger"}
                disabled={pending}
                onClick={() => onRun(plan.blocked !== null)}
              >
                {plan.blocked === null ? pipelineStrings.run : s.force}
              </Button>
            </div>
          </>
        )}
      </div>
    </Dialog>
  );
}

function Kind({
  label,
  count,
  names,
}: {
  readonly label: string;
  readonly count: number;
  readonly names: readonly string[];
}) {
  const shown = names.slice(0, namesShownMax);
  return (
    <section aria-label={label}>
      <p className="flex justify-between gap-2 border-b py-1">
        <span className={count === 0 ? "text-soft" : "font-medium"}>{label}</span>
        <span className="tabular-nums">{formatNumber(count)}</span>
      </p>
      {shown.length > 0 && (
        <>
          {shown.length < count && (
            <p className="mt-1 text-xs text-soft">{s.first(shown.length, formatNumber(count))}</p>
          )}
          <ul className="mt-1 flex flex-col gap-0.5 font-mono text-xs">
            {shown.map((name) => (
              <li key={name} className="break-all">
                {name}
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  );
}

function namesOf(plan: PipelinePlan, kind: (typeof kinds)[number]): readonly string[] {
  if (kind === "unchanged") return [];
  return kind === "skipped" ? plan.skipped.map(({ uri, reason }) => `${uri}: ${reason}`) : plan[kind];
}
