/** Parameters of "resume" and "fail". */
import { type RecoveryAction, recoveryActions, type Workflow } from "@pinakes/client";
import type { WorkflowVerb } from "../../api/workflows.ts";
import { workflowStrings } from "../../strings/workflows.ts";
import { Select, TextArea, TextField } from "../../ui/field.tsx";

const s = workflowStrings.act;

export interface ActionFields {
  readonly owner: string;
  readonly seconds: string;
  readonly errorType: string;
  readonly message: string;
  readonly step: string;
  readonly recovery: RecoveryAction;
}

interface FieldsProps {
  readonly fields: ActionFields;
  readonly onChange: (fields: ActionFields) => void;
}

export function emptyFields({ current_step }: Workflow): ActionFields {
  return { owner: "", seconds: "", errorType: "", message: "", step: String(current_step), recovery: "retry" };
}

/** Omits blank fields: the server has defaults. */
export function bodyOf(
  verb: WorkflowVerb,
  { owner, seconds, errorType, message, step, recovery }: ActionFields,
): unknown {
  if (verb === "resume") {
    return {
      ...(owner === "" ? {} : { owner }),
      ...(seconds === "" || owner === "" ? {} : { lease_seconds: Number(seconds) }),
    };
  }
  if (verb !== "fail") return undefined;
  return {
    ...(errorType === "" ? {} : { error_type: errorType }),
    ...(message === "" ? {} : { error_message: message }),
    ...(step === "" ? {} : { failed_step: Number(step) }),
    recovery_action: recovery,
  };
}

export function ResumeFields({ fields, onChange }: FieldsProps) {
  return (
    <>
      <TextField
        label={s.owner}
        value={fields.owner}
        onChange={({ target }) => onChange({ ...fields, owner: target.value })}
        autoComplete="off"
      />
      <TextField
        label={s.seconds}
        hint={s.secondsHint}
        type="number"
        min={1}
        max={3_600}
        disabled={fields.owner === ""}
        value={fields.seconds}
        onChange={({ target }) => onChange({ ...fields, seconds: target.value })}
      />
    </>
  );
}

export function FailFields({ fields, onChange }: FieldsProps) {
  return (
    <>
      <TextField
        label={s.errorType}
        value={fields.errorType}
        onChange={({ target }) => onChange({ ...fields, errorType: target.value })}
      />
      <TextArea
        label={s.errorMessage}
        rows={3}
        value={fields.message}
        onChange={({ target }) => onChange({ ...fields, message: target.value })}
      />
      <TextField
        label={s.failedStep}
        type="number"
        min={0}
        value={fields.step}
        onChange={({ target }) => onChange({ ...fields, step: target.value })}
      />
      <Select
        label={s.recovery}
        value={fields.recovery}
        choices={recoveryActions.map((value) => ({ value, label: s.recoveries[value] }))}
        onChoose={(recovery) => onChange({ ...fields, recovery })}
      />
    </>
  );
}
