/** The text with highlighted chunks, the list of chunks, and the selection. */
import type { Document } from "@pinakes/client";
import type { DocumentId } from "../../api/documents.ts";
import { documentStrings } from "../../strings/documents.ts";
import { Loading } from "../../ui/states.tsx";
import { ChosenPlace } from "./chosen-place.tsx";
import { DocumentText } from "./document-text.tsx";
import { ChunkList } from "./chunk-list.tsx";
import type { Place } from "./use-place.ts";

const s = documentStrings.chunks;

interface TextTabProps {
  readonly id: DocumentId;
  readonly document: Document;
  readonly place: Place;
}

export function TextTab({ id, document, place }: TextTabProps) {
  return (
    <div className="grid min-w-0 gap-4 lg:grid-cols-[minmax(0,1fr)_22rem]">
      <div className="flex min-w-0 flex-col gap-3">
        {place.gone && (
          <p role="alert" className="rounded-md bg-warn-soft p-3 text-sm text-warn">
            {s.gone}
          </p>
        )}
        {place.looking && place.span === undefined ? (
          <Loading what={s.looking} />
        ) : (
          <DocumentText id={id} document={document} place={place} />
        )}
      </div>
      <div className="flex min-w-0 flex-col gap-4">
        {place.span !== undefined && <ChosenPlace document={document} place={place} span={place.span} />}
        <ChunkList place={place} />
      </div>
    </div>
  );
}
