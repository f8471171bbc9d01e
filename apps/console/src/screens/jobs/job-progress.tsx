import type { Job } from "@pinakes/client";
import { formatNumber } from "../../lib/format.ts";
import { jobStrings as s } from "../../strings/jobs.ts";
import { Progress } from "../../ui/progress.tsx";

export function JobProgress({ progress: { done, total } }: Pick<Job, "progress">) {
  if (total === 0) return <span className="text-soft">–</span>;
  const words = s.progress(formatNumber(done), formatNumber(total));
  return (
    <span className="flex w-full min-w-0 items-center gap-2">
      <Progress done={done} total={total} label={words} />
      <span className="text-xs whitespace-nowrap tabular-nums">{words}</span>
    </span>
  );
}
