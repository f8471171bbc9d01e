import type { Collection } from "@pinakes/client";
import { RotateCcw, Trash2 } from "lucide-react";
import { formatBytes, formatNumber } from "../../lib/format.ts";
import { shownName } from "../../lib/shown-name.ts";
import { trashStrings as s } from "../../strings/trash.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import type { Column } from "../../ui/data-table.tsx";
import { ShownName } from "../../ui/name.tsx";
import { Ago } from "../../ui/time.tsx";
import { Tooltip } from "../../ui/tooltip.tsx";

interface Actions {
  readonly pending: boolean;
  readonly mayPurge: boolean;
  readonly onRestore: (collection: Collection) => void;
  readonly onPurge: (collection: Collection) => void;
}

export function trashColumns(actions: Actions): readonly Column<Collection>[] {
  const of = s.columns;
  return [
    { id: "name", header: of.name, width: "minmax(12rem,2fr)", cell: (collection) => <Name collection={collection} /> },
    {
      id: "repository",
      header: of.repository,
      width: "minmax(7rem,1fr)",
      cell: ({ repository_name }) => (
        <span className="truncate">
          <ShownName of={repository_name} />
        </span>
      ),
    },
    {
      id: "documents",
      header: of.documents,
      width: "6rem",
      align: "right",
      cell: ({ document_count }) => formatNumber(document_count),
    },
    {
      id: "size",
      header: of.size,
      width: "5.5rem",
      align: "right",
      cell: ({ total_size_bytes }) => formatBytes(total_size_bytes),
    },
    { id: "deleted", header: of.deleted, width: "7.5rem", cell: ({ deleted_at }) => <At at={deleted_at} /> },
    { id: "purged", header: of.purged, width: "7.5rem", cell: ({ purge_at }) => <At at={purge_at} /> },
    {
      id: "actions",
      header: of.actions,
      width: "15rem",
      cell: (collection) => <RowActions collection={collection} {...actions} />,
    },
  ];
}

function Name({ collection: { name, collection_id, ...more } }: { readonly collection: Collection }) {
  return (
    <>
      <span className="truncate font-medium" title={shownName(`${name} (${collection_id})`)}>
        <ShownName of={name} />
      </span>
      {more["displaced"] === true && (
        <Tooltip text={s.displacedAbout}>
          <span tabIndex={0}>
            <Badge tone="warn">{s.displaced}</Badge>
          </span>
        </Tooltip>
      )}
    </>
  );
}

function At({ at }: { readonly at: string | null | undefined }) {
  return at === null || at === undefined ? null : <Ago at={at} />;
}

function RowActions({
  collection,
  pending,
  mayPurge,
  onRestore,
  onPurge,
}: Actions & { readonly collection: Collection }) {
  const mayRestore = collection.access === "ADMIN" && !pending;
  return (
    <>
      <Button
        size="small"
        disabled={!mayRestore}
        onClick={() => onRestore(collection)}
        aria-label={`${s.restore}: ${collection.name}`}
      >
        <RotateCcw aria-hidden />
        {s.restore}
      </Button>
      <Button
        size="small"
        look="danger"
        disabled={!mayPurge}
        title={mayPurge ? undefined : s.purgeForbidden}
        onClick={() => onPurge(collection)}
        aria-label={`${s.purge}: ${collection.name}`}
      >
        <Trash2 aria-hidden />
        {s.purge}
      </Button>
    </>
  );
}
