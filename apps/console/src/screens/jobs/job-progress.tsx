import type { JobRow } from "../../api/jobs.ts";
import { formatNumber } from "../../lib/format.ts";
import { jobStrings as s } from "../../strings/jobs.ts";

export function JobProgress({ progress: { done, total } }: Pick<JobRow, "progress">) {
  if (total === 0) return <span className="text-soft">–</span>;
  const words = s.progress(formatNumber(done), formatNumber(total));
  return (
    <span className="flex w-full min-w-0 items-center gap-2">
      <progress className="h-2 w-full min-w-8 accent-brand" value={done} max={total} aria-label={words} />
      <span className="text-xs whitespace-nowrap tabular-nums">{words}</span>
    </span>
  );
}
