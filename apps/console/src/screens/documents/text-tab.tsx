/** The text with highlighted chunks, the list of chunks, and the selection. */
import type { Document } from "@pinakes/client";
import type { DocumentId } from "../../api/documents.ts";
import { documentStrings } from "../../strings/documents.ts";
import { Loading } from "../../ui/states.tsx";
import { SelectionPanel } from "./selection-panel.tsx";
import { DocumentText } from "./document-text.tsx";
import { ChunkList } from "./chunk-list.tsx";
import type { Selection } from "./use-selection.ts";

const s = documentStrings.chunks;

interface TextTabProps {
  readonly id: DocumentId;
  readonly document: Document;
  readonly selection: Selection;
}

export function TextTab({ id, document, selection }: TextTabProps) {
  return (
    <div className="grid min-w-0 gap-4 lg:grid-cols-[minmax(0,1fr)_22rem]">
      <div className="flex min-w-0 flex-col gap-3">
        {selection.gone && (
          <p role="alert" className="rounded-md bg-warn-soft p-3 text-sm text-warn">
            {s.gone}
          </p>
        )}
        {selection.looking && selection.span === undefined ? (
          <Loading what={s.looking} />
        ) : (
          <DocumentText id={id} document={document} selection={selection} />
        )}
      </div>
      <div className="flex min-w-0 flex-col gap-4">
        {selection.span !== undefined && (
          <SelectionPanel document={document} selection={selection} span={selection.span} />
        )}
        <ChunkList selection={selection} />
      </div>
    </div>
  );
}
