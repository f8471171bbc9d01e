import { useQuery } from "@tanstack/react-query";
import { Search } from "lucide-react";
import { useState } from "react";
import type { CollectionId } from "../../api/collections.ts";
import { shortTerm, termText } from "../../api/terms.ts";
import { formatNumber } from "../../lib/format.ts";
import { graphStrings } from "../../strings/graph.ts";
import { Button } from "../../ui/button.tsx";
import { DataTable, type Column } from "../../ui/data-table.tsx";
import { TextField } from "../../ui/field.tsx";
import { Empty } from "../../ui/states.tsx";
import { entitiesOptions, type FoundEntity } from "./find-entities.ts";

const s = graphStrings.explore;

const columns: readonly Column<FoundEntity>[] = [
  {
    id: "entity",
    header: s.columns.entity,
    width: "minmax(12rem,1fr)",
    cell: ({ term }) => (
      <span className="truncate font-mono text-xs" title={term.value}>
        {shortTerm(term)}
      </span>
    ),
  },
  {
    id: "name",
    header: s.columns.name,
    width: "minmax(12rem,2fr)",
    cell: ({ text }) => <span className="truncate">{text ?? ""}</span>,
  },
  {
    id: "triples",
    header: s.columns.triples,
    width: "7rem",
    align: "right",
    cell: ({ triples }) => (triples === undefined ? "" : formatNumber(triples)),
  },
];

interface EntityListProps {
  readonly id: CollectionId;
  readonly find: string | undefined;
  readonly onFind: (words: string | undefined) => void;
  readonly onChoose: (term: string) => void;
}

export function EntityList({ id, find, onFind, onChoose }: EntityListProps) {
  const { data, error, refetch } = useQuery(entitiesOptions(id, find));
  const title = find !== undefined ? s.matches(find) : data?.partly === true ? s.firstOnes : s.mostUsed;
  return (
    <div className="flex min-w-0 flex-col gap-4">
      <FindForm find={find} onFind={onFind} />
      <h2 className="text-sm font-semibold break-words">{title}</h2>
      <DataTable
        label={title}
        columns={columns}
        items={data?.entities}
        rowId={({ term }) => termText(term)}
        onOpen={({ term }) => onChoose(termText(term))}
        empty={<Empty title={s.none}>{find === undefined ? s.noneAbout : s.noneFoundAbout}</Empty>}
        error={error}
        onRetry={() => void refetch()}
      />
    </div>
  );
}

function FindForm({ find, onFind }: Pick<EntityListProps, "find" | "onFind">) {
  const [kept, setKept] = useState({ of: find, words: find ?? "" });
  // Changed by browser navigation.
  if (kept.of !== find) setKept({ of: find, words: find ?? "" });
  const { words } = kept;
  return (
    <form
      role="search"
      className="flex items-end gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        onFind(words.trim() === "" ? undefined : words.trim());
      }}
    >
      <TextField
        label={s.find}
        placeholder={s.findExample}
        type="search"
        value={words}
        onChange={({ target }) => setKept({ of: find, words: target.value })}
        maxLength={200}
        className="max-w-md flex-1"
      />
      <Button type="submit">
        <Search aria-hidden />
        {s.search}
      </Button>
    </form>
  );
}
