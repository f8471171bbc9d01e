import { Link } from "@tanstack/react-router";
import type { ExplainedAnswer, Searched } from "../../api/explained-search.ts";
import { useCollection } from "../../api/collection-names.ts";
import { formatNumber } from "../../lib/format.ts";
import { searchStrings } from "../../strings/search.ts";
import { DataTable, type Column } from "../../ui/data-table.tsx";
import { ShownName } from "../../ui/name.tsx";
import { Empty } from "../../ui/states.tsx";

const s = searchStrings.answer;
const names = s.searchedColumns;

const columns: readonly Column<Searched>[] = [
  {
    id: "collection",
    header: names.collection,
    cell: (one) => <Name of={one} />,
  },
  {
    id: "chunks",
    header: names.chunks,
    width: "6rem",
    align: "right",
    cell: ({ passages }) => formatNumber(passages),
  },
  {
    id: "removed",
    header: names.removed,
    width: "11rem",
    align: "right",
    cell: ({ removed_by_filter }) => formatNumber(removed_by_filter),
  },
  { id: "access", header: names.access, width: "minmax(10rem,1fr)", cell: ({ access }) => <Cut text={access} /> },
  {
    id: "model",
    header: names.model,
    width: "minmax(9rem,1fr)",
    cell: ({ embedding_model }) => <Cut text={embedding_model} />,
  },
];

function Name({ of: { repository_id: rid, collection_id: cid } }: { readonly of: Searched }) {
  const collection = useCollection({ rid, cid });
  return (
    <Link
      to="/collections/$rid/$cid"
      params={{ rid, cid }}
      className="truncate text-brand underline"
      title={`${rid} / ${cid}`}
    >
      <ShownName of={collection?.name ?? cid} />
    </Link>
  );
}

export function SearchedTable({ explain }: { readonly explain: NonNullable<ExplainedAnswer["explain"]> }) {
  return (
    <details open className="flex flex-col gap-2 rounded-lg border bg-panel p-3 text-sm">
      <summary className="w-fit cursor-pointer rounded font-medium">{s.searched}</summary>
      <DataTable
        label={s.searched}
        columns={columns}
        items={explain.collections}
        rowId={(one) => `${one.repository_id}/${one.collection_id}`}
        empty={<Empty title={s.none} />}
        className="mt-3 max-h-80 min-h-0"
      />
    </details>
  );
}

function Cut({ text }: { readonly text: string }) {
  return (
    <span className="truncate" title={text}>
      {text}
    </span>
  );
}
