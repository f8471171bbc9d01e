/** Buttons for the actions that a workflow's state allows. Each asks for confirmation, because most are irreversible. */
import type { Stored, Workflow } from "@pinakes/client";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Trash2 } from "lucide-react";
import { useState } from "react";
import { deleteWorkflow, readWorkflow, verbsOf, type Lease, type WorkflowVerb } from "../../api/workflows.ts";
import { workflowStrings as s } from "../../strings/workflows.ts";
import { Button } from "../../ui/button.tsx";
import { Confirm } from "../../ui/confirm.tsx";
import { Menu } from "../../ui/menu.tsx";
import { toast } from "../../ui/toast.tsx";
import { useDeleteSeen } from "../../ui/use-delete-seen.ts";
import { ChangedMeanwhile } from "./action-conflict.tsx";
import { ActionDialog } from "./action-dialog.tsx";

/** The most common action is a button; the others are in the menu. */
const mainVerbs: readonly WorkflowVerb[] = ["start", "resume", "retry", "pause", "skip"];

export function WorkflowActions({
  workflow,
  lease,
}: {
  readonly workflow: Stored<Workflow>;
  readonly lease: Lease | undefined;
}) {
  // The workflow when the user decided: a later change is reported, not overwritten.
  const [act, setAct] = useState<{ readonly verb: WorkflowVerb; readonly seen: Stored<Workflow> }>();
  const [removing, setRemoving] = useState<Stored<Workflow>>();
  const verbs = verbsOf[workflow.status];
  const entries = verbs
    .filter((verb) => !mainVerbs.includes(verb))
    .map((verb) => ({
      label: s.verbs[verb].label,
      danger: verb === "cancel" || verb === "fail",
      onChoose: () => setAct({ verb, seen: workflow }),
    }));
  return (
    <>
      {verbs
        .filter((verb) => mainVerbs.includes(verb))
        .map((verb, index) => (
          <Button key={verb} look={index === 0 ? "main" : "plain"} onClick={() => setAct({ verb, seen: workflow })}>
            {s.verbs[verb].label}
          </Button>
        ))}
      <Menu
        entries={[
          ...entries,
          { label: s.remove.label, danger: true, icon: <Trash2 aria-hidden />, onChoose: () => setRemoving(workflow) },
        ]}
      />
      {act !== undefined && (
        <ActionDialog key={act.verb} verb={act.verb} seen={act.seen} lease={lease} onClose={() => setAct(undefined)} />
      )}
      {removing !== undefined && <Remove workflow={removing} onClose={() => setRemoving(undefined)} />}
    </>
  );
}

/** After a conflict the current version is shown; confirming again deletes that. */
function Remove({ workflow, onClose }: { readonly workflow: Stored<Workflow>; readonly onClose: () => void }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const { workflow_id: wid } = workflow;
  const { now, confirm } = useDeleteSeen({
    seen: workflow,
    remove: ({ _etag }) => deleteWorkflow(wid, _etag),
    read: () => readWorkflow(wid),
    onDeleted: async () => {
      toast(s.remove.done);
      await navigate({ to: "/workflows" });
      await client.invalidateQueries({ queryKey: ["workflows"] });
    },
  });
  return (
    <Confirm open onClose={onClose} title={s.remove.title} action={s.remove.label} typeName={wid} {...confirm}>
      {s.remove.about}
      {now !== undefined && <ChangedMeanwhile seen={workflow} now={now} />}
    </Confirm>
  );
}
