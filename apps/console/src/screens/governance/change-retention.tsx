/** A new lifetime: previewed first, then applied. */
import type { RetentionPreview, RetentionRule } from "@pinakes/client";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { applyRetention, previewRetention, retentionKey } from "../../api/governance.ts";
import { formatNumber } from "../../lib/format.ts";
import { governanceStrings } from "../../strings/governance.ts";
import { Button } from "../../ui/button.tsx";
import { Confirm } from "../../ui/confirm.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { TextField } from "../../ui/field.tsx";
import { ErrorBox } from "../../ui/states.tsx";
import { toast } from "../../ui/toast.tsx";

const s = governanceStrings.retention;
const daySeconds = 86_400;

interface Props {
  readonly rule: RetentionRule;
  readonly onClose: () => void;
}

export function ChangeRetention({ rule, onClose }: Props) {
  const { name, kind, seconds } = rule;
  const before = seconds === null || seconds === -1 ? "" : String(seconds / daySeconds);
  const [days, setDays] = useState(before);
  const trash = kind === "trash";
  const wanted = secondsOf(days, trash);
  const previewing = useMutation({ mutationFn: (next: number | null) => previewRetention(name, next) });
  if (previewing.data !== undefined) return <Apply preview={previewing.data} trash={trash} onClose={onClose} />;
  return (
    <Dialog
      open
      onClose={onClose}
      title={s.title(name)}
      about={trash ? s.aboutTrash : s.about}
      unsaved={days !== before}
    >
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          if (wanted !== undefined && !previewing.isPending) previewing.mutate(wanted);
        }}
      >
        <TextField
          label={s.field}
          hint={trash ? s.hintTrash : s.hint}
          error={wanted === undefined ? s.invalid : undefined}
          inputMode="numeric"
          autoComplete="off"
          value={days}
          onChange={({ target }) => setDays(target.value)}
        />
        {previewing.error !== null && <ErrorBox error={previewing.error} />}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{s.cancel}</Button>
          <Button type="submit" look="main" disabled={wanted === undefined || previewing.isPending}>
            {previewing.isPending ? s.counting : s.preview}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

/** Undefined: not a lifetime. */
function secondsOf(days: string, trash: boolean): number | null | undefined {
  const text = days.trim();
  if (text === "") return trash ? undefined : null;
  return /^\d{1,5}$/.test(text) ? Number(text) * daySeconds : undefined;
}

interface ApplyProps {
  readonly preview: RetentionPreview;
  readonly trash: boolean;
  readonly onClose: () => void;
}

function Apply({ preview, trash, onClose }: ApplyProps) {
  const client = useQueryClient();
  const { name, would_expire, would_stay, held } = preview;
  const applying = useMutation({
    mutationFn: () => applyRetention(preview),
    onSuccess: () => {
      toast(s.applied);
      onClose();
    },
    onSettled: () => client.invalidateQueries({ queryKey: retentionKey }),
  });
  return (
    <Confirm
      open
      onClose={onClose}
      title={s.title(name)}
      action={s.apply}
      onConfirm={() => applying.mutate()}
      pending={applying.isPending}
      error={applying.error}
      {...(would_expire > 0 ? { typeName: name } : {})}
    >
      {trash ? (
        <p>{s.aboutTrash}</p>
      ) : (
        <div className="flex flex-col gap-2">
          <p className={would_expire > 0 ? "font-medium text-bad" : undefined}>
            {would_expire > 0 ? s.expire(formatNumber(would_expire)) : s.none}
          </p>
          {held > 0 && <p>{s.held(formatNumber(held))}</p>}
          <p>{s.stay(formatNumber(would_stay))}</p>
        </div>
      )}
    </Confirm>
  );
}
