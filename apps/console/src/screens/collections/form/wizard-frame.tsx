/** The sheet for creating and editing a collection, with steps in any order. */
import { useQuery } from "@tanstack/react-query";
import { CircleAlert } from "lucide-react";
import { type ReactNode, useState } from "react";
import { modelsOptions } from "../../../api/models.ts";
import { cx } from "../../../lib/class-names.ts";
import { collectionFormStrings as s } from "../../../strings/collection-form.ts";
import { uiStrings } from "../../../strings/ui.ts";
import { Button } from "../../../ui/button.tsx";
import { CodeEditor } from "../../../ui/code-editor.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { Check, Select, TextArea, TextField } from "../../../ui/field.tsx";
import { ErrorBox } from "../../../ui/states.tsx";
import { BasicsStep } from "./basics-step.tsx";
import { ChunkingStep } from "./chunking-step.tsx";
import { errorAt, type FieldErrors } from "./field-errors.ts";
import type { StepProps } from "./step-props.ts";
import { firstWithErrors, hasErrors, type Step, steps } from "./steps.ts";

const contents: Readonly<Record<Step, (props: StepProps) => ReactNode>> = {
  basics: BasicsStep,
  labels: LabelsStep,
  chunking: ChunkingStep,
  access: AccessStep,
};

interface Props extends StepProps {
  readonly title: string;
  readonly action: string;
  readonly pendingAction: string;
  readonly pending: boolean;
  readonly unsaved: boolean;
  /** Errors without a field. */
  readonly error: unknown;
  readonly onSubmit: () => void;
  readonly onClose: () => void;
}

export function WizardFrame({
  title,
  action,
  pendingAction,
  pending,
  unsaved,
  error,
  onSubmit,
  onClose,
  ...step
}: Props) {
  const [at, setAt] = useStep(step.errors);
  const Content = contents[at];
  const index = steps.indexOf(at);
  const [before, after] = [steps[index - 1], steps[index + 1]];
  return (
    <Dialog open onClose={onClose} title={title} place="side" unsaved={unsaved}>
      <form
        className="flex min-h-full flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          if (after !== undefined && step.collection === undefined) setAt(after);
          else if (!pending) onSubmit();
        }}
      >
        <StepList at={at} errors={step.errors} onChoose={setAt} />
        <div className="flex flex-1 flex-col gap-4">
          <Content {...step} />
        </div>
        {error !== undefined && error !== null && <ErrorBox error={error} />}
        <div className="sticky -bottom-5 -mx-5 -mb-5 flex flex-wrap justify-end gap-2 border-t bg-panel px-5 py-3">
          <Button look="quiet" onClick={onClose}>
            {uiStrings.cancel}
          </Button>
          {before !== undefined && <Button onClick={() => setAt(before)}>{s.back}</Button>}
          {after !== undefined && <Button onClick={() => setAt(after)}>{s.next}</Button>}
          <Button look="main" disabled={pending} onClick={onSubmit}>
            {pending ? pendingAction : action}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

function StepList({
  at,
  errors,
  onChoose,
}: {
  readonly at: Step;
  readonly errors: FieldErrors;
  readonly onChoose: (step: Step) => void;
}) {
  return (
    <ol aria-label={s.stepsLabel} className="flex flex-wrap gap-1">
      {steps.map((step, index) => (
        <li key={step}>
          <button
            type="button"
            aria-current={step === at ? "step" : undefined}
            onClick={() => onChoose(step)}
            className={cx(
              "flex items-center gap-1.5 rounded-md px-2 py-1 text-sm text-soft hover:bg-raised",
              step === at && "bg-brand-soft font-medium text-brand",
              hasErrors(step, errors) && "text-bad",
            )}
          >
            <span aria-hidden>{index + 1}</span>
            {s.steps[step]}
            {hasErrors(step, errors) && <CircleAlert className="size-3.5" aria-label={s.hasErrors} />}
          </button>
        </li>
      ))}
    </ol>
  );
}

/** Goes to the first step with an error, unless the current step has one. */
function useStep(errors: FieldErrors): readonly [Step, (step: Step) => void] {
  const [at, setAt] = useState<Step>("basics");
  const [seen, setSeen] = useState(errors);
  if (seen !== errors) {
    setSeen(errors);
    if (!hasErrors(at, errors)) setAt(firstWithErrors(errors) ?? at);
  }
  return [at, setAt];
}

function AccessStep({ values, onChange, errors, collection }: StepProps) {
  const models = useQuery(modelsOptions).data ?? [];
  return (
    <>
      {collection === undefined ? (
        <Select
          label={s.model}
          hint={s.modelHint}
          error={errorAt(errors, "embedding_model")}
          value={values.model}
          choices={[
            { value: "", label: s.modelDefault },
            ...models.map(({ id, provider }) => ({ value: id, label: `${id} (${provider})` })),
          ]}
          onChoose={(model) => onChange({ model })}
        />
      ) : (
        <TextField label={s.model} hint={s.cannotChange} value={values.model} disabled readOnly />
      )}
      <Check label={s.private} checked={values.private} onCheck={(hidden) => onChange({ private: hidden })} />
      {errorAt(errors, "private") !== undefined && <p className="text-xs text-bad">{errorAt(errors, "private")}</p>}
      <TextArea
        label={s.groups}
        hint={s.groupsHint}
        error={errorAt(errors, "allowed_groups")}
        rows={4}
        value={values.groups}
        onChange={({ target }) => onChange({ groups: target.value })}
        spellCheck={false}
      />
    </>
  );
}

function LabelsStep({ values, onChange, errors }: StepProps) {
  const wrong = errorAt(errors, "metadata.custom_fields");
  return (
    <>
      <TextField
        label={s.tags}
        hint={s.tagsHint}
        error={errorAt(errors, "metadata.tags")}
        value={values.tags}
        onChange={({ target }) => onChange({ tags: target.value })}
        autoComplete="off"
      />
      <div className="flex flex-col gap-1">
        <p className="text-xs font-medium text-soft">{s.fields}</p>
        <CodeEditor
          label={s.fields}
          language="json"
          value={values.fields}
          onChange={(fields) => onChange({ fields })}
        />
        {wrong === undefined ? (
          <p className="text-xs text-soft">{s.fieldsHint}</p>
        ) : (
          <p role="alert" className="text-xs text-bad">
            {wrong}
          </p>
        )}
      </div>
    </>
  );
}
