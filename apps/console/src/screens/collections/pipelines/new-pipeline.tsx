import type { NewPipeline } from "@pinakes/client";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { CollectionId } from "../../../api/collections.ts";
import { createPipeline, pipelinesOptions } from "../../../api/pipelines.ts";
import { pipelineStrings } from "../../../strings/pipelines.ts";
import { uiStrings } from "../../../strings/ui.ts";
import { Button } from "../../../ui/button.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { Check, Select, TextField } from "../../../ui/field.tsx";
import { ErrorBox } from "../../../ui/states.tsx";
import { toast } from "../../../ui/toast.tsx";
import { errorAt, fieldErrorsOf } from "../form/field-errors.ts";

const { form: s, triggers } = pipelineStrings;
const fields = ["source", "schedule", "max_removal_share"];

interface Values {
  readonly source: string;
  readonly trigger: "event" | "schedule";
  readonly schedule: string;
  readonly autoRemove: boolean;
  readonly share: string;
}

const empty: Values = { source: "", trigger: "schedule", schedule: "", autoRemove: false, share: "" };

export function NewPipelineDialog({ id, onClose }: { readonly id: CollectionId; readonly onClose: () => void }) {
  const [values, setValues] = useState(empty);
  const client = useQueryClient();
  const creating = useMutation({
    mutationFn: () => createPipeline(id, inputOf(values)),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: pipelinesOptions(id).queryKey });
      toast(s.created);
      onClose();
    },
  });
  const errors = fieldErrorsOf(creating.error);
  const shown = fields.some((field) => errorAt(errors, field) !== undefined);
  return (
    <Dialog
      open
      onClose={onClose}
      title={pipelineStrings.create}
      about={pipelineStrings.about}
      unsaved={values !== empty}
    >
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          if (!creating.isPending) creating.mutate();
        }}
      >
        <Fields
          values={values}
          onChange={(next) => setValues((old) => ({ ...old, ...next }))}
          at={(field) => errorAt(errors, field)}
        />
        {creating.error !== null && !shown && <ErrorBox error={creating.error} />}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{uiStrings.cancel}</Button>
          <Button type="submit" look="main" disabled={creating.isPending}>
            {creating.isPending ? s.submitting : s.submit}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

interface FieldsProps {
  readonly values: Values;
  readonly onChange: (next: Partial<Values>) => void;
  readonly at: (field: string) => string | undefined;
}

function Fields({ values, onChange, at }: FieldsProps) {
  return (
    <>
      <TextField
        label={s.source}
        hint={s.sourceHint}
        error={at("source")}
        value={values.source}
        onChange={({ target }) => onChange({ source: target.value })}
        spellCheck={false}
        required
      />
      <Select
        label={s.trigger}
        value={values.trigger}
        choices={[
          { value: "schedule", label: triggers.schedule },
          { value: "event", label: triggers.event },
        ]}
        onChoose={(trigger) => onChange({ trigger })}
      />
      {values.trigger === "schedule" && (
        <TextField
          label={s.schedule}
          hint={s.scheduleHint}
          error={at("schedule")}
          value={values.schedule}
          onChange={({ target }) => onChange({ schedule: target.value })}
          spellCheck={false}
        />
      )}
      <Check label={s.autoRemove} checked={values.autoRemove} onCheck={(autoRemove) => onChange({ autoRemove })} />
      {values.autoRemove && (
        <TextField
          label={s.share}
          hint={s.shareHint}
          error={at("max_removal_share")}
          inputMode="decimal"
          value={values.share}
          onChange={({ target }) => onChange({ share: target.value })}
        />
      )}
    </>
  );
}

function inputOf({ source, trigger, schedule, autoRemove, share }: Values): NewPipeline {
  return {
    source: source.trim(),
    trigger,
    auto_remove: autoRemove,
    ...(trigger === "schedule" && schedule.trim() !== "" ? { schedule: schedule.trim() } : {}),
    ...(autoRemove && share.trim() !== "" ? { max_removal_share: Number(share) } : {}),
  };
}
