/** Inputs with label, hint and error. */
import { useId, type ComponentProps, type ReactNode } from "react";
import { cx } from "../lib/class-names.ts";
import { shownName } from "../lib/shown-name.ts";

export const inputClass =
  "h-9 w-full min-w-0 rounded-md border bg-panel px-3 text-sm text-ink placeholder:text-soft aria-invalid:border-bad disabled:opacity-60";

interface FieldProps {
  readonly label: string;
  readonly hint?: ReactNode;
  readonly error?: string | undefined;
  /** For screen readers only. */
  readonly labelHidden?: boolean;
  readonly className?: string;
}

export function TextField(props: FieldProps & Omit<ComponentProps<"input">, "className">) {
  const { field, own } = useField(props);
  return (
    <Field {...field}>
      <input {...own} className={inputClass} />
    </Field>
  );
}

export function TextArea(props: FieldProps & Omit<ComponentProps<"textarea">, "className">) {
  const { field, own } = useField(props);
  return (
    <Field {...field}>
      <textarea {...own} className={cx(inputClass, "h-auto py-2")} />
    </Field>
  );
}

export interface Choice<Value extends string = string> {
  readonly value: Value;
  readonly label: string;
}

interface SelectProps<Value extends string> extends FieldProps {
  readonly value: Value;
  readonly choices: readonly Choice<Value>[];
  readonly onChoose: (value: Value) => void;
  readonly disabled?: boolean;
}

/** The native select: works with keyboard, screen reader and touch. */
export function Select<Value extends string>({ choices, onChoose, ...props }: SelectProps<Value>) {
  const { field, own } = useField(props);
  return (
    <Field {...field}>
      <select
        id={own.id}
        className={cx(inputClass, "pr-2")}
        value={own.value}
        disabled={own.disabled}
        onChange={({ target }) => onChoose(target.value as Value)}
      >
        {choices.map((choice) => (
          <option key={choice.value} value={choice.value}>
            {shownName(choice.label)}
          </option>
        ))}
      </select>
    </Field>
  );
}

interface CheckProps {
  readonly label: ReactNode;
  readonly checked: boolean;
  readonly onCheck: (checked: boolean) => void;
  readonly disabled?: boolean;
}

export function Check({ label, checked, onCheck, disabled }: CheckProps) {
  return (
    <label className="flex items-center gap-2 text-sm">
      <input
        type="checkbox"
        className="size-4 accent-brand"
        checked={checked}
        disabled={disabled}
        onChange={({ target }) => onCheck(target.checked)}
      />
      {label}
    </label>
  );
}

/** The frame's properties, and those of the input itself. */
function useField<Props extends FieldProps>({ label, hint, error, labelHidden, className, ...rest }: Props) {
  const id = useId();
  return {
    field: { id, label, hint, error, labelHidden, className },
    own: { ...rest, id, "aria-invalid": error !== undefined, "aria-describedby": `${id}-more` },
  };
}

function Field({
  id,
  label,
  hint,
  error,
  labelHidden,
  className,
  children,
}: OptionalFieldProps & { readonly id: string; readonly children: ReactNode }) {
  return (
    <div className={cx("flex min-w-0 flex-col gap-1", className)}>
      <label htmlFor={id} className={labelHidden === true ? "sr-only" : "text-xs font-medium text-soft"}>
        {label}
      </label>
      {children}
      <p id={`${id}-more`} className={cx("text-xs text-soft empty:hidden", error !== undefined && "text-bad")}>
        {error ?? hint}
      </p>
    </div>
  );
}

type OptionalFieldProps = { readonly [Name in keyof FieldProps]: FieldProps[Name] | undefined };
