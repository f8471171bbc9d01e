/** Indexing status. Single failed files are counted and linked, without marking the whole collection as failed. */
import type { Collection } from "@pinakes/client";
import { Link } from "@tanstack/react-router";
import { formatNumber } from "../../lib/format.ts";
import { collectionsStrings as s } from "../../strings/collections.ts";
import { Badge, Status } from "../../ui/badge.tsx";

interface Props {
  readonly collection: Pick<
    Collection,
    | "repository_id"
    | "collection_id"
    | "status"
    | "indexing_status"
    | "document_count"
    | "row_count"
    | "documents_by_status"
  >;
  /** Inside a row that is opened by keyboard. */
  readonly inRow?: boolean;
}

export function IndexingBadge({ collection, inRow = false }: Props) {
  const { document_count, row_count, indexing_status } = collection;
  // Without documents, nothing is pending.
  if (document_count === 0 && row_count > 0)
    return <span className="text-xs text-soft">{s.rows(formatNumber(row_count), row_count === 1)}</span>;
  if (document_count === 0) return <span className="text-xs text-soft">{s.noDocuments}</span>;
  if (indexing_status !== "error") return <Status value={indexing_status} />;
  return <FailedBadge collection={collection} inRow={inRow} />;
}

export function FailedBadge({ collection, inRow = false }: Props) {
  const { repository_id: rid, collection_id: cid, status, document_count, documents_by_status } = collection;
  const failed = documents_by_status["failed"] ?? 0;
  if (failed === 0) return <Status value="error" />;
  const badge = (
    <Badge tone={failed * 2 < document_count ? "warn" : "bad"} className="underline">
      {s.failed(formatNumber(failed), formatNumber(document_count))}
    </Badge>
  );
  if (status !== "ACTIVE" && status !== "ARCHIVED") return badge;
  return (
    <Link
      to="/collections/$rid/$cid"
      params={{ rid, cid }}
      search={{ documentStatus: "failed" }}
      className="rounded"
      title={s.failedAbout}
      {...(inRow ? { tabIndex: -1 } : {})}
      onClick={(event) => event.stopPropagation()}
    >
      {badge}
    </Link>
  );
}
