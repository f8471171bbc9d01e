import type { Job } from "@pinakes/client";
import { Link } from "@tanstack/react-router";
import { shownName } from "../../lib/shown-name.ts";
import { jobStrings } from "../../strings/jobs.ts";
import { Status } from "../../ui/badge.tsx";
import { DataTable, type Column } from "../../ui/data-table.tsx";
import { ShownName } from "../../ui/name.tsx";
import { documentLink } from "../documents/links.ts";

const s = jobStrings.detail;

interface DocumentRow {
  readonly document_id: string;
  /** null: deleted. */
  readonly name: string | null;
  readonly status: string;
  readonly error: string | null;
}

export function JobResult({ job, result }: { readonly job: Job; readonly result: Readonly<Record<string, unknown>> }) {
  const documents =
    job.kind === "ingest" && Array.isArray(result["documents"])
      ? (result["documents"] as readonly DocumentRow[])
      : undefined;
  return (
    <section className="flex min-w-0 flex-col gap-2">
      <h2 className="text-sm font-semibold">{documents === undefined ? s.result : s.documents}</h2>
      {documents === undefined ? (
        <pre
          tabIndex={0}
          className="max-h-96 overflow-auto rounded-md bg-raised p-3 font-mono text-xs break-words whitespace-pre-wrap"
        >
          {JSON.stringify(result, null, 2)}
        </pre>
      ) : (
        <DataTable
          label={s.documentsTable}
          columns={columnsOf(job)}
          items={documents}
          rowId={({ document_id }) => document_id}
          empty={null}
        />
      )}
    </section>
  );
}

function columnsOf({ repository_id: rid, collection_id: cid }: Job): readonly Column<DocumentRow>[] {
  return [
    {
      id: "name",
      header: s.document.name,
      width: "minmax(9rem,1fr)",
      cell: ({ document_id: did, name }) =>
        name === null ? (
          <span className="text-soft">{s.gone}</span>
        ) : (
          <Link
            {...documentLink({ rid, cid, did })}
            className="truncate text-brand hover:underline"
            title={shownName(name)}
          >
            <ShownName of={name} />
          </Link>
        ),
    },
    { id: "status", header: s.document.status, width: "6rem", cell: ({ status }) => <Status value={status} /> },
    {
      id: "error",
      header: s.document.error,
      width: "minmax(10rem,2fr)",
      cell: ({ error }) => (
        <span className="truncate" title={error ?? undefined}>
          {error}
        </span>
      ),
    },
  ];
}
