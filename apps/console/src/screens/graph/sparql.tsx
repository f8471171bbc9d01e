/** SPARQL queries. The executed query is in the URL. */
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { Play } from "lucide-react";
import { useState } from "react";
import type { CollectionId } from "../../api/collections.ts";
import { askSparql } from "../../api/graph.ts";
import { formatNumber } from "../../lib/format.ts";
import { graphStrings } from "../../strings/graph.ts";
import { Button } from "../../ui/button.tsx";
import { CodeEditor } from "../../ui/code-editor.tsx";
import { Check } from "../../ui/field.tsx";
import { Menu } from "../../ui/menu.tsx";
import { Empty, ErrorBox, Loading, messageOf } from "../../ui/states.tsx";
import { SparqlResultView } from "./sparql-result.tsx";

const s = graphStrings.sparql;
const route = getRouteApi("/shell/graph");
/** Maximum rows per result. */
const rowsMax = 10_000;

export function Sparql({ id }: { readonly id: CollectionId }) {
  const { sparql, union } = route.useSearch();
  const navigate = route.useNavigate();
  const [kept, setKept] = useState({ of: sparql, text: sparql ?? sparqlExamples[0].query });
  // The URL changed, such as by browser navigation.
  if (kept.of !== sparql) setKept({ of: sparql, text: sparql ?? kept.text });
  const asked = useQuery({
    queryKey: ["triples", id.rid, id.cid, "sparql", sparql, union],
    queryFn: ({ signal }) => askSparql(id, sparql ?? "", { union, limit: rowsMax, signal }),
    enabled: sparql !== undefined,
  });
  const run = (text = kept.text) => {
    if (text.trim() === "") return;
    if (text === sparql) void asked.refetch();
    else void navigate({ search: (old) => ({ ...old, sparql: text }) });
  };
  return (
    <div className="flex min-w-0 flex-col gap-4">
      <CodeEditor
        label={s.label}
        language="sparql"
        value={kept.text}
        onChange={(text) => setKept({ of: sparql, text })}
        onRun={run}
        className="min-h-40"
      />
      <div className="flex flex-wrap items-center gap-3">
        <Button look="main" onClick={() => run()} disabled={asked.isFetching || kept.text.trim() === ""}>
          <Play aria-hidden />
          {s.run}
          <kbd className="hidden rounded border border-current px-1 font-sans text-xs sm:inline">{s.shortcut}</kbd>
        </Button>
        <Menu
          entries={sparqlExamples.map(({ name, query }) => ({
            label: name,
            onChoose: () => setKept({ of: sparql, text: query }),
          }))}
        >
          {s.examples}
        </Menu>
        <Check
          label={s.union}
          checked={union === true}
          onCheck={(checked) =>
            void navigate({ search: (old) => ({ ...old, union: checked ? true : undefined }), replace: true })
          }
        />
        <p className="text-xs text-soft">{s.limit(formatNumber(rowsMax))}</p>
      </div>
      <div aria-live="polite">
        {sparql === undefined ? (
          <Empty title={s.before} />
        ) : asked.error !== null ? (
          <SparqlError error={asked.error} query={sparql} />
        ) : asked.data === undefined ? (
          <Loading what={s.running} />
        ) : (
          <SparqlResultView
            result={asked.data}
            onTerm={(focus) => void navigate({ search: (old) => ({ ...old, tab: undefined, focus, open: [focus] }) })}
          />
        )}
      </div>
    </div>
  );
}

const { names } = graphStrings.sparql;

const sparqlExamples = [
  { name: names.some, query: "SELECT * {\n  ?s ?p ?o\n} LIMIT 20" },
  {
    name: names.types,
    query: "SELECT ?type (COUNT(*) AS ?things) {\n  ?thing a ?type\n}\nGROUP BY ?type ORDER BY DESC(?things) LIMIT 50",
  },
  {
    name: names.predicates,
    query: "SELECT ?p (COUNT(*) AS ?triples) {\n  ?s ?p ?o\n}\nGROUP BY ?p ORDER BY DESC(?triples) LIMIT 50",
  },
  {
    name: names.graphs,
    query:
      "SELECT ?g (COUNT(*) AS ?triples) {\n  GRAPH ?g { ?s ?p ?o }\n}\nGROUP BY ?g ORDER BY DESC(?triples) LIMIT 50",
  },
  { name: names.ask, query: "ASK { ?s ?p ?o }" },
  {
    name: names.construct,
    query:
      "PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>\nCONSTRUCT { ?s rdfs:label ?name }\nWHERE {\n  ?s ?p ?name\n  FILTER(isLiteral(?name))\n} LIMIT 50",
  },
] as const;

function SparqlError({ error, query }: { readonly error: unknown; readonly query: string }) {
  const place = /\bline (\d+), column (\d+)/.exec(messageOf(error));
  const line = place === null ? undefined : query.split("\n")[Number(place[1]) - 1];
  return (
    <div className="flex flex-col gap-2">
      <ErrorBox error={error} />
      {place !== null && line !== undefined && (
        <figure className="rounded-md border bg-panel p-3">
          <figcaption className="text-xs text-soft">{s.line(Number(place[1]), Number(place[2]))}</figcaption>
          <pre className="overflow-x-auto font-mono text-xs" tabIndex={0}>
            {line}
            {"\n"}
            <span aria-hidden className="text-bad">
              {" ".repeat(Math.min(line.length, Number(place[2]) - 1))}^
            </span>
          </pre>
        </figure>
      )}
    </div>
  );
}
