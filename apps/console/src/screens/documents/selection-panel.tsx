/** The selected range, and its citation. */
import type { Chunk, Citation, Document } from "@pinakes/client";
import { documentStrings } from "../../strings/documents.ts";
import { Button } from "../../ui/button.tsx";
import { CopyButton } from "../../ui/copy-button.tsx";
import { Facts, Panel } from "../../ui/panel.tsx";
import { foundIn } from "../search/found-words.ts";
import type { Span } from "./text-marks.ts";
import type { Selection } from "./use-selection.ts";

const s = documentStrings.chunks;

interface SelectionPanelProps {
  readonly document: Document;
  readonly selection: Selection;
  readonly span: Span;
}

export function SelectionPanel({ document, selection: { chosen, choose, words }, span }: SelectionPanelProps) {
  const { page, section } = chosen ?? {};
  const found = foundIn(chosen?.text ?? "", words);
  return (
    <Panel
      title={chosen === undefined ? s.chosen : s.number(chosen.index)}
      actions={
        <Button size="small" look="quiet" onClick={() => choose(undefined)}>
          {s.clear}
        </Button>
      }
    >
      <Facts
        of={[
          [s.where, s.characters(span.start, span.end)],
          ...(found.length === 0 ? [] : [[s.foundWords, found.join(", ")] as const]),
          ...(page === undefined ? [] : [[s.page, page] as const]),
          ...(section === undefined ? [] : [[s.section, section] as const]),
        ]}
      />
      {chosen !== undefined && (
        <div className="mt-2 -ml-2">
          <CopyButton text={JSON.stringify(citationOf(document, chosen), undefined, 2)} label={s.copyCitation} />
        </div>
      )}
    </Panel>
  );
}

/** In the form of searches and POST /v1/citations:verify. */
function citationOf(
  { repository_id, collection_id, document_id, name, live_version, version }: Document,
  chunk: Chunk,
): Citation {
  const { page, section, start, end, text } = chunk;
  return {
    repository_id,
    collection_id,
    document_id,
    filename: name,
    version: live_version ?? version,
    ...(page === undefined ? {} : { page }),
    ...(section === undefined ? {} : { section }),
    start,
    end,
    quote: text,
  };
}
