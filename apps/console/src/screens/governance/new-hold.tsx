import { type HoldScope, type HoldScopeType, holdScopeTypes, type JsonObject } from "@pinakes/client";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { createHold, holdsKey } from "../../api/governance.ts";
import { formatNumber } from "../../lib/format.ts";
import { governanceStrings } from "../../strings/governance.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Select, TextArea } from "../../ui/field.tsx";
import { ErrorBox } from "../../ui/states.tsx";
import { toast } from "../../ui/toast.tsx";
import { IdField } from "./subject-fields.tsx";

const s = governanceStrings.holds;

interface Draft {
  readonly type: HoldScopeType;
  readonly id: string;
  readonly repository: string;
  readonly collection: string;
  readonly container: string;
  readonly filter: string;
  readonly reason: string;
}

const empty: Draft = {
  type: "user",
  id: "",
  repository: "",
  collection: "",
  container: "",
  filter: "",
  reason: "",
};

export function NewHoldDialog({ onClose }: { readonly onClose: () => void }) {
  const [draft, setDraft] = useState(empty);
  const client = useQueryClient();
  const filter = filterOf(draft.filter);
  const creating = useMutation({
    mutationFn: createHold,
    onSuccess: ({ matched }) => {
      toast(s.created(formatNumber(matched)));
      onClose();
    },
    onSettled: () => client.invalidateQueries({ queryKey: holdsKey }),
  });
  const ready = (draft.type !== "query" || filter !== undefined) && !creating.isPending;
  return (
    <Dialog open onClose={onClose} title={s.create} about={s.emptyAbout} unsaved={draft !== empty}>
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          if (ready) creating.mutate({ scope: scopeOf(draft, filter), reason: draft.reason.trim() });
        }}
      >
        <Select
          label={s.scope}
          value={draft.type}
          choices={holdScopeTypes.map((value) => ({ value, label: s.types[value] }))}
          onChoose={(type) => setDraft({ ...draft, type })}
        />
        <ScopeFields draft={draft} onChange={setDraft} />
        <TextArea
          label={s.reason}
          required
          rows={2}
          value={draft.reason}
          onChange={({ target }) => setDraft({ ...draft, reason: target.value })}
        />
        {creating.error !== null && <ErrorBox error={creating.error} />}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{s.cancel}</Button>
          <Button type="submit" look="main" disabled={!ready}>
            {creating.isPending ? s.submitting : s.submit}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

function ScopeFields({ draft, onChange }: { readonly draft: Draft; readonly onChange: (next: Draft) => void }) {
  if (draft.type === "workspace") return null;
  if (draft.type === "collection")
    return (
      <>
        <IdField
          label={s.repository}
          value={draft.repository}
          onType={(repository) => onChange({ ...draft, repository })}
        />
        <IdField
          label={s.collection}
          value={draft.collection}
          onType={(collection) => onChange({ ...draft, collection })}
        />
      </>
    );
  if (draft.type === "query")
    return (
      <>
        <IdField
          label={s.container}
          value={draft.container}
          onType={(container) => onChange({ ...draft, container })}
        />
        <TextArea
          label={s.filter}
          hint={s.filterHint}
          error={draft.filter !== "" && filterOf(draft.filter) === undefined ? s.filterInvalid : undefined}
          required
          rows={3}
          spellCheck={false}
          value={draft.filter}
          onChange={({ target }) => onChange({ ...draft, filter: target.value })}
        />
      </>
    );
  return <IdField label={s.id} value={draft.id} onType={(id) => onChange({ ...draft, id })} />;
}

function filterOf(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;
  } catch {
    return undefined;
  }
}

function scopeOf({ type, id, repository, collection, container }: Draft, filter: JsonObject | undefined): HoldScope {
  if (type === "workspace") return { type };
  if (type === "collection") return { type, repository_id: repository.trim(), collection_id: collection.trim() };
  return type === "query" ? { type, container: container.trim(), filter } : { type, id: id.trim() };
}
