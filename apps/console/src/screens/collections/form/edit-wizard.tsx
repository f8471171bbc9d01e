/** Edits a collection. Sends only changed fields, with the etag that was read; a conflict is shown, and nothing is lost. */
import type { Collection, CollectionChange } from "@pinakes/client";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { updateCollection } from "../../../api/collection-changes.ts";
import { collectionOptions } from "../../../api/collections.ts";
import { isProblem } from "../../../api/problem.ts";
import { collectionFormStrings as s } from "../../../strings/collection-form.ts";
import { toast } from "../../../ui/toast.tsx";
import { changedFields, currentOf, only } from "./changes.ts";
import { ConflictView } from "./conflict-view.tsx";
import { readValues, valuesOf, type Changeable } from "./form-values.ts";
import { useForm } from "./use-form.ts";
import { WizardFrame } from "./wizard-frame.tsx";

interface Props {
  readonly collection: Collection;
  readonly onClose: () => void;
}

interface Conflict {
  readonly mine: Changeable;
  readonly theirs: Collection;
}

export default function EditWizard({ collection, onClose }: Props) {
  // The initial values stay, even if the collection is refetched.
  const [base, setBase] = useState(collection);
  const [conflict, setConflict] = useState<Conflict>();
  const form = useForm(valuesOf(base));
  const { values, errors, changed: unsaved } = form;
  const client = useQueryClient();
  const id = { rid: base.repository_id, cid: base.collection_id };
  const saving = useMutation({
    mutationFn: ({
      change,
      etag,
    }: {
      readonly change: CollectionChange;
      readonly mine: Changeable;
      readonly etag: string;
    }) => updateCollection(id, change, etag),
    onSuccess: async ({ warnings = [] }) => {
      await Promise.all(
        [["collection", id.rid, id.cid], ["collections"]].map((queryKey) => client.invalidateQueries({ queryKey })),
      );
      toast(s.saved, warnings.length === 0 ? undefined : warnings.join(" "));
      onClose();
    },
    onError: async (error, { mine }) => {
      if (!isProblem(error, 412)) return form.fail(error);
      try {
        setConflict({ mine, theirs: await client.fetchQuery({ ...collectionOptions(id), staleTime: 0 }) });
      } catch (cause) {
        form.fail(cause);
      }
    },
  });
  const save = (mine: Changeable, change: CollectionChange, etag: string) => {
    form.begin();
    if (Object.keys(change).length > 0) return saving.mutate({ mine, change, etag });
    toast(s.nothingChanged);
    onClose();
  };
  const submit = () => {
    const read = readValues(form.values);
    if (read.errors !== undefined) form.refuse(read.errors);
    else save(read.value, only(read.value, changedFields(currentOf(base), read.value)), base.etag);
  };
  if (conflict !== undefined) {
    const { mine, theirs } = conflict;
    return (
      <ConflictView
        base={currentOf(base)}
        mine={mine}
        theirs={currentOf(theirs)}
        pending={saving.isPending}
        error={isProblem(saving.error, 412) ? form.error : saving.error}
        onSave={(change) => save(mine, change, theirs.etag)}
        onDrop={() => {
          setBase(theirs);
          form.reset(valuesOf(theirs));
          setConflict(undefined);
        }}
        onClose={onClose}
      />
    );
  }
  return (
    <WizardFrame
      title={s.editTitle(base.name)}
      action={s.save}
      pendingAction={s.saving}
      pending={saving.isPending}
      error={form.error}
      {...{ values, errors, unsaved }}
      collection={base}
      onChange={form.change}
      onSubmit={submit}
      onClose={onClose}
    />
  );
}
