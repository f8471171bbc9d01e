import type { Document, DocumentVersion } from "@pinakes/client";
import { useMutation, useQuery } from "@tanstack/react-query";
import { Download } from "lucide-react";
import { downloadDocument, versionsOptions } from "../../api/document-parts.ts";
import type { DocumentId } from "../../api/documents.ts";
import { formatBytes } from "../../lib/format.ts";
import { documentStrings } from "../../strings/documents.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { DataTable, type Column } from "../../ui/data-table.tsx";
import { Empty } from "../../ui/states.tsx";
import { Ago } from "../../ui/time.tsx";
import { toastError } from "../../ui/toast.tsx";

const s = documentStrings.versions;

export function VersionsTab({ id, document }: { readonly id: DocumentId; readonly document: Document }) {
  const list = useQuery(versionsOptions(id, document));
  const download = useMutation({
    mutationFn: (version: number) => downloadDocument(id, version),
    onError: (error) => toastError(documentStrings.actions.downloadFailed, error),
  });
  return (
    <DataTable
      label={s.label}
      columns={columnsOf(download.mutate, download.isPending)}
      items={list.data?.items}
      rowId={({ version }) => String(version)}
      error={list.data === undefined ? list.error : undefined}
      onRetry={() => void list.refetch()}
      empty={<Empty title={s.nothing} />}
    />
  );
}

function columnsOf(download: (version: number) => void, pending: boolean): readonly Column<DocumentVersion>[] {
  return [
    {
      id: "version",
      header: s.version,
      width: "minmax(14rem,1fr)",
      cell: ({ version, live }) => (
        <>
          {version}
          {live && <Badge tone="good">{s.live}</Badge>}
        </>
      ),
    },
    { id: "size", header: s.size, width: "7rem", align: "right", cell: ({ size_bytes }) => formatBytes(size_bytes) },
    { id: "uploaded", header: s.uploaded, width: "8rem", cell: ({ uploaded_at }) => <Ago at={uploaded_at} /> },
    { id: "by", header: s.by, cell: ({ uploaded_by }) => <span className="truncate">{uploaded_by}</span> },
    {
      id: "sha",
      header: s.sha,
      cell: ({ sha256 }) => (
        <code className="truncate font-mono text-xs" title={sha256}>
          {sha256}
        </code>
      ),
    },
    {
      id: "download",
      header: documentStrings.actions.download,
      width: "9rem",
      cell: ({ version }) => (
        <Button size="small" aria-label={s.download(version)} disabled={pending} onClick={() => download(version)}>
          <Download aria-hidden />
          {documentStrings.actions.download}
        </Button>
      ),
    },
  ];
}
