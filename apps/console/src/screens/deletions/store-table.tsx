import type { StoreProgress } from "@pinakes/client";
import { formatMs, formatNumber } from "../../lib/format.ts";
import { deletionStrings } from "../../strings/deletions.ts";
import { Status } from "../../ui/badge.tsx";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { Facts } from "../../ui/panel.tsx";
import { Ago } from "../../ui/time.tsx";
import { RemainingCell } from "./remaining-cell.tsx";

const s = deletionStrings.detail;

const columns: readonly Column<StoreProgress>[] = [
  {
    id: "store",
    header: s.columns.store,
    width: "minmax(7rem,1fr)",
    cell: ({ store }) => <span className="truncate font-medium">{store}</span>,
  },
  { id: "status", header: s.columns.status, width: "6.5rem", cell: ({ status }) => <Status value={status} /> },
  {
    id: "deleted",
    header: s.columns.deleted,
    width: "5.5rem",
    align: "right",
    cell: ({ deleted }) => formatNumber(deleted),
  },
  {
    id: "remaining",
    header: s.columns.remaining,
    width: "6rem",
    align: "right",
    cell: ({ remaining }) => <RemainingCell of={remaining} />,
  },
  {
    id: "took",
    header: s.columns.took,
    width: "5rem",
    align: "right",
    cell: ({ duration_ms }) => formatMs(duration_ms),
  },
  {
    id: "tries",
    header: s.columns.attempts,
    width: "4rem",
    align: "right",
    cell: ({ attempts }) => formatNumber(attempts),
  },
  {
    id: "next",
    header: s.columns.next,
    width: "6rem",
    cell: ({ next_at }) => (next_at === null ? null : <Ago at={next_at} />),
  },
];

interface StoreTableProps {
  /** Undefined while loading. */
  readonly stores: readonly StoreProgress[] | undefined;
  readonly error?: unknown;
  readonly onRetry?: () => void;
}

export function StoreTable({ stores, error, onRetry }: StoreTableProps) {
  const failures = stores?.filter((one) => one.error !== null) ?? [];
  return (
    <>
      <DataTable
        label={s.stores}
        columns={columns}
        items={stores}
        rowId={({ store }) => store}
        error={error}
        {...(onRetry === undefined ? {} : { onRetry })}
        empty={null}
      />
      <StoreUnits stores={stores ?? []} />
      {failures.length > 0 && (
        <section className="rounded-lg bg-bad-soft p-3 text-sm">
          <h3 className="mb-1 font-medium text-bad">{s.errors}</h3>
          <Facts of={failures.map((one) => [one.store, `${one.error?.type ?? ""}: ${one.error?.message ?? ""}`])} />
        </section>
      )}
    </>
  );
}

function StoreUnits({ stores }: { readonly stores: readonly StoreProgress[] }) {
  const units = stores.flatMap(({ store, unit }) => (unit === undefined ? [] : [[store, unit] as const]));
  if (units.length === 0) return null;
  return (
    <section className="flex flex-col gap-2">
      <h3 className="text-sm font-semibold">{deletionStrings.detail.units}</h3>
      <Facts of={units} />
    </section>
  );
}
