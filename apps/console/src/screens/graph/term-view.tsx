import type { Term } from "@pinakes/client";
import { shortTerm, termText } from "../../api/terms.ts";

interface TermViewProps {
  readonly term: Term;
  /** The full IRI instead of its last segment. */
  readonly whole?: boolean;
  readonly onChoose?: (() => void) | undefined;
}

export function TermView({ term, whole = false, onChoose }: TermViewProps) {
  const text = whole && term.type === "iri" ? term.value : shortTerm(term);
  const kind = term.type === "literal" ? literalKind(term) : undefined;
  const shown = (
    <>
      <span className={term.type === "literal" ? "truncate" : "truncate font-mono text-xs"}>
        {term.type === "literal" ? `“${text}”` : text}
      </span>
      {kind !== undefined && <span className="shrink-0 text-xs text-soft">{kind}</span>}
    </>
  );
  if (onChoose === undefined)
    return (
      <span className="flex min-w-0 items-center gap-1.5" title={termText(term)}>
        {shown}
      </span>
    );
  return (
    <button
      type="button"
      className="flex min-w-0 items-center gap-1.5 rounded text-left text-brand hover:underline focus-visible:-outline-offset-1"
      title={termText(term)}
      onClick={(event) => {
        event.stopPropagation();
        onChoose();
      }}
    >
      {shown}
    </button>
  );
}

/** The language or the short name of the datatype. */
function literalKind({ language, datatype }: Extract<Term, { readonly type: "literal" }>): string | undefined {
  if (language !== undefined) return `@${language}`;
  return datatype === undefined ? undefined : shortTerm({ type: "iri", value: datatype });
}
