/** The graph path: matched entities, edges from them, and their source chunks. */
import type { GraphEdge, GraphEntity } from "@pinakes/client";
import { Link } from "@tanstack/react-router";
import { refOf } from "../../api/collection-ref.ts";
import type { ExplainedAnswer } from "../../api/explained-search.ts";
import { shortTerm, termText } from "../../api/terms.ts";
import { searchStrings } from "../../strings/search.ts";
import { Badge } from "../../ui/badge.tsx";
import { ShownName } from "../../ui/name.tsx";
import { documentLink } from "../documents/links.ts";
import { numberText } from "./score-bars.tsx";

const s = searchStrings.graph;

export function GraphPart({ graph }: { readonly graph: NonNullable<ExplainedAnswer["graph"]> }) {
  const { entities, edges } = graph;
  if (entities.length === 0 && edges.length === 0) return null;
  return (
    <details className="rounded-lg border bg-panel p-3 text-sm">
      <summary className="w-fit cursor-pointer rounded font-medium">{s.title}</summary>
      <div className="mt-3 flex flex-col gap-3">
        <p className="text-xs font-medium text-soft">{s.entities}</p>
        <ul className="flex flex-wrap gap-2">
          {entities.map((one) => (
            <Entity key={`${one.repository_id}/${one.collection_id}/${one.entity.value}`} of={one} />
          ))}
        </ul>
        <p className="text-xs font-medium text-soft">{s.edges}</p>
        <ul className="flex max-h-80 flex-col gap-2 overflow-auto" tabIndex={0} aria-label={s.edges}>
          {edges.map((edge) => (
            <Edge
              key={[edge.collection_id, edge.s.value, edge.p.value, edge.o.value, edge.g?.value].join("\n")}
              edge={edge}
            />
          ))}
        </ul>
      </div>
    </details>
  );
}

function Entity({
  of: { repository_id: rid, collection_id: cid, entity, words, score },
}: {
  readonly of: GraphEntity;
}) {
  return (
    <li className="flex min-w-0 items-center gap-1.5 rounded bg-raised px-2 py-1">
      <Link
        to="/graph"
        search={{ in: refOf({ rid, cid }), focus: termText(entity) }}
        className="truncate text-brand underline"
        title={entity.value}
      >
        {shortTerm(entity)}
      </Link>
      <span className="text-xs text-soft">
        {s.words(words)} {numberText(score)}
      </span>
    </li>
  );
}

function Edge({ edge }: { readonly edge: GraphEdge }) {
  const { repository_id: rid, collection_id: cid, sources, hop, score } = edge;
  return (
    <li className="flex flex-col gap-1 border-b pb-2 last:border-b-0">
      <p className="flex flex-wrap items-center gap-x-2 break-words">
        <span className="break-all">{shortTerm(edge.s)}</span>
        <span className="text-soft">{shortTerm(edge.p)}</span>
        <span className="break-all">{shortTerm(edge.o)}</span>
        <Badge>{s.hop(hop)}</Badge>
        <span className="text-xs text-soft tabular-nums">{numberText(score)}</span>
      </p>
      <p className="flex flex-wrap gap-x-3 text-xs">
        {sources.length === 0 && <span className="text-soft">{s.asserted}</span>}
        {sources.map(({ document_id: did, chunk_id: chunk, filename, start, end }) => (
          <Link
            key={chunk}
            {...documentLink({ rid, cid, did, chunk, start, end })}
            className="max-w-full truncate text-brand underline"
          >
            <ShownName of={filename} />
          </Link>
        ))}
      </p>
    </li>
  );
}
