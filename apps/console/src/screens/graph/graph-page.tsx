import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { collectionOfRef, refOf } from "../../api/collection-ref.ts";
import { collectionOptions, type CollectionId } from "../../api/collections.ts";
import { graphStrings as s } from "../../strings/graph.ts";
import { Button } from "../../ui/button.tsx";
import { Page } from "../../ui/panel.tsx";
import { Empty } from "../../ui/states.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { CollectionPicker } from "../search/collection-picker.tsx";
import { Explore } from "./explore.tsx";
import { LoadTriples } from "./load-triples.tsx";
import { Pattern } from "./pattern.tsx";
import { ProvenanceSheet } from "./provenance-sheet.tsx";
import { Sparql } from "./sparql.tsx";

const route = getRouteApi("/shell/graph");

export function GraphPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const id = search.in === undefined ? undefined : collectionOfRef(search.in);
  // A selection in one collection means nothing in another; the query may.
  const choose = (chosen: CollectionId) =>
    void navigate({ search: ({ tab, sparql, union }) => ({ in: refOf(chosen), tab, sparql, union }) });
  return (
    <Page
      title={s.title}
      about={s.about}
      actions={
        <div className="flex max-w-full flex-wrap items-end gap-2">
          <CollectionPicker label={s.collection} value={id} onChoose={choose} className="w-72 max-w-full" />
          {id !== undefined && <Load key={refOf(id)} id={id} />}
        </div>
      }
    >
      {id === undefined ? <Empty title={s.choose}>{s.chooseAbout}</Empty> : <Views key={refOf(id)} id={id} />}
    </Page>
  );
}

/** Requires write access. */
function Load({ id }: { readonly id: CollectionId }) {
  const [open, setOpen] = useState(false);
  const access = useQuery(collectionOptions(id)).data?.access;
  if (access !== "WRITE" && access !== "ADMIN") return null;
  return (
    <>
      <Button onClick={() => setOpen(true)}>{s.load.open}</Button>
      {open && <LoadTriples id={id} onClose={() => setOpen(false)} />}
    </>
  );
}

function Views({ id }: { readonly id: CollectionId }) {
  const { tab = "explore", triple } = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <>
      <Tabs
        label={s.tabs.label}
        value={tab}
        onChoose={(next) =>
          void navigate({ search: (old) => ({ ...old, tab: next === "explore" ? undefined : next }) })
        }
        tabs={[
          { value: "explore", label: s.tabs.explore, content: <Explore id={id} /> },
          { value: "pattern", label: s.tabs.pattern, content: <Pattern id={id} /> },
          { value: "sparql", label: s.tabs.sparql, content: <Sparql id={id} /> },
        ]}
      />
      <ProvenanceSheet
        id={id}
        triple={triple}
        onClose={() => void navigate({ search: (old) => ({ ...old, triple: undefined }), replace: true })}
      />
    </>
  );
}
