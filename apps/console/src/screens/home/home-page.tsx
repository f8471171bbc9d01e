/** New users get the first steps, others can search and add documents. */
import type { Collection } from "@pinakes/client";
import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { collectionsOptions } from "../../api/collections.ts";
import { homeStrings as s } from "../../strings/home.ts";
import { Page, Panel } from "../../ui/panel.tsx";
import { Pending } from "../../ui/states.tsx";
import { useFreshCounts } from "../collections/use-fresh-counts.ts";
import { UploadList } from "../documents/upload-list.tsx";
import { AddDocuments } from "./add-documents.tsx";
import { Answers } from "./answers.tsx";
import { AskBox } from "./ask-box.tsx";
import { FirstSteps } from "./first-steps.tsx";
import { sampleId } from "./make-collection.ts";
import { RecentCollections } from "./recent-collections.tsx";
import { RecentDocuments } from "./recent-documents.tsx";
import { SampleButton } from "./sample-button.tsx";

export function HomePage() {
  const collections = useInfiniteQuery(collectionsOptions({ sort: "last_used_at", order: "desc" }));
  const items = collections.data?.items;
  useFreshCounts();
  // Users who started with the first steps keep them after their collection exists.
  const [first, setFirst] = useState(false);
  if (items?.length === 0 && !first) setFirst(true);
  if (items === undefined)
    return (
      <Page title={s.title} about={s.about}>
        <Pending of={collections} />
      </Page>
    );
  return (
    <Page title={first ? s.firstTitle : s.title} about={first ? s.firstAbout : s.about}>
      {first ? <FirstSteps collections={items} /> : <Everyday collections={items} />}
    </Page>
  );
}

const route = getRouteApi("/shell/");

function Everyday({ collections }: { readonly collections: readonly Collection[] }) {
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
