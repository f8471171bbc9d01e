import type { Document } from "@pinakes/client";
import { Link } from "@tanstack/react-router";
import { Download, RefreshCw, Trash2 } from "lucide-react";
import { formatBytes, formatNumber } from "../../lib/format.ts";
import { shownName } from "../../lib/shown-name.ts";
import { documentStrings } from "../../strings/documents.ts";
import { Status } from "../../ui/badge.tsx";
import type { Column } from "../../ui/data-table.tsx";
import { Menu } from "../../ui/menu.tsx";
import { ShownName } from "../../ui/name.tsx";
import { Ago } from "../../ui/time.tsx";
import { documentLink } from "./links.ts";
import type { useDocumentActions } from "./use-document-actions.tsx";

const s = documentStrings.list;

type Actions = ReturnType<typeof useDocumentActions>;

export function documentColumns(actions: Actions): readonly Column<Document>[] {
  return [
    { id: "name", header: s.name, width: "minmax(14rem,2fr)", cell: (document) => <Name document={document} /> },
    {
      id: "status",
      header: s.status,
      width: "minmax(12rem,2fr)",
      cell: (document) => <StatusCell document={document} />,
    },
    { id: "size", header: s.size, width: "6rem", align: "right", cell: ({ size_bytes }) => formatBytes(size_bytes) },
    {
      id: "chunks",
      header: s.chunks,
      width: "6rem",
      align: "right",
      cell: ({ chunk_count }) => formatNumber(chunk_count),
    },
    { id: "version", header: s.version, width: "5rem", align: "right", cell: ({ version }) => version },
    { id: "uploaded", header: s.uploaded, width: "8rem", cell: ({ uploaded_at }) => <Ago at={uploaded_at} /> },
    {
      id: "actions",
      header: s.actions,
      width: "4.5rem",
      cell: (document) => <RowMenu document={document} actions={actions} />,
    },
  ];
}

function Name({
  document: { repository_id: rid, collection_id: cid, document_id: did, name },
}: {
  readonly document: Document;
}) {
  return (
    <Link
      {...documentLink({ rid, cid, did })}
      className="min-w-0 truncate font-medium hover:underline"
      title={shownName(name)}
      onClick={(event) => event.stopPropagation()}
    >
      <ShownName of={name} />
    </Link>
  );
}

/** The start of the error; the document's page shows all of it. */
function StatusCell({ document: { status, error, progress } }: { readonly document: Document }) {
  const more =
    status === "failed"
      ? error
      : progress === null || progress === undefined
        ? undefined
        : s.progress(progress.done, progress.total);
  return (
    <>
      <Status value={status} />
      {more !== undefined && more !== null && (
        <span className="min-w-0 truncate text-xs text-soft" title={more}>
          {more}
        </span>
      )}
    </>
  );
}

function RowMenu({ document, actions }: { readonly document: Document; readonly actions: Actions }) {
  const { actions: words } = documentStrings;
  return (
    // A click in the menu must not open the row.
    <div
      onClick={(event) => event.stopPropagation()}
      onKeyDown={(event) => event.stopPropagation()}
      role="presentation"
    >
      <Menu
        label={words.label(document.name)}
        entries={[
          {
            label: words.download,
            icon: <Download aria-hidden />,
            disabled: actions.pending,
            onChoose: () => actions.download(document),
          },
          {
            label: document.status === "failed" ? words.retry : words.reindex,
            icon: <RefreshCw aria-hidden />,
            disabled: actions.pending || document.status === "uploading",
            onChoose: () => actions.reindex(document),
          },
          {
            label: words.delete,
            icon: <Trash2 aria-hidden />,
            danger: true,
            onChoose: () => actions.askDelete(document),
          },
        ]}
      />
    </div>
  );
}
