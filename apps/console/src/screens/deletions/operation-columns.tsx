import type { Operation } from "@pinakes/client";
import type { CollectionName } from "../../api/collection-names.ts";
import { formatMs, formatNumber } from "../../lib/format.ts";
import { deletionStrings as s } from "../../strings/deletions.ts";
import { Badge, Status } from "../../ui/badge.tsx";
import type { Column } from "../../ui/data-table.tsx";
import { Ago } from "../../ui/time.tsx";
import { RemainingCell } from "./remaining-cell.tsx";
import { remainingOf } from "./remaining.ts";

export function actionOf(action: string): string {
  return s.actions[action] ?? action;
}

const deletedBy = ({ stores }: Operation) => stores.reduce((total, { deleted }) => total + deleted, 0);

export const operationColumns = (nameOf: CollectionName): readonly Column<Operation>[] => [
  {
    id: "collection",
    header: s.columns.collection,
    width: "minmax(9rem,1fr)",
    cell: (row) => (
      <span className="truncate font-medium" title={`${row.repository_id} / ${row.collection_id}`}>
        {nameOf(row)}
      </span>
    ),
  },
  { id: "action", header: s.columns.action, width: "5rem", cell: ({ action }) => actionOf(action) },
  {
    id: "status",
    header: s.columns.status,
    width: "7.5rem",
    cell: ({ status, partial }) => (
      <>
        <Status value={status} />
        {partial && <Badge tone="warn">{s.partial}</Badge>}
      </>
    ),
  },
  {
    id: "stores",
    header: s.columns.stores,
    width: "6rem",
    cell: ({ stores }) => s.confirmed(stores.filter(({ status }) => status === "confirmed").length, stores.length),
  },
  {
    id: "deleted",
    header: s.columns.deleted,
    width: "5rem",
    align: "right",
    cell: (row) => formatNumber(deletedBy(row)),
  },
  {
    id: "remaining",
    header: s.columns.remaining,
    width: "6rem",
    align: "right",
    cell: ({ stores }) => <RemainingCell of={remainingOf(stores)} />,
  },
  { id: "started", header: s.columns.started, width: "7rem", cell: ({ created_at }) => <Ago at={created_at} /> },
  {
    id: "took",
    header: s.columns.took,
    width: "5.5rem",
    align: "right",
    cell: ({ created_at, finished_at }) =>
      finished_at === null ? "–" : formatMs(Date.parse(finished_at) - Date.parse(created_at)),
  },
  {
    id: "error",
    header: s.columns.error,
    width: "minmax(7rem,1fr)",
    cell: ({ stores }) => {
      const error = stores.find((store) => store.error !== null)?.error?.message;
      return (
        <span className="truncate text-bad" title={error}>
          {error}
        </span>
      );
    },
  },
];
