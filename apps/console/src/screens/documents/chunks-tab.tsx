import type { Chunk } from "@pinakes/client";
import { documentStrings } from "../../strings/documents.ts";
import { DataTable, type Column } from "../../ui/data-table.tsx";
import { Empty } from "../../ui/states.tsx";
import type { Selection } from "./use-selection.ts";

const s = documentStrings.chunks;
const previewChars = 300;

const columns: readonly Column<Chunk>[] = [
  { id: "number", header: s.title, width: "7rem", cell: ({ index }) => s.number(index) },
  { id: "page", header: s.page, width: "4rem", align: "right", cell: ({ page }) => page ?? "" },
  {
    id: "section",
    header: s.section,
    width: "minmax(8rem,1fr)",
    cell: ({ section = "" }) => (
      <span className="truncate" title={section}>
        {section}
      </span>
    ),
  },
  {
    id: "where",
    header: s.where,
    width: "13rem",
    cell: ({ start, end }) => <span className="text-soft">{s.characters(start, end)}</span>,
  },
  {
    id: "quote",
    header: s.quote,
    width: "minmax(16rem,3fr)",
    cell: ({ text }) => <span className="truncate">{text.slice(0, previewChars)}</span>,
  },
];

/** A row opens the text at its chunk. */
export function ChunksTab({ selection: { chunks, choose } }: { readonly selection: Selection }) {
  return (
    <DataTable
      label={s.label}
      columns={columns}
      items={chunks.items}
      rowId={({ chunk_id }) => chunk_id}
      onOpen={choose}
      error={chunks.error}
      onRetry={chunks.retry}
      more={chunks.more}
      empty={<Empty title={s.nothing}>{s.nothingText}</Empty>}
    />
  );
}
