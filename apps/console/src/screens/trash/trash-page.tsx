import type { Collection } from "@pinakes/client";
import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { refreshWork } from "../../api/refresh-work.ts";
import { deleteCollection, restoreCollection } from "../../api/collection-changes.ts";
import { collectionsOptions } from "../../api/collections.ts";
import { meOptions } from "../../api/identity.ts";
import { moreOf } from "../../api/page.ts";
import { formatBytes, formatNumber } from "../../lib/format.ts";
import { trashStrings as s } from "../../strings/trash.ts";
import { Button } from "../../ui/button.tsx";
import { Confirm } from "../../ui/confirm.tsx";
import { DataTable } from "../../ui/data-table.tsx";
import { FilterField } from "../../ui/filter-field.tsx";
import { Page, Panel } from "../../ui/panel.tsx";
import { Empty } from "../../ui/states.tsx";
import { toast, toastError } from "../../ui/toast.tsx";
import { PurgeReport } from "../collections/purge-report.tsx";
import { trashColumns } from "./trash-columns.tsx";

const route = getRouteApi("/shell/trash");

export function TrashPage() {
  const { q, operation } = route.useSearch();
  const navigate = route.useNavigate();
  const [purging, setPurging] = useState<Collection>();
  const me = useQuery(meOptions).data;
  const list = useInfiniteQuery(collectionsOptions({ status: "DELETED", q, sort: "updated_at", order: "desc" }));
  const restoring = useRestore();
  const change = (next: { readonly q?: string | undefined; readonly operation?: string | undefined }) =>
    void navigate({ search: (old) => ({ ...old, ...next }), replace: true });
  const columns = trashColumns({
    pending: restoring.isPending,
    mayPurge: me !== undefined && (me.role !== "user" || me.permissions.includes("purge")),
    onRestore: (collection) => restoring.mutate(collection),
    onPurge: setPurging,
  });
  return (
    <Page title={s.title} about={s.about} fill>
      <div role="search" className="max-w-sm">
        <FilterField label={s.filter} value={q} onFilter={(next) => change({ q: next })} />
      </div>
      {operation !== undefined && (
        <Panel
          title={s.purging}
          actions={
            <Button size="small" look="quiet" onClick={() => change({ operation: undefined })}>
              {s.hide}
            </Button>
          }
        >
          <PurgeReport operationId={operation} />
        </Panel>
      )}
      <DataTable
        label={s.table}
        className="max-h-none flex-1"
        columns={columns}
        items={list.data?.items}
        rowId={({ repository_id, collection_id, incarnation }) => `${repository_id}/${collection_id}/${incarnation}`}
        error={list.data === undefined ? list.error : undefined}
        onRetry={() => void list.refetch()}
        more={moreOf(list)}
        empty={q === undefined ? <Empty title={s.empty}>{s.emptyAbout}</Empty> : <Empty title={s.nothing} />}
      />
      {purging !== undefined && (
        <PurgeDialog
          collection={purging}
          onClose={() => setPurging(undefined)}
          onStarted={(started) => {
            setPurging(undefined);
            change({ operation: started });
          }}
        />
      )}
    </Page>
  );
}

/** Restores the selected incarnation, not the latest one with the id. */
function useRestore() {
  const client = useQueryClient();
  const navigate = useNavigate();
  return useMutation({
    mutationFn: ({ repository_id: rid, collection_id: cid, incarnation }: Collection) =>
      restoreCollection({ rid, cid }, incarnation),
    onSuccess: async ({ repository_id: rid, collection_id: cid, name }) => {
      toast(s.restored(name));
      await navigate({ to: "/collections/$rid/$cid", params: { rid, cid }, search: {} });
    },
    onError: (error) => toastError(s.restore, error),
    onSettled: () =>
      Promise.all([["collections"], ["collection"]].map((queryKey) => client.invalidateQueries({ queryKey }))),
  });
}

interface Props {
  readonly collection: Collection;
  readonly onClose: () => void;
  readonly onStarted: (operationId: string) => void;
}

function PurgeDialog({ collection, onClose, onStarted }: Props) {
  const client = useQueryClient();
  const {
    repository_id: rid,
    collection_id: cid,
    incarnation,
    name,
    document_count,
    chunk_count,
    total_size_bytes,
  } = collection;
  const purging = useMutation({
    mutationFn: () => deleteCollection({ rid, cid }, { purge: true, incarnation }),
    onSuccess: ({ job_id }) => onStarted(job_id),
    onSettled: () => Promise.all([client.invalidateQueries({ queryKey: ["collections"] }), refreshWork(client)]),
  });
  return (
    <Confirm
      open
      onClose={onClose}
      title={s.purgeTitle(name)}
      action={s.purge}
      typeName={name}
      onConfirm={() => purging.mutate()}
      pending={purging.isPending}
      error={purging.error}
    >
      <p>{s.contents(formatNumber(document_count), formatNumber(chunk_count), formatBytes(total_size_bytes))}</p>
      <p>{s.purgeAbout}</p>
    </Confirm>
  );
}
