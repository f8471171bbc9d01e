import type { Job } from "@pinakes/client";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { actOnJob, jobListKey, type JobAction } from "../../api/jobs.ts";
import { putInPages } from "../../api/pages-cache.ts";
import { jobStrings as s } from "../../strings/jobs.ts";
import { toast, toastError } from "../../ui/toast.tsx";

interface Asked {
  readonly job: Job;
  readonly action: JobAction;
}

/** The response is the updated job: it replaces the row immediately. */
export function useJobAction() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ job, action }: Asked) => actOnJob(job.job_id, action),
    onSuccess: (job, { action }) => {
      putInPages<Job>(client, jobListKey, job, ({ job_id }) => job_id);
      toast(action === "retry" ? s.retried : s.cancelled);
    },
    onError: (error, { action }) => toastError(s[action], error),
    onSettled: () => client.invalidateQueries({ queryKey: ["jobs"] }),
  });
}
