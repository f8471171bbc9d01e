/** Triple patterns: blank fields match anything. Terms in the results lead to further patterns. */
import type { Triple } from "@pinakes/client";
import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import type { CollectionId } from "../../api/collections.ts";
import { triplesOptions, type TriplePattern } from "../../api/graph.ts";
import { moreOf } from "../../api/page.ts";
import { shortTerm, termText } from "../../api/terms.ts";
import { graphStrings } from "../../strings/graph.ts";
import { Button } from "../../ui/button.tsx";
import { DataTable, type Column } from "../../ui/data-table.tsx";
import { TextField } from "../../ui/field.tsx";
import { Empty } from "../../ui/states.tsx";
import { sameTriple } from "./around.ts";
import { TermView } from "./term-view.tsx";

const s = graphStrings.pattern;
const places = ["s", "p", "o", "g"] as const;
type Place = (typeof places)[number];
const route = getRouteApi("/shell/graph");

export function Pattern({ id }: { readonly id: CollectionId }) {
  const { s: subject, p, o, g } = route.useSearch();
  const pattern = { s: subject, p, o, g };
  const navigate = route.useNavigate();
  const ask = (next: TriplePattern) =>
    void navigate({ search: (old) => ({ ...old, s: next.s, p: next.p, o: next.o, g: next.g }) });
  const found = useInfiniteQuery(triplesOptions(id, pattern));
  const columns = columnsOf(
    (place, term) => ask({ ...pattern, [place]: term }),
    (triple) => void navigate({ search: (old) => ({ ...old, triple }) }),
  );
  return (
    <div className="flex min-w-0 flex-col gap-4">
      <Fields pattern={pattern} onAsk={ask} />
      <DataTable
        label={s.table}
        columns={columns}
        items={found.data?.items}
        rowId={sameTriple}
        empty={<Empty title={s.none}>{s.noneAbout}</Empty>}
        error={found.error}
        onRetry={() => void found.refetch()}
        more={moreOf(found)}
      />
    </div>
  );
}

function Fields({
  pattern,
  onAsk,
}: {
  readonly pattern: TriplePattern;
  readonly onAsk: (pattern: TriplePattern) => void;
}) {
  const key = JSON.stringify(pattern);
  const [kept, setKept] = useState({ of: key, draft: draftOf(pattern) });
  // A term was selected in the table, or by browser navigation.
  if (kept.of !== key) setKept({ of: key, draft: draftOf(pattern) });
  const { draft } = kept;
  const asked = () =>
    Object.fromEntries(
      places.map((place) => [place, draft[place].trim() === "" ? undefined : draft[place].trim()]),
    ) as TriplePattern;
  return (
    <form
      className="flex min-w-0 flex-wrap items-start gap-3"
      onSubmit={(event) => {
        event.preventDefault();
        onAsk(asked());
      }}
    >
      {places.map((place) => (
        <TextField
          key={place}
          label={s.fields[place]}
          hint={s.hints[place]}
          value={draft[place]}
          onChange={({ target }) => setKept({ of: key, draft: { ...draft, [place]: target.value } })}
          className="flex-1 basis-44"
          autoComplete="off"
          spellCheck={false}
        />
      ))}
      <div className="flex gap-2 self-start pt-[1.4rem]">
        <Button type="submit" look="main">
          {s.query}
        </Button>
        <Button
          onClick={() => {
            setKept({ of: key, draft: draftOf({}) });
            onAsk({});
          }}
        >
          {s.clear}
        </Button>
      </div>
    </form>
  );
}

function draftOf({ s: subject = "", p = "", o = "", g = "" }: TriplePattern): Readonly<Record<Place, string>> {
  return { s: subject, p, o, g };
}

function columnsOf(
  onTerm: (place: Place, term: string) => void,
  onSources: (triple: TriplePattern) => void,
): readonly Column<Triple>[] {
  const column = (place: "s" | "p" | "o"): Column<Triple> => ({
    id: place,
    header: s.fields[place],
    width: place === "p" ? "minmax(9rem,1fr)" : "minmax(12rem,2fr)",
    cell: ({ [place]: term }) => (
      <TermView term={term} onChoose={() => onTerm(place, termText(term))} whole={place === "s"} />
    ),
  });
  return [
    column("s"),
    column("p"),
    column("o"),
    {
      id: "g",
      header: s.fields.g,
      width: "minmax(7rem,1fr)",
      cell: ({ g }) =>
        g === null ? (
          <span className="text-soft">{s.defaultGraph}</span>
        ) : (
          <TermView term={g} onChoose={() => onTerm("g", termText(g))} />
        ),
    },
    {
      id: "sources",
      header: graphStrings.explore.sources,
      width: "7rem",
      cell: (triple) => <SourcesButton triple={triple} onSources={onSources} />,
    },
  ];
}

export function SourcesButton({
  triple,
  onSources,
}: {
  readonly triple: Triple;
  readonly onSources: (triple: TriplePattern) => void;
}) {
  const { sources, sourcesOf } = graphStrings.explore;
  return (
    <Button
      size="small"
      look="quiet"
      aria-label={sourcesOf([triple.s, triple.p, triple.o].map(shortTerm).join(" "))}
      onClick={(event) => {
        event.stopPropagation();
        onSources({
          s: termText(triple.s),
          p: termText(triple.p),
          o: termText(triple.o),
          g: triple.g === null ? undefined : termText(triple.g),
        });
      }}
    >
      {sources}
    </Button>
  );
}
