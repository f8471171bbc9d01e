import type { Collection } from "@pinakes/client";
import { useState, type ReactNode } from "react";
import { homeStrings } from "../../strings/home.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Panel } from "../../ui/panel.tsx";
import { UploadList } from "../documents/upload-list.tsx";
import { isOver, isProblem, useUploads, type Upload } from "../documents/upload-store.ts";
import { AddDocuments } from "./add-documents.tsx";
import { Answers } from "./answers.tsx";
import { AskBox } from "./ask-box.tsx";
import { sampleId } from "./make-collection.ts";
import { SampleButton } from "./sample-button.tsx";

const s = homeStrings.steps;

export function FirstSteps({ collections }: { readonly collections: readonly Collection[] }) {
  const uploads = useUploads();
  const ready = uploads.filter(({ state }) => state === "indexed").length;
  const sample = uploads.some(({ cid }) => cid === sampleId);
  return (
    <div className="flex flex-col gap-4">
      <PutIn collections={collections} added={uploads.length} />
      <Step title={s.index} done={uploads.length > 0 && ready === uploads.length}>
        <p role="status" className="text-sm text-soft">
          {indexWords(uploads, ready)}
        </p>
        {ready < uploads.length && <UploadList bare />}
      </Step>
      <Step title={s.ask} done={false}>
        <p className="mb-3 text-sm text-soft">{ready > 0 ? s.askReady : s.askWaiting}</p>
        <AskBox questions={sample && ready > 0 ? homeStrings.sample.questions : []} />
        <div className="mt-3">
          <Answers />
        </div>
      </Step>
    </div>
  );
}

/** Collapses once an upload starts, to make room for the next steps. */
function PutIn({ collections, added }: { readonly collections: readonly Collection[]; readonly added: number }) {
  const [more, setMore] = useState(false);
  if (added > 0 && !more)
    return (
      <Step title={s.add} done>
        <div className="flex flex-wrap items-center gap-3">
          <p className="text-sm text-soft">{s.added(added)}</p>
          <Button size="small" onClick={() => setMore(true)}>
            {s.addMore}
          </Button>
        </div>
      </Step>
    );
  return (
    <Step title={s.add} done={added > 0}>
      <p className="mb-3 text-sm text-soft">{s.addText}</p>
      <div className="flex flex-col items-start gap-3">
        <SampleButton look={added === 0 ? "main" : "plain"} label={s.sample} />
        <p className="text-sm text-soft">{s.or}</p>
        <AddDocuments collections={collections} />
      </div>
    </Step>
  );
}

function Step({
  title,
  done,
  children,
}: {
  readonly title: string;
  readonly done: boolean;
  readonly children: ReactNode;
}) {
  return (
    <Panel title={title} actions={done && <Badge tone="good">{s.done}</Badge>}>
      {children}
    </Panel>
  );
}

function indexWords(uploads: readonly Upload[], ready: number): string {
  if (uploads.length === 0) return s.indexWaiting;
  if (uploads.some(isProblem)) return s.indexProblems;
  return uploads.every(isOver) ? s.indexDone(ready) : s.indexing;
}
