import type { HoldScope, LegalHold } from "@pinakes/client";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Plus } from "lucide-react";
import { useState } from "react";
import { erasureListKey, holdsKey, holdsOptions, releaseHold } from "../../api/governance.ts";
import { formatNumber } from "../../lib/format.ts";
import { shownName } from "../../lib/shown-name.ts";
import { governanceStrings } from "../../strings/governance.ts";
import { Button } from "../../ui/button.tsx";
import { Confirm } from "../../ui/confirm.tsx";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { ShownName } from "../../ui/name.tsx";
import { Empty } from "../../ui/states.tsx";
import { Ago } from "../../ui/time.tsx";
import { toast } from "../../ui/toast.tsx";
import { NewHoldDialog } from "./new-hold.tsx";

const s = governanceStrings.holds;

export function HoldsTab() {
  const [creating, setCreating] = useState(false);
  const [releasing, setReleasing] = useState<LegalHold>();
  const { data, error, refetch } = useQuery(holdsOptions);
  return (
    <div className="flex flex-col gap-4">
      <Button look="main" className="self-start" onClick={() => setCreating(true)}>
        <Plus aria-hidden />
        {s.create}
      </Button>
      <DataTable
        label={s.table}
        columns={holdColumns(setReleasing)}
        items={data}
        rowId={({ hold_id }) => hold_id}
        error={data === undefined ? error : undefined}
        onRetry={() => void refetch()}
        empty={<Empty title={s.empty}>{s.emptyAbout}</Empty>}
      />
      {creating && <NewHoldDialog onClose={() => setCreating(false)} />}
      {releasing !== undefined && <Release hold={releasing} onClose={() => setReleasing(undefined)} />}
    </div>
  );
}

function Release({ hold, onClose }: { readonly hold: LegalHold; readonly onClose: () => void }) {
  const client = useQueryClient();
  const releasing = useMutation({
    mutationFn: () => releaseHold(hold.hold_id),
    onSuccess: () => {
      toast(s.released);
      onClose();
    },
    onSettled: () => Promise.all([holdsKey, erasureListKey].map((queryKey) => client.invalidateQueries({ queryKey }))),
  });
  return (
    <Confirm
      open
      onClose={onClose}
      title={s.releaseTitle}
      action={s.release}
      onConfirm={() => releasing.mutate()}
      pending={releasing.isPending}
      error={releasing.error}
    >
      <p className="mb-2 font-medium break-words">
        <ShownName of={scopeName(hold.scope)} />: <ShownName of={hold.reason} />
      </p>
      <p>{s.releaseAbout}</p>
    </Confirm>
  );
}

export function scopeName(scope: HoldScope): string {
  const { type, id, repository_id, collection_id, container } = scope;
  const named = type === "collection" ? `${repository_id}/${collection_id}` : type === "query" ? container : id;
  return named === undefined ? s.types[type] : `${s.types[type]}: ${named}`;
}

function Cut({ text }: { readonly text: string }) {
  return (
    <span className="truncate" title={shownName(text)}>
      <ShownName of={text} />
    </span>
  );
}

const holdColumns = (onRelease: (hold: LegalHold) => void): readonly Column<LegalHold>[] => [
  {
    id: "scope",
    header: s.columns.scope,
    width: "minmax(10rem,1fr)",
    cell: ({ scope }) => <Cut text={scopeName(scope)} />,
  },
  { id: "reason", header: s.columns.reason, width: "minmax(8rem,1fr)", cell: ({ reason }) => <Cut text={reason} /> },
  {
    id: "matched",
    header: s.columns.matched,
    width: "6rem",
    align: "right",
    cell: ({ matched }) => formatNumber(matched),
  },
  { id: "by", header: s.columns.by, width: "minmax(6rem,.6fr)", cell: ({ created_by }) => <Cut text={created_by} /> },
  { id: "created", header: s.columns.created, width: "7rem", cell: ({ created_at }) => <Ago at={created_at} /> },
  {
    id: "actions",
    header: s.columns.actions,
    width: "6rem",
    cell: (hold) => (
      <Button size="small" aria-label={s.releaseFor(scopeName(hold.scope))} onClick={() => onRelease(hold)}>
        {s.release}
      </Button>
    ),
  },
];
