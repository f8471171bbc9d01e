import type { Job } from "@pinakes/client";
import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { repositoriesOptions, repositoryCollectionsOptions } from "../../api/collections.ts";
import { startAudit, type NewAudit } from "../../api/fsck.ts";
import { jobListKey } from "../../api/jobs.ts";
import { putInPages } from "../../api/pages-cache.ts";
import { auditStrings } from "../../strings/audit.ts";
import { Button } from "../../ui/button.tsx";
import { Confirm } from "../../ui/confirm.tsx";
import { Check, Select } from "../../ui/field.tsx";
import { Panel } from "../../ui/panel.tsx";
import { ErrorBox } from "../../ui/states.tsx";
import { toast } from "../../ui/toast.tsx";

const s = auditStrings.start;

export function StartAudit({ onStarted }: { readonly onStarted: (jobId: string) => void }) {
  const [input, setInput] = useState<NewAudit>({ repair: false, deep: false });
  const [asking, setAsking] = useState(false);
  const client = useQueryClient();
  const starting = useMutation({
    mutationFn: () => startAudit(input),
    onSuccess: (job) => {
      putInPages<Job>(client, jobListKey, job, ({ job_id }) => job_id);
      toast(s.started);
      setAsking(false);
      onStarted(job.job_id);
    },
  });
  const change = (next: Partial<NewAudit>) => setInput((old) => ({ ...old, ...next }));
  return (
    <Panel title={s.title}>
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          if (input.repair) setAsking(true);
          else if (!starting.isPending) starting.mutate();
        }}
      >
        <Where input={input} onChange={change} />
        <div className="flex flex-col gap-2">
          <Check label={s.deep} checked={input.deep} onCheck={(deep) => change({ deep })} />
          <Check label={s.repair} checked={input.repair} onCheck={(repair) => change({ repair })} />
        </div>
        {starting.error !== null && !asking && <ErrorBox error={starting.error} />}
        <Button type="submit" look="main" className="self-start" disabled={starting.isPending}>
          {starting.isPending ? s.starting : s.submit}
        </Button>
      </form>
      <Confirm
        open={asking}
        onClose={() => setAsking(false)}
        title={s.confirmTitle}
        action={s.confirm}
        onConfirm={() => starting.mutate()}
        pending={starting.isPending}
        error={starting.error}
      >
        {s.confirmAbout}
      </Confirm>
    </Panel>
  );
}

function Where({
  input: { repository, collection },
  onChange,
}: {
  readonly input: NewAudit;
  readonly onChange: (next: Partial<NewAudit>) => void;
}) {
  const repositories = useQuery(repositoriesOptions).data?.items ?? [];
  return (
    <div className="flex flex-wrap gap-3">
      <Select
        label={s.repository}
        className="w-full sm:w-64"
        value={repository ?? ""}
        choices={[
          { value: "", label: s.everything },
          ...repositories.map(({ repository_id, name }) => ({ value: repository_id, label: name })),
        ]}
        onChoose={(next) => onChange({ repository: next === "" ? undefined : next, collection: undefined })}
      />
      {repository !== undefined && (
        <CollectionChoice
          repository={repository}
          collection={collection}
          onChoose={(next) => onChange({ collection: next })}
        />
      )}
    </div>
  );
}

interface ChoiceProps {
  readonly repository: string;
  readonly collection: string | undefined;
  readonly onChoose: (collection: string | undefined) => void;
}

function CollectionChoice({ repository, collection, onChoose }: ChoiceProps) {
  const collections = useInfiniteQuery(repositoryCollectionsOptions(repository)).data?.items ?? [];
  return (
    <Select
      label={s.collection}
      className="w-full sm:w-64"
      value={collection ?? ""}
      choices={[
        { value: "", label: s.wholeRepository },
        ...collections.map(({ collection_id, name }) => ({ value: collection_id, label: name })),
      ]}
      onChoose={(next) => onChoose(next === "" ? undefined : next)}
    />
  );
}
