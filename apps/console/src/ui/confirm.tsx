/** Asks before a destructive action; permanent deletes require typing the name. */
import { useState, type ReactNode } from "react";
import { shownName, typableName } from "../lib/shown-name.ts";
import { uiStrings as s } from "../strings/ui.ts";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import { TextField } from "./field.tsx";
import { ErrorBox } from "./states.tsx";

interface ConfirmProps {
  readonly open: boolean;
  readonly onClose: () => void;
  readonly title: string;
  readonly children: ReactNode;
  readonly action: string;
  /** Must be typed to enable the button; without characters that keyboards lack. */
  readonly typeName?: string;
  readonly onConfirm: () => void;
  readonly pending?: boolean;
  readonly error?: unknown;
}

export function Confirm({
  open,
  onClose,
  title,
  children,
  action,
  typeName,
  onConfirm,
  pending = false,
  error,
}: ConfirmProps) {
  const [typed, setTyped] = useState("");
  const ready = (typeName === undefined || isTyped(typed, typeName)) && !pending;
  return (
    <Dialog open={open} onClose={onClose} title={title}>
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          if (ready) onConfirm();
        }}
      >
        <div className="text-sm">{children}</div>
        {typeName !== undefined && (
          <TextField
            label={s.typeToConfirm(shownName(typeName))}
            value={typed}
            onChange={({ target }) => setTyped(target.value)}
            autoComplete="off"
            spellCheck={false}
          />
        )}
        {error !== undefined && error !== null && <ErrorBox error={error} />}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{s.cancel}</Button>
          <Button type="submit" look="danger" disabled={!ready}>
            {action}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

function isTyped(typed: string, name: string): boolean {
  return typed === name || (typed !== "" && typed === typableName(name));
}
