import type { Erasure } from "@pinakes/client";
import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import { useState } from "react";
import { erasureListOptions, erasuresAgainMs } from "../../api/governance.ts";
import { moreOf } from "../../api/page.ts";
import { formatNumber } from "../../lib/format.ts";
import { governanceStrings } from "../../strings/governance.ts";
import { Badge, type Tone } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { Empty } from "../../ui/states.tsx";
import { Ago } from "../../ui/time.tsx";
import { ErasureSheet } from "./erasure-sheet.tsx";
import { NewErasureDialog } from "./new-erasure.tsx";

const s = governanceStrings.erasures;
const route = getRouteApi("/shell/governance");

export function ErasuresTab() {
  const { erasure } = route.useSearch();
  const navigate = route.useNavigate();
  const show = (id: string | undefined) => void navigate({ search: (old) => ({ ...old, erasure: id }), replace: true });
  const [creating, setCreating] = useState(false);
  const list = useInfiniteQuery({
    ...erasureListOptions,
    refetchInterval: ({ state }) => erasuresAgainMs(state.data?.pages.flatMap(({ items }) => items)),
  });
  return (
    <div className="flex flex-col gap-4">
      <Button look="main" className="self-start" onClick={() => setCreating(true)}>
        <Plus aria-hidden />
        {s.create}
      </Button>
      <DataTable
        label={s.table}
        columns={columns}
        items={list.data?.items}
        rowId={({ erasure_id }) => erasure_id}
        onOpen={({ erasure_id }) => show(erasure_id)}
        error={list.data === undefined ? list.error : undefined}
        onRetry={() => void list.refetch()}
        empty={<Empty title={s.empty}>{s.emptyAbout}</Empty>}
        more={moreOf(list)}
      />
      {creating && (
        <NewErasureDialog
          onClose={() => setCreating(false)}
          onStarted={(id) => {
            setCreating(false);
            show(id);
          }}
        />
      )}
      {erasure !== undefined && <ErasureSheet id={erasure} onClose={() => show(undefined)} />}
    </div>
  );
}

const tones: Readonly<Record<Erasure["state"], Tone>> = {
  received: "warn",
  scanning: "brand",
  executing: "brand",
  verifying: "brand",
  held: "warn",
  done_live: "good",
  counted: "plain",
};

export function ErasureState({ of: { state, error } }: { readonly of: Pick<Erasure, "state" | "error"> }) {
  return <Badge tone={error === null ? tones[state] : "bad"}>{s.states[state]}</Badge>;
}

export type ErasureCount = "found" | "deleted" | "redacted" | "anonymised" | "held";

export function sumOf({ stores }: Pick<Erasure, "stores">, ...counts: readonly ErasureCount[]): number {
  return stores.reduce((total, store) => total + counts.reduce((sum, count) => sum + store[count], 0), 0);
}

/** Unknown before the first verification, and then unknown of the whole. */
function remainingOf({ stores }: Erasure): string {
  const known = stores.flatMap(({ remaining }) => (remaining === null ? [] : [remaining]));
  return known.length < stores.length || stores.length === 0
    ? "–"
    : formatNumber(known.reduce((total, one) => total + one, 0));
}

const columns: readonly Column<Erasure>[] = [
  {
    id: "subject",
    header: s.columns.subject,
    width: "minmax(11rem,1fr)",
    cell: ({ subject }) => (
      <span className="truncate">
        {governanceStrings.subject.types[subject.type]}{" "}
        <code className="font-mono text-xs text-soft" title={subject.hmac}>
          {subject.hmac.slice(0, 12)}
        </code>
      </span>
    ),
  },
  { id: "state", header: s.columns.state, width: "7rem", cell: (row) => <ErasureState of={row} /> },
  {
    id: "found",
    header: s.columns.found,
    width: "6rem",
    align: "right",
    cell: (row) => formatNumber(sumOf(row, "found")),
  },
  {
    id: "erased",
    header: s.columns.erased,
    width: "6rem",
    align: "right",
    cell: (row) => formatNumber(sumOf(row, "deleted", "redacted", "anonymised")),
  },
  {
    id: "held",
    header: s.columns.held,
    width: "5rem",
    align: "right",
    cell: (row) => formatNumber(sumOf(row, "held")),
  },
  { id: "remaining", header: s.columns.remaining, width: "6.5rem", align: "right", cell: remainingOf },
  {
    id: "by",
    header: s.columns.by,
    width: "minmax(6rem,.7fr)",
    cell: ({ created_by }) => <span className="truncate">{created_by}</span>,
  },
  { id: "requested", header: s.columns.requested, width: "7rem", cell: ({ created_at }) => <Ago at={created_at} /> },
];
