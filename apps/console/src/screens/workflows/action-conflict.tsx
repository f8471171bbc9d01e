/** The workflow changed: shows the differences, and offers to proceed anyway. */
import type { Stored, Workflow } from "@pinakes/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { readWorkflow, type WorkflowVerb } from "../../api/workflows.ts";
import { workflowStrings } from "../../strings/workflows.ts";
import { Button } from "../../ui/button.tsx";
import { ErrorBox, Loading } from "../../ui/states.tsx";
import { Differences } from "./differences.tsx";
import { differencesOf } from "./json-diff.ts";

const s = workflowStrings.conflict;

interface ActionConflictProps {
  readonly verb: WorkflowVerb;
  readonly seen: Stored<Workflow>;
  readonly pending: boolean;
  readonly onAnyway: (etag: string) => void;
  readonly onClose: () => void;
}

export function ActionConflict({ verb, seen, pending, onAnyway, onClose }: ActionConflictProps) {
  const client = useQueryClient();
  const { data: now, error } = useQuery({
    queryKey: ["workflows", "conflict", seen.workflow_id, seen._etag],
    queryFn: ({ signal }) => readWorkflow(seen.workflow_id, signal),
    gcTime: 0,
  });
  const leave = () => {
    void client.invalidateQueries({ queryKey: ["workflows"] });
    onClose();
  };
  if (error !== null) return <ErrorBox error={error} />;
  if (now === undefined) return <Loading />;
  return (
    <div className="flex flex-col gap-4">
      <ChangedMeanwhile seen={seen} now={now} />
      <div className="flex flex-wrap justify-end gap-2">
        <Button onClick={leave}>{s.reload}</Button>
        <Button look="danger" disabled={pending} onClick={() => onAnyway(now._etag)}>
          {s.anyway(workflowStrings.verbs[verb].label)}
        </Button>
      </div>
    </div>
  );
}

export function ChangedMeanwhile({ seen, now }: { readonly seen: Stored<Workflow>; readonly now: Stored<Workflow> }) {
  return (
    <div role="alert" className="flex flex-col gap-2">
      <h3 className="text-sm font-semibold text-bad">{s.title}</h3>
      <p className="text-sm">{s.about}</p>
      <Differences of={differencesOf(contentOf(seen), contentOf(now))} />
    </div>
  );
}

/** Without fields that every change updates. */
function contentOf(workflow: Stored<Workflow>): unknown {
  const { _etag, updated_at: _updated, ...content } = workflow;
  return { ...content, _ts: undefined };
}
