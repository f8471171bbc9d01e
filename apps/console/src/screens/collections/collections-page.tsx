import type { Collection } from "@pinakes/client";
import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import { collectionsOptions, repositoryCollectionsOptions } from "../../api/collections.ts";
import { moreOf } from "../../api/page.ts";
import { collectionsStrings as s } from "../../strings/collections.ts";
import { Button } from "../../ui/button.tsx";
import { DataTable, type Sorting } from "../../ui/data-table.tsx";
import { lazyPart } from "../../ui/lazy-part.tsx";
import { Page } from "../../ui/panel.tsx";
import { Total } from "../../ui/total.tsx";
import { Empty } from "../../ui/states.tsx";
import { collectionColumns } from "./collection-columns.tsx";
import { CollectionFilters } from "./collection-filters.tsx";
import { collectionSorts, type CollectionsSearch } from "./routes.ts";
import { useFreshCounts } from "./use-fresh-counts.ts";

const route = getRouteApi("/shell/collections");
const CreateWizard = lazyPart(async () => (await import("./form/create-wizard.tsx")).default, {
  whileLoading: () => null,
});

export function CollectionsPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { repository, new: creating, ...query } = search;
  const asked = { status: "live", include_total: "true", ...defined(query) };
  const list = useInfiniteQuery(
    repository === undefined ? collectionsOptions(asked) : repositoryCollectionsOptions(repository, asked),
  );
  useFreshCounts();
  const change = (next: Partial<CollectionsSearch>) =>
    void navigate({ search: (old) => ({ ...old, ...next }), replace: true });
  const open = ({ repository_id: rid, collection_id: cid, status }: Collection) => {
    // A collection that is being deleted has no page, but its operation has.
    if (status === "ACTIVE" || status === "ARCHIVED")
      void navigate({ to: "/collections/$rid/$cid", params: { rid, cid }, search: {} });
    else void navigate({ to: "/deletions", search: {} });
  };
  const create = (
    <Button look="main" onClick={() => change({ new: true })}>
      <Plus aria-hidden />
      {s.create}
    </Button>
  );
  return (
    <Page title={s.title} about={s.about} fill actions={create}>
      <CollectionFilters search={search} onChange={change} />
      <Total of={list.data?.total} words={s.total} />
      <DataTable
        label={s.table}
        className="max-h-none flex-1"
        columns={collectionColumns}
        items={list.data?.items}
        rowId={({ repository_id, collection_id, incarnation }) => `${repository_id}/${collection_id}/${incarnation}`}
        onOpen={open}
        sorting={search.sort === undefined ? undefined : { id: search.sort, desc: search.order === "desc" }}
        onSort={(sorting) => change(sortOf(sorting))}
        sortedByServer
        error={list.data === undefined ? list.error : undefined}
        onRetry={() => void list.refetch()}
        more={moreOf(list)}
        empty={
          isFiltered(search) ? <Empty title={s.nothing.title} /> : <Empty title={s.empty.title}>{s.empty.about}</Empty>
        }
      />
      {creating === true && <CreateWizard repository={repository} onClose={() => change({ new: undefined })} />}
    </Page>
  );
}

function sortOf(sorting: Sorting | undefined): Pick<CollectionsSearch, "sort" | "order"> {
  const sort = collectionSorts.find((one) => one === sorting?.id);
  return { sort, order: sort === undefined ? undefined : sorting?.desc === true ? "desc" : "asc" };
}

function isFiltered({ q, tag, repository, status }: CollectionsSearch): boolean {
  return [q, tag, repository, status].some((one) => one !== undefined);
}

function defined(query: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}
