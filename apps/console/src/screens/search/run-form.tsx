/** Starts a run, and follows its job until it ends. */
import type { RunConfiguration } from "@pinakes/client";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { evaluationsKey, runEvaluation } from "../../api/evaluations.ts";
import { jobDetailOptions } from "../../api/jobs.ts";
import { numberParam, oneOfParam } from "../../lib/search-params.ts";
import { searchStrings } from "../../strings/search.ts";
import { Button } from "../../ui/button.tsx";
import { Select, TextField } from "../../ui/field.tsx";
import { ErrorBox } from "../../ui/states.tsx";
import { fusions, modes } from "./search-state.ts";

const s = searchStrings.evaluations;
const { modes: modeNames, fusions: fusionNames, weightHint, diversityHint } = searchStrings.settings;
const modeChoices = modes.map((value) => ({ value, label: modeNames[value] }));
const fusionChoices = ["", ...fusions].map((value) => ({
  value,
  label: fusionNames[value as keyof typeof fusionNames],
}));

interface Draft {
  readonly mode: string;
  readonly fusion: string;
  readonly weight: string;
  readonly diversity: string;
}

export function RunForm({ id }: { readonly id: string }) {
  const [draft, setDraft] = useState<Draft>({ mode: "hybrid", fusion: "", weight: "", diversity: "" });
  const put = (part: Partial<Draft>) => setDraft({ ...draft, ...part });
  const running = useMutation({ mutationFn: (configuration: RunConfiguration) => runEvaluation(id, configuration) });
  const job = useRun(running.data?.job_id);
  const busy = running.isPending || job.data?.status === "queued" || job.data?.status === "running";
  return (
    <form
      className="flex flex-col gap-3"
      onSubmit={(event) => {
        event.preventDefault();
        running.mutate(configurationOf(draft));
      }}
    >
      <div className="grid grid-cols-1 gap-3 sm:grid-cols-2">
        <Select label={s.fields.mode} value={draft.mode} choices={modeChoices} onChoose={(mode) => put({ mode })} />
        <Select
          label={s.fields.fusion}
          value={draft.fusion}
          choices={fusionChoices}
          onChoose={(fusion) => put({ fusion })}
        />
        <TextField
          label={s.fields.weight}
          hint={weightHint}
          type="number"
          min={0}
          max={1}
          step="any"
          value={draft.weight}
          onChange={({ target }) => put({ weight: target.value })}
        />
        <TextField
          label={s.fields.diversity}
          hint={diversityHint}
          type="number"
          min={0}
          max={1}
          step="any"
          value={draft.diversity}
          onChange={({ target }) => put({ diversity: target.value })}
        />
      </div>
      <div className="flex flex-wrap items-center gap-3">
        <Button type="submit" look="main" disabled={busy}>
          {s.run}
        </Button>
        <p role="status" className="text-sm text-soft">
          {job.data?.status === "queued" && s.queued}
          {job.data?.status === "running" && s.running(job.data.progress.done, job.data.progress.total)}
        </p>
      </div>
      {running.error !== null && <ErrorBox error={running.error} />}
      {job.error !== null && <ErrorBox error={job.error} onRetry={() => void job.refetch()} />}
      {job.data?.status === "failed" && <ErrorBox error={new Error(`${s.failed}: ${job.data.error ?? ""}`)} />}
    </form>
  );
}

/** The finished evaluation has one more run. */
function useRun(jobId: string | undefined) {
  const client = useQueryClient();
  const job = useQuery({ ...jobDetailOptions(jobId ?? ""), enabled: jobId !== undefined });
  const over = job.data?.status === "succeeded";
  useEffect(() => {
    if (over) void client.invalidateQueries({ queryKey: evaluationsKey });
  }, [client, over, jobId]);
  return job;
}

function configurationOf({ mode, fusion, weight, diversity }: Draft): RunConfiguration {
  const chosen = { mode: oneOfParam(mode, modes), fusion: oneOfParam(fusion, fusions) };
  const numbers = {
    vector_weight: weight === "" ? undefined : numberParam(weight),
    diversity: diversity === "" ? undefined : numberParam(diversity),
  };
  return Object.fromEntries(Object.entries({ ...chosen, ...numbers }).filter(([, value]) => value !== undefined));
}
