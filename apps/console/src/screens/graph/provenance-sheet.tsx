import type { Provenance } from "@pinakes/client";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { FileText } from "lucide-react";
import type { CollectionId } from "../../api/collections.ts";
import { provenanceOptions, type TriplePattern } from "../../api/graph.ts";
import { graphStrings } from "../../strings/graph.ts";
import { buttonClass } from "../../ui/button.tsx";
import { CodeEditor } from "../../ui/code-editor.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { ShownName } from "../../ui/name.tsx";
import { Facts } from "../../ui/panel.tsx";
import { ErrorBox, Loading } from "../../ui/states.tsx";
import { documentLink } from "../documents/links.ts";
import { TermView } from "./term-view.tsx";

const s = graphStrings.provenance;

interface SheetProps {
  readonly id: CollectionId;
  readonly triple: TriplePattern | undefined;
  readonly onClose: () => void;
}

export function ProvenanceSheet({ id, triple, onClose }: SheetProps) {
  return (
    <Dialog open={triple !== undefined} onClose={onClose} title={s.title} place="side">
      {triple !== undefined && <Sources id={id} triple={triple} />}
    </Dialog>
  );
}

function Sources({ id, triple }: { readonly id: CollectionId; readonly triple: TriplePattern }) {
  const { data, error, refetch } = useQuery(provenanceOptions(id, triple));
  if (error !== null) return <ErrorBox error={error} onRetry={() => void refetch()} />;
  return data === undefined ? <Loading /> : <Shown id={id} of={data} />;
}

function Shown({
  id,
  of: { triple, asserted, sources, prov },
}: {
  readonly id: CollectionId;
  readonly of: Provenance;
}) {
  return (
    <div className="flex flex-col gap-4">
      <Facts
        of={[
          [s.subject, <TermView key="s" term={triple.s} whole />],
          [s.predicate, <TermView key="p" term={triple.p} whole />],
          [s.object, <TermView key="o" term={triple.o} whole />],
          ...(triple.g === null ? [] : [[s.graph, <TermView key="g" term={triple.g} whole />] as const]),
        ]}
      />
      <p className="text-sm">{asserted ? s.asserted : s.sources(sources.length)}</p>
      <ul className="flex flex-col gap-3 empty:hidden">
        {sources.map((source) => (
          <Source key={source.chunk_id} id={id} source={source} />
        ))}
      </ul>
      <details>
        <summary className="w-fit cursor-pointer rounded text-sm text-soft">{s.prov}</summary>
        <CodeEditor label={s.prov} language="json" value={JSON.stringify(prov, null, 2)} readOnly className="mt-2" />
      </details>
    </div>
  );
}

function Source({ id, source }: { readonly id: CollectionId; readonly source: Provenance["sources"][number] }) {
  const { document_id: did, chunk_id: chunk, filename, version, page, start, end, quote } = source;
  return (
    <li className="flex flex-col gap-2 rounded-md border p-3 text-sm">
      <p className="font-medium break-words">
        <ShownName of={filename} />
      </p>
      <p className="text-xs text-soft">
        {[s.version(version), ...(page === undefined ? [] : [s.page(page)])].join(" · ")}
      </p>
      <blockquote className="max-h-60 overflow-auto border-l-2 pl-3 break-words whitespace-pre-wrap" tabIndex={0}>
        {quote}
      </blockquote>
      <Link
        {...documentLink({ ...id, did, chunk, start, end })}
        className={buttonClass("plain", "small", "self-start")}
      >
        <FileText aria-hidden />
        {s.open}
      </Link>
    </li>
  );
}
