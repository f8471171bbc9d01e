/** Confirms an action, takes its parameters, and shows conflicts. */
import type { Stored, Workflow } from "@pinakes/client";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { isProblem } from "../../api/problem.ts";
import { actOnWorkflow, type Lease, type WorkflowVerb } from "../../api/workflows.ts";
import { workflowStrings } from "../../strings/workflows.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { TextField } from "../../ui/field.tsx";
import { ErrorBox } from "../../ui/states.tsx";
import { toast } from "../../ui/toast.tsx";
import { ActionConflict } from "./action-conflict.tsx";
import { bodyOf, emptyFields, FailFields, ResumeFields, type ActionFields } from "./action-fields.tsx";

const s = workflowStrings.act;

interface ActionDialogProps {
  readonly verb: WorkflowVerb;
  readonly seen: Stored<Workflow>;
  readonly lease: Lease | undefined;
  readonly onClose: () => void;
}

export function ActionDialog({ verb, seen, lease, onClose }: ActionDialogProps) {
  const client = useQueryClient();
  const { label, about } = workflowStrings.verbs[verb];
  const [first] = useState(() => emptyFields(seen));
  const [fields, setFields] = useState<ActionFields>(first);
  const [token, setToken] = useState("");
  const act = useMutation({
    mutationFn: (etag: string) =>
      actOnWorkflow(seen.workflow_id, {
        verb,
        etag,
        fencingToken: token.trim() === "" ? undefined : Number(token),
        body: bodyOf(verb, fields),
      }),
    onSuccess: async () => {
      toast(s.done(label));
      onClose();
      await client.invalidateQueries({ queryKey: ["workflows"] });
    },
  });
  return (
    <Dialog open onClose={onClose} title={label} about={about} unsaved={fields !== first || token !== ""}>
      {isProblem(act.error, 412) ? (
        <ActionConflict
          verb={verb}
          seen={seen}
          pending={act.isPending}
          onAnyway={(etag) => act.mutate(etag)}
          onClose={onClose}
        />
      ) : (
        <form
          className="flex flex-col gap-4"
          onSubmit={(event) => {
            event.preventDefault();
            act.mutate(seen._etag);
          }}
        >
          {verb === "resume" && <ResumeFields fields={fields} onChange={setFields} />}
          {verb === "fail" && <FailFields fields={fields} onChange={setFields} />}
          <TextField
            label={s.token}
            hint={s.tokenHint}
            placeholder={
              lease?.owner === undefined || lease.owner === null ? undefined : lease.fencing_token?.toString()
            }
            inputMode="numeric"
            pattern="[0-9]*"
            value={token}
            onChange={({ target }) => setToken(target.value)}
          />
          {act.error !== null && <ErrorBox error={act.error} />}
          <div className="flex justify-end gap-2">
            <Button onClick={onClose}>{s.back}</Button>
            <Button
              type="submit"
              look={verb === "cancel" || verb === "fail" ? "danger" : "main"}
              disabled={act.isPending}
            >
              {label}
            </Button>
          </div>
        </form>
      )}
    </Dialog>
  );
}
