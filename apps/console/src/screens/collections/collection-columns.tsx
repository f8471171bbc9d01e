import type { Collection } from "@pinakes/client";
import { Link } from "@tanstack/react-router";
import { Lock } from "lucide-react";
import { formatBytes, formatNumber } from "../../lib/format.ts";
import { shownName } from "../../lib/shown-name.ts";
import { collectionsStrings } from "../../strings/collections.ts";
import { collectionFormStrings } from "../../strings/collection-form.ts";
import { Badge, Status } from "../../ui/badge.tsx";
import type { Column } from "../../ui/data-table.tsx";
import { ShownName } from "../../ui/name.tsx";
import { Ago } from "../../ui/time.tsx";
import { IndexingBadge } from "./indexing-badge.tsx";

const s = collectionsStrings.columns;

/** Ids of sortable columns are the API's sort fields. */
export const collectionColumns: readonly Column<Collection>[] = [
  { id: "name", header: s.name, width: "minmax(8.5rem,1.5fr)", cell: (one) => <Name collection={one} /> },
  // First, so that phones show it without scrolling.
  {
    id: "indexing",
    header: s.indexing,
    sortable: false,
    width: "7rem",
    cell: (one) => <IndexingBadge collection={one} inRow />,
  },
  { id: "status", header: s.status, sortable: false, width: "6.5rem", cell: ({ status }) => <Status value={status} /> },
  {
    id: "repository",
    header: s.repository,
    sortable: false,
    width: "minmax(7rem,1fr)",
    cell: ({ repository_name }) => <Cut>{repository_name}</Cut>,
  },
  {
    id: "documents",
    header: s.documents,
    sortable: false,
    width: "6rem",
    align: "right",
    cell: ({ document_count }) => formatNumber(document_count),
  },
  {
    id: "size",
    header: s.size,
    width: "5rem",
    align: "right",
    cell: ({ total_size_bytes }) => formatBytes(total_size_bytes),
  },
  {
    id: "tags",
    header: s.tags,
    sortable: false,
    width: "minmax(7rem,1fr)",
    cell: ({ metadata }) => <Tags of={metadata.tags ?? []} />,
  },
  { id: "updated_at", header: s.updated, width: "6.5rem", cell: ({ updated_at }) => <Ago at={updated_at} /> },
  { id: "by", header: s.by, sortable: false, width: "6rem", cell: ({ created_by }) => <Cut>{created_by}</Cut> },
];

/** For the mouse: links open in new tabs. By keyboard, the row is opened. */
function Name({
  collection: { repository_id: rid, collection_id: cid, name, status, private: hidden },
}: {
  readonly collection: Collection;
}) {
  const shown = (
    <span className="truncate font-medium" title={shownName(name)}>
      <ShownName of={name} />
    </span>
  );
  const open = status === "ACTIVE" || status === "ARCHIVED";
  return (
    <>
      {open ? (
        <Link
          to="/collections/$rid/$cid"
          params={{ rid, cid }}
          tabIndex={-1}
          className="flex min-w-0 hover:underline"
          onClick={(event) => event.stopPropagation()}
        >
          {shown}
        </Link>
      ) : (
        shown
      )}
      {hidden && <Lock className="size-3.5 shrink-0 text-soft" aria-label={collectionFormStrings.private} />}
    </>
  );
}

function Cut({ children }: { readonly children: string }) {
  return (
    <span className="truncate" title={shownName(children)}>
      <ShownName of={children} />
    </span>
  );
}

function Tags({ of }: { readonly of: readonly string[] }) {
  return (
    <span className="flex min-w-0 gap-1 overflow-hidden" title={of.join(", ")}>
      {of.map((tag) => (
        <Badge key={tag}>{tag}</Badge>
      ))}
    </span>
  );
}
