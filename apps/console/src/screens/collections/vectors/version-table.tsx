/** Versions can still be searched (`as_of`). */
import type { VectorVersion } from "@pinakes/client";
import { Link } from "@tanstack/react-router";
import type { CollectionId } from "../../../api/collections.ts";
import { formatBytes, formatDateTime, formatNumber } from "../../../lib/format.ts";
import { vectorStrings as s } from "../../../strings/vectors.ts";
import { DataTable, type Column } from "../../../ui/data-table.tsx";
import { Empty } from "../../../ui/states.tsx";
import { Ago } from "../../../ui/time.tsx";
import { labSearch } from "../lab-search.ts";

export function VersionTable({
  id,
  versions,
}: {
  readonly id: CollectionId;
  readonly versions: readonly VectorVersion[];
}) {
  const newestFirst = versions.toReversed();
  const oldest = versions[0];
  return (
    <div className="flex flex-col gap-2">
      {oldest !== undefined && (
        <p className="text-sm text-soft">{s.versionsAbout(formatDateTime(oldest.committedAt))}</p>
      )}
      <DataTable
        label={s.versions}
        columns={columnsFor(id)}
        items={newestFirst}
        rowId={({ version }) => String(version)}
        empty={<Empty title={s.noVersions} />}
      />
    </div>
  );
}

function columnsFor(id: CollectionId): readonly Column<VectorVersion>[] {
  const of = s.versionColumns;
  return [
    { id: "version", header: of.version, width: "5rem", align: "right", cell: ({ version }) => formatNumber(version) },
    { id: "at", header: of.at, width: "8rem", cell: ({ committedAt }) => <Ago at={committedAt} /> },
    { id: "reason", header: of.reason, width: "7rem", cell: ({ reason }) => reason },
    {
      id: "writer",
      header: of.writer,
      cell: ({ writer }) => (
        <span className="truncate" title={writer}>
          {writer}
        </span>
      ),
    },
    { id: "rows", header: of.rows, width: "6rem", align: "right", cell: ({ live }) => formatNumber(live) },
    {
      id: "segments",
      header: of.segments,
      width: "6rem",
      align: "right",
      cell: ({ segments }) => formatNumber(segments),
    },
    { id: "size", header: of.size, width: "6rem", align: "right", cell: ({ bytes }) => formatBytes(bytes) },
    {
      id: "asOf",
      header: of.asOf,
      width: "9rem",
      cell: ({ committedAt }) => (
        <Link
          to="/search"
          search={labSearch(id, { asof: new Date(committedAt).toISOString() })}
          className="text-brand hover:underline"
        >
          {s.asOf}
        </Link>
      ),
    },
  ];
}
