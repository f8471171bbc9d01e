import type { Workflow } from "@pinakes/client";
import { workflowStrings as s } from "../../strings/workflows.ts";

export function StepBar({
  workflow: { current_step: done, total_steps: total },
}: {
  readonly workflow: Pick<Workflow, "current_step" | "total_steps">;
}) {
  const percent = total === 0 ? 0 : Math.min(100, (done / total) * 100);
  return (
    <span className="flex min-w-0 items-center gap-2">
      <span aria-hidden className="h-1.5 w-16 overflow-hidden rounded-full bg-raised">
        <span className="block h-full rounded-full bg-brand" style={{ width: `${percent}%` }} />
      </span>
      <span className="whitespace-nowrap tabular-nums">{s.steps(done, total)}</span>
    </span>
  );
}
