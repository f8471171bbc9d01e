import type { Document, DocumentTriple } from "@pinakes/client";
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useEffect } from "react";
import { triplesOptions } from "../../api/document-parts.ts";
import type { DocumentId } from "../../api/documents.ts";
import { moreOf } from "../../api/page.ts";
import { documentStrings } from "../../strings/documents.ts";
import { DataTable, type Column } from "../../ui/data-table.tsx";
import { Empty, Loading } from "../../ui/states.tsx";
import { documentLink } from "./links.ts";

const s = documentStrings.triples;

interface TriplesTabProps {
  readonly id: DocumentId;
  readonly document: Document;
}

export function TriplesTab({ id, document }: TriplesTabProps) {
  // The document has the number of triples: without any, the graph is not queried.
  return (document.graph?.triples ?? 0) === 0 ? nothing : <Triples id={id} document={document} />;
}

const nothing = <Empty title={s.nothing}>{s.nothingText}</Empty>;

function Triples({ id, document }: TriplesTabProps) {
  const list = useInfiniteQuery(triplesOptions(id, document));
  const { isFetching, fetchNextPage } = list;
  const more = moreOf(list);
  const items = list.data?.items;
  const nothingYet = items !== undefined && items.length === 0 && more.has;
  // Each page covers a part of the graph, which may contain no triples of this document.
  useEffect(() => {
    if (nothingYet && !isFetching) void fetchNextPage();
  }, [nothingYet, isFetching, fetchNextPage]);
  if (nothingYet || (items?.length === 0 && more.loading)) return <Loading what={s.looking} />;
  return (
    <DataTable
      label={s.label}
      columns={columnsOf(id)}
      items={items}
      rowId={({ s: subject, p, o, g }) => JSON.stringify([subject, p, o, g])}
      error={items === undefined ? list.error : undefined}
      onRetry={() => void list.refetch()}
      more={more}
      empty={nothing}
    />
  );
}

function columnsOf(id: DocumentId): readonly Column<DocumentTriple>[] {
  const term = (name: "s" | "p" | "o", header: string): Column<DocumentTriple> => ({
    id: name,
    header,
    width: "minmax(12rem,1fr)",
    cell: ({ [name]: { type, value } }) => (
      <span className="truncate" title={value}>
        {type === "literal" ? `“${value}”` : value}
      </span>
    ),
  });
  return [
    term("s", s.subject),
    term("p", s.predicate),
    term("o", s.object),
    {
      id: "from",
      header: s.from,
      width: "minmax(10rem,1fr)",
      cell: ({ passages }) => <From id={id} passages={passages} />,
    },
  ];
}

function From({ id, passages }: { readonly id: DocumentId; readonly passages: DocumentTriple["passages"] }) {
  return (
    <span className="flex gap-2 truncate">
      {passages.map(({ chunk_id, index }) => (
        <Link key={chunk_id} {...documentLink({ ...id, chunk: chunk_id })} className="text-brand underline">
          {documentStrings.chunks.number(index)}
        </Link>
      ))}
    </span>
  );
}
