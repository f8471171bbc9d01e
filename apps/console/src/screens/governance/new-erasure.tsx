/** A new erasure: counted first, then confirmed by typing the name of the subject. */
import type { Erasure } from "@pinakes/client";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { erasureListKey, requestErasure } from "../../api/governance.ts";
import { formatNumber } from "../../lib/format.ts";
import { governanceStrings } from "../../strings/governance.ts";
import { Button } from "../../ui/button.tsx";
import { Confirm } from "../../ui/confirm.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Facts } from "../../ui/panel.tsx";
import { ErrorBox } from "../../ui/states.tsx";
import { toast } from "../../ui/toast.tsx";
import { sumOf } from "./erasures-tab.tsx";
import { emptySubject, pathsOf, type SubjectDraft, SubjectFields, subjectName, subjectOf } from "./subject-fields.tsx";

const s = governanceStrings.form;

interface Props {
  readonly onClose: () => void;
  readonly onStarted: (erasureId: string) => void;
}

export function NewErasureDialog({ onClose, onStarted }: Props) {
  const [draft, setDraft] = useState(emptySubject);
  const counting = useMutation({
    mutationFn: (of: SubjectDraft) => requestErasure({ subject: subjectOf(of), ...pathsOf(of), dry_run: true }),
  });
  if (counting.data !== undefined)
    return <ConfirmErasure draft={draft} counted={counting.data} onClose={onClose} onStarted={onStarted} />;
  return (
    <Dialog open onClose={onClose} title={s.title} about={s.about} unsaved={draft !== emptySubject}>
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          if (!counting.isPending) counting.mutate(draft);
        }}
      >
        <SubjectFields value={draft} onChange={setDraft} />
        {counting.error !== null && <ErrorBox error={counting.error} />}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{s.cancel}</Button>
          <Button type="submit" look="main" disabled={counting.isPending}>
            {counting.isPending ? s.counting : s.count}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

function ConfirmErasure({
  draft,
  counted,
  onClose,
  onStarted,
}: Props & { readonly draft: SubjectDraft; readonly counted: Erasure }) {
  const client = useQueryClient();
  const starting = useMutation({
    mutationFn: () => requestErasure({ subject: subjectOf(draft), ...pathsOf(draft) }),
    onSuccess: ({ erasure_id }) => {
      toast(s.started);
      onStarted(erasure_id);
    },
    onSettled: () => client.invalidateQueries({ queryKey: erasureListKey }),
  });
  const stores = counted.stores.filter(({ found }) => found > 0);
  const held = sumOf(counted, "held");
  return (
    <Confirm
      open
      onClose={onClose}
      title={s.title}
      action={s.confirm}
      typeName={subjectName(draft)}
      onConfirm={() => starting.mutate()}
      pending={starting.isPending}
      error={starting.error}
    >
      <div className="flex flex-col gap-3">
        <p>{s.counted(formatNumber(sumOf(counted, "found")))}</p>
        <Facts of={stores.map(({ store, found }) => [store, formatNumber(found)])} />
        {held > 0 && <p className="rounded-md bg-warn-soft p-3 text-warn">{s.heldNote}</p>}
        <p>{s.warning}</p>
      </div>
    </Confirm>
  );
}
