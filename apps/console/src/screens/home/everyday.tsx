/** The home page of users with collections. */
import type { Collection } from "@pinakes/client";
import { getRouteApi } from "@tanstack/react-router";
import { homeStrings as s } from "../../strings/home.ts";
import { Panel } from "../../ui/panel.tsx";
import { UploadList } from "../documents/upload-list.tsx";
import { AddDocuments } from "./add-documents.tsx";
import { Answers } from "./answers.tsx";
import { AskBox } from "./ask-box.tsx";
import { sampleId } from "./make-collection.ts";
import { RecentCollections } from "./recent-collections.tsx";
import { RecentDocuments } from "./recent-documents.tsx";
import { SampleButton } from "./sample-button.tsx";

const route = getRouteApi("/shell/");

export function Everyday({ collections }: { readonly collections: readonly Collection[] }) {
  const { q } = route.useSearch();
  const sample = collections.some(({ collection_id }) => collection_id === sampleId);
  return (
    <div className="flex flex-col gap-4">
      <Panel title={s.ask.label}>
        <AskBox questions={sample && q === undefined ? s.sample.questions : []}>
          <p className="text-xs text-soft">{s.ask.hint}</p>
        </AskBox>
        <div className="mt-3">
          <Answers />
        </div>
      </Panel>
      <Panel
        title={s.add.title}
        actions={sample ? undefined : <SampleButton look="quiet" label={s.steps.sampleAgain} />}
      >
        <AddDocuments collections={collections} />
      </Panel>
      <UploadList />
      <div className="grid min-w-0 gap-4 lg:grid-cols-2">
        <RecentCollections collections={collections} />
        <RecentDocuments collections={collections} />
      </div>
    </div>
  );
}
