/** How far each store is with removing a collection for good. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { operationOptions, type StoreDeletion } from "../../api/work.ts";
import { formatNumber } from "../../lib/format.ts";
import { collectionStrings } from "../../strings/collection.ts";
import { Status } from "../../ui/badge.tsx";
import { DataTable, type Column } from "../../ui/data-table.tsx";

const s = collectionStrings.work;

const columns: readonly Column<StoreDeletion>[] = [
  { id: "store", header: s.columns.store, cell: ({ store }) => <span className="font-medium">{store}</span> },
  { id: "status", header: s.columns.status, width: "7rem", cell: ({ status }) => <Status value={status} /> },
  { id: "deleted", header: s.columns.deleted, width: "6rem", align: "right", cell: ({ deleted }) => formatNumber(deleted) },
  { id: "remaining", header: s.columns.remaining, width: "6rem", align: "right", cell: ({ remaining }) => formatNumber(remaining) },
  { id: "tries", header: s.columns.tries, width: "4rem", align: "right", cell: ({ attempts }) => formatNumber(attempts) },
  {
    id: "error",
    header: s.columns.error,
    cell: ({ error }) => (
      <span className="truncate" title={error?.message}>
        {error?.message ?? ""}
      </span>
    ),
  },
];

export function PurgeReport({ operationId }: { readonly operationId: string }) {
  const { data, error, refetch } = useQuery(operationOptions(operationId));
  return (
    <div className="flex flex-col gap-3 text-sm">
      {data?.status === "done" && <p>{data.partial ? s.partial : s.purged}</p>}
      <DataTable
        label={s.stores}
        columns={columns}
        items={data?.stores}
        rowId={({ store }) => store}
        error={data === undefined ? error : undefined}
        onRetry={() => void refetch()}
        empty={null}
      />
      <Link to="/deletions" className="self-start text-brand hover:underline">
        {s.report}
      </Link>
    </div>
  );
}
