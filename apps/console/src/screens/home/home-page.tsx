/** New users get the first steps, others can search and add documents. */
import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import { collectionsOptions } from "../../api/collections.ts";
import { homeStrings as s } from "../../strings/home.ts";
import { Page } from "../../ui/panel.tsx";
import { ErrorBox, Loading } from "../../ui/states.tsx";
import { useFreshCounts } from "../collections/use-fresh-counts.ts";
import { Everyday } from "./everyday.tsx";
import { FirstSteps } from "./first-steps.tsx";

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
        {collections.error === null ? (
          <Loading />
        ) : (
          <ErrorBox error={collections.error} onRetry={() => void collections.refetch()} />
        )}
      </Page>
    );
  return (
    <Page title={first ? s.firstTitle : s.title} about={first ? s.firstAbout : s.about}>
      {first ? <FirstSteps collections={items} /> : <Everyday collections={items} />}
    </Page>
  );
}
