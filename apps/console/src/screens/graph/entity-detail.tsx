/** Incoming and outgoing triples of an entity: the graph's data for keyboards and screen readers. */
import type { Triple } from "@pinakes/client";
import type { TriplePattern } from "../../api/graph.ts";
import { readTerm, shortTerm, termText } from "../../api/terms.ts";
import { graphStrings } from "../../strings/graph.ts";
import { Button } from "../../ui/button.tsx";
import { CopyButton } from "../../ui/copy-button.tsx";
import { DataTable, type Column } from "../../ui/data-table.tsx";
import { Empty } from "../../ui/states.tsx";
import { aroundTriplesMax, isEntity, nameIn, sameTriple, type Around } from "./around.ts";
import { SourcesButton } from "./pattern.tsx";
import { TermView } from "./term-view.tsx";

const s = graphStrings.explore;

interface EntityDetailProps {
  readonly around: Around;
  readonly onChoose: (term: string) => void;
  readonly onSeeAll: (pattern: TriplePattern) => void;
  readonly onSources: (triple: TriplePattern) => void;
}

export function EntityDetail({ around, onChoose, onSeeAll, onSources }: EntityDetailProps) {
  const { term, out, into, outCut, intoCut } = around;
  const own = readTerm(term);
  const sources: Column<Triple> = {
    id: "sources",
    header: s.sources,
    width: "5.5rem",
    cell: (triple) => <SourcesButton triple={triple} onSources={onSources} />,
  };
  const property: Column<Triple> = {
    id: "p",
    header: s.outColumns.p,
    width: "minmax(5rem,1fr)",
    cell: ({ p }) => <TermView term={p} />,
  };
  const entity = (place: "s" | "o", header: string): Column<Triple> => ({
    id: place,
    header,
    width: "minmax(6rem,2fr)",
    cell: ({ [place]: one }) => (
      <TermView term={one} onChoose={isEntity(one) ? () => onChoose(termText(one)) : undefined} />
    ),
  });
  return (
    <section className="flex min-w-0 flex-col gap-3" aria-label={nameIn(out) ?? term}>
      <div className="flex flex-col gap-1">
        <h2 className="text-base font-semibold break-words">
          {nameIn(out) ?? (own === undefined ? term : shortTerm(own))}
        </h2>
        <p className="flex flex-wrap items-center gap-2 font-mono text-xs break-all text-soft">
          {own?.value ?? term}
          <CopyButton text={own?.value ?? term} />
        </p>
      </div>
      <Side
        title={s.out}
        columns={[property, entity("o", s.outColumns.o), sources]}
        items={out}
        cut={outCut}
        onSeeAll={() => onSeeAll({ s: term })}
      />
      <Side
        title={s.into}
        columns={[entity("s", s.inColumns.s), property, sources]}
        items={into}
        cut={intoCut}
        onSeeAll={() => onSeeAll({ o: term })}
      />
    </section>
  );
}

interface SideProps {
  readonly title: string;
  readonly columns: readonly Column<Triple>[];
  readonly items: readonly Triple[];
  readonly cut: boolean;
  readonly onSeeAll: () => void;
}

function Side({ title, columns, items, cut, onSeeAll }: SideProps) {
  return (
    <div className="flex min-w-0 flex-col gap-1">
      <h3 className="text-sm font-medium">{title}</h3>
      <DataTable
        label={title}
        columns={columns}
        items={items}
        rowId={sameTriple}
        empty={<Empty title={s.nothing} />}
        className="max-h-80 min-h-0"
      />
      {cut && (
        <p className="flex items-center gap-2 text-xs text-soft">
          {s.truncated(aroundTriplesMax)}
          <Button size="small" look="quiet" onClick={onSeeAll}>
            {s.seeAll}
          </Button>
        </p>
      )}
    </div>
  );
}
