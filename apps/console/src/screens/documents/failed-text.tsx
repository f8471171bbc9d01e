/** A document that failed at embedding may still have a text. Loaded on request. */
import type { Document } from "@pinakes/client";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { sourceTextOptions } from "../../api/document-parts.ts";
import type { DocumentId } from "../../api/documents.ts";
import { formatNumber } from "../../lib/format.ts";
import { documentStrings } from "../../strings/documents.ts";
import { Button } from "../../ui/button.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Empty, ErrorBox, Loading } from "../../ui/states.tsx";

const { chunks: words, text: s } = documentStrings;

export function FailedText({ id, document }: { readonly id: DocumentId; readonly document: Document }) {
  const [asked, setAsked] = useState(false);
  return (
    <div className="flex flex-col gap-4">
      <Empty title={words.failed} action={!asked && <Button onClick={() => setAsked(true)}>{s.showSource}</Button>}>
        {words.failedText}
      </Empty>
      {asked && <Source id={id} document={document} />}
    </div>
  );
}

function Source({ id, document }: { readonly id: DocumentId; readonly document: Document }) {
  const source = useQuery(sourceTextOptions(id, document));
  if (source.error !== null) return <ErrorBox error={source.error} onRetry={() => void source.refetch()} />;
  if (source.data === undefined) return <Loading what={s.loading} />;
  const { text, start, end, length } = source.data;
  if (text === "") return <Empty title={s.nothing} />;
  return (
    <Panel title={s.source}>
      <div
        role="region"
        aria-label={s.label}
        tabIndex={0}
        className="max-h-[68dvh] max-w-prose overflow-y-auto leading-6 break-words whitespace-pre-wrap"
      >
        {text}
      </div>
      <p className="mt-2 text-xs text-soft">{s.range(formatNumber(start), formatNumber(end), formatNumber(length))}</p>
    </Panel>
  );
}
