import { useState } from "react";
import type { Binding, SparqlResult } from "../../api/graph.ts";
import { termOfBound, termText } from "../../api/terms.ts";
import { graphStrings } from "../../strings/graph.ts";
import { Badge } from "../../ui/badge.tsx";
import { CodeEditor } from "../../ui/code-editor.tsx";
import { CopyButton } from "../../ui/copy-button.tsx";
import { DataTable, type Column } from "../../ui/data-table.tsx";
import { Select } from "../../ui/field.tsx";
import { Empty } from "../../ui/states.tsx";
import { TermView } from "./term-view.tsx";

const s = graphStrings.sparql;
/** Maximum characters in the editor; copying takes all. */
const rawCharsMax = 200_000;
const views = [
  { value: "table", label: s.asTable },
  { value: "raw", label: s.asRaw },
] as const;

interface ResultProps {
  readonly result: SparqlResult;
  readonly onTerm: (term: string) => void;
}

export function SparqlResultView({ result, onTerm }: ResultProps) {
  const [view, setView] = useState<"table" | "raw">("table");
  if (result.kind === "rdf")
    return <Raw label={s.rdf} text={result.text.trim() === "" ? s.rdfEmpty : result.text} language="text" />;
  return (
    <div className="flex min-w-0 flex-col gap-3">
      <Select label={s.view} value={view} choices={views} onChoose={setView} className="w-40" />
      {view === "raw" ? (
        <Raw
          label={s.result}
          text={JSON.stringify(result.kind === "rows" ? result.rows : { boolean: result.value }, null, 2)}
          language="json"
        />
      ) : result.kind === "boolean" ? (
        <p className="flex items-center gap-2 text-sm">
          <Badge tone={result.value ? "good" : "warn"}>{String(result.value)}</Badge>
          {result.value ? s.yes : s.no}
        </p>
      ) : (
        <Rows vars={result.vars} rows={result.rows} onTerm={onTerm} />
      )}
    </div>
  );
}

interface Row {
  readonly index: number;
  readonly binding: Binding;
}

function Rows({
  vars,
  rows,
  onTerm,
}: {
  readonly vars: readonly string[];
  readonly rows: readonly Binding[];
  readonly onTerm: (term: string) => void;
}) {
  const columns = vars.map((name): Column<Row> => ({
    id: name,
    header: `?${name}`,
    width: "minmax(11rem,1fr)",
    cell: ({ binding }) => {
      const bound = binding[name];
      if (bound === undefined) return <span className="text-soft">–</span>;
      const term = termOfBound(bound);
      return <TermView term={term} onChoose={term.type === "iri" ? () => onTerm(termText(term)) : undefined} />;
    },
  }));
  return (
    <DataTable
      label={s.rows}
      columns={columns}
      items={rows.map((binding, index) => ({ index, binding }))}
      rowId={({ index }) => String(index)}
      empty={<Empty title={s.none} />}
    />
  );
}

function Raw({
  label,
  text,
  language,
}: {
  readonly label: string;
  readonly text: string;
  readonly language: "json" | "text";
}) {
  return (
    <div className="flex min-w-0 flex-col gap-2">
      <div className="flex items-center gap-2">
        <p className="text-sm font-medium">{label}</p>
        <CopyButton text={text} />
      </div>
      <CodeEditor label={label} language={language} value={text.slice(0, rawCharsMax)} readOnly />
    </div>
  );
}
