/** The buttons that the state of a workflow allows. Each asks once, because most cannot be taken back. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Trash2 } from "lucide-react";
import { useState } from "react";
import { isProblem } from "../../api/problem.ts";
import { deleteWorkflow, readWorkflow, verbsOf, type Lease, type Workflow, type WorkflowVerb } from "../../api/workflows.ts";
import { workflowStrings as s } from "../../strings/workflows.ts";
import { Button } from "../../ui/button.tsx";
import { Confirm } from "../../ui/confirm.tsx";
import { Menu } from "../../ui/menu.tsx";
import { toast } from "../../ui/toast.tsx";
import { ChangedMeanwhile } from "./action-conflict.tsx";
import { ActionDialog } from "./action-dialog.tsx";

/** What one comes for stands as a button; the rest in the list behind the dots. */
const mainVerbs: readonly WorkflowVerb[] = ["start", "resume", "retry", "pause", "skip"];

export function WorkflowActions({ workflow, lease }: { readonly workflow: Workflow; readonly lease: Lease | undefined }) {
  // The workflow as it was when the reader decided: a change after that is told, not overwritten.
  const [act, setAct] = useState<{ readonly verb: WorkflowVerb; readonly seen: Workflow }>();
  const [removing, setRemoving] = useState<Workflow>();
  const verbs = verbsOf[workflow.status];
  const entries = verbs
    .filter((verb) => !mainVerbs.includes(verb))
    .map((verb) => ({ label: s.verbs[verb].label, danger: verb === "cancel" || verb === "fail", onChoose: () => setAct({ verb, seen: workflow }) }));
  return (
    <>
      {verbs
        .filter((verb) => mainVerbs.includes(verb))
        .map((verb, index) => (
          <Button key={verb} look={index === 0 ? "main" : "plain"} onClick={() => setAct({ verb, seen: workflow })}>
            {s.verbs[verb].label}
          </Button>
        ))}
      <Menu entries={[...entries, { label: s.remove.label, danger: true, icon: <Trash2 aria-hidden />, onChoose: () => setRemoving(workflow) }]} />
      {act !== undefined && <ActionDialog key={act.verb} verb={act.verb} seen={act.seen} lease={lease} onClose={() => setAct(undefined)} />}
      {removing !== undefined && <Remove workflow={removing} onClose={() => setRemoving(undefined)} />}
    </>
  );
}

/** A change after the reader decided is shown first; confirming again deletes what is there now. */
function Remove({ workflow, onClose }: { readonly workflow: Workflow; readonly onClose: () => void }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const [now, setNow] = useState<Workflow>();
  const { workflow_id: wid } = workflow;
  const remove = useMutation({
    mutationFn: () => deleteWorkflow(wid, (now ?? workflow)._etag),
    onSuccess: async () => {
      toast(s.remove.done);
      await navigate({ to: "/workflows" });
      await client.invalidateQueries({ queryKey: ["workflows"] });
    },
    onError: async (error) => {
      if (isProblem(error, 412)) setNow(await readWorkflow(wid));
    },
  });
  const told = isProblem(remove.error, 412) && now !== undefined;
  return (
    <Confirm
      open
      onClose={onClose}
      title={s.remove.title}
      action={s.remove.label}
      typeName={wid}
      onConfirm={() => remove.mutate()}
      pending={remove.isPending}
      error={told ? undefined : remove.error}
    >
      {s.remove.about}
      {now !== undefined && <ChangedMeanwhile seen={workflow} now={now} />}
    </Confirm>
  );
}
