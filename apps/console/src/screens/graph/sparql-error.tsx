import { graphStrings } from "../../strings/graph.ts";
import { ErrorBox, messageOf } from "../../ui/states.tsx";

const s = graphStrings.sparql;

export function SparqlError({ error, query }: { readonly error: unknown; readonly query: string }) {
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
