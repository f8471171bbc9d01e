import type { VectorStats } from "@pinakes/client";
import { formatBytes, formatNumber } from "../../../lib/format.ts";
import { vectorStrings as s } from "../../../strings/vectors.ts";
import { DataTable, type Column } from "../../../ui/data-table.tsx";
import { Empty } from "../../../ui/states.tsx";

type Segment = VectorStats["segments"][number];

const columns: readonly Column<Segment>[] = [
  {
    id: "name",
    header: s.segment.name,
    width: "minmax(14rem,2fr)",
    cell: ({ key }) => (
      <code className="truncate font-mono text-xs" title={key}>
        {key.slice(key.lastIndexOf("/") + 1)}
      </code>
    ),
  },
  { id: "rows", header: s.segment.rows, width: "6rem", align: "right", cell: ({ rows }) => formatNumber(rows) },
  { id: "live", header: s.segment.live, width: "6rem", align: "right", cell: ({ live }) => formatNumber(live) },
  {
    id: "dead",
    header: s.segment.dead,
    width: "6rem",
    align: "right",
    cell: ({ rows, live }) => formatNumber(rows - live),
  },
  { id: "size", header: s.segment.size, width: "6rem", align: "right", cell: ({ bytes }) => formatBytes(bytes) },
];

export function SegmentTable({ segments }: { readonly segments: readonly Segment[] }) {
  return (
    <DataTable
      label={s.segments}
      columns={columns}
      items={segments}
      rowId={({ key }) => key}
      empty={<Empty title={s.noSegments} />}
    />
  );
}
