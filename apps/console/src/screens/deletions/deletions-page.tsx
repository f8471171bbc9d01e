import { type Operation, operationStatuses } from "@pinakes/client";
import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useEvents } from "../../api/events.ts";
import { isOperation } from "../../api/jobs.ts";
import { operationListKey, operationListOptions, readOperation } from "../../api/operations.ts";
import { moreOf } from "../../api/page.ts";
import { itemsInPages, replaceInPages } from "../../api/pages-cache.ts";
import { useCollectionName } from "../../api/collection-names.ts";
import { deletionStrings as s } from "../../strings/deletions.ts";
import { DataTable } from "../../ui/data-table.tsx";
import { Select } from "../../ui/field.tsx";
import { FilterField } from "../../ui/filter-field.tsx";
import { Page } from "../../ui/panel.tsx";
import { Empty } from "../../ui/states.tsx";
import { LagPanel } from "./lag-panel.tsx";
import { operationColumns } from "./operation-columns.tsx";
import { OperationSheet } from "./operation-sheet.tsx";
import type { DeletionSearch } from "./routes.ts";

const route = getRouteApi("/shell/deletions");

export function DeletionsPage() {
  const { status, collection, operation } = route.useSearch();
  const navigate = route.useNavigate();
  const set = (next: DeletionSearch) => void navigate({ search: (old) => ({ ...old, ...next }), replace: true });
  const list = useInfiniteQuery(operationListOptions({ status, collection }));
  const nameOf = useCollectionName();
  useLiveOperations();
  const narrowed = status !== undefined || collection !== undefined;
  return (
    <Page title={s.title} about={s.about}>
      <LagPanel onOpen={(id) => set({ operation: id })} />
      <div className="flex flex-wrap items-end gap-3">
        <FilterField
          label={s.filters.collection}
          className="w-full sm:w-56"
          value={collection}
          onFilter={(next) => set({ collection: next })}
        />
        <Select
          label={s.filters.status}
          className="w-36"
          value={status ?? ""}
          choices={[
            { value: "", label: s.filters.anyStatus },
            ...operationStatuses.map((value) => ({ value, label: s.statuses[value] })),
          ]}
          onChoose={(next) => set({ status: operationStatuses.find((one) => one === next) })}
        />
      </div>
      <DataTable
        label={s.table}
        columns={operationColumns(nameOf)}
        items={list.data?.items}
        rowId={({ operation_id }) => operation_id}
        onOpen={({ operation_id }) => set({ operation: operation_id })}
        error={list.data === undefined ? list.error : undefined}
        onRetry={() => void list.refetch()}
        empty={<Empty title={narrowed ? s.nothing : s.empty}>{s.emptyAbout}</Empty>}
        more={moreOf(list)}
      />
      {operation !== undefined && <OperationSheet id={operation} onClose={() => set({ operation: undefined })} />}
    </Page>
  );
}

function useLiveOperations(): void {
  const client = useQueryClient();
  const look = async (id: string) => {
    const known = itemsInPages<Operation>(client, operationListKey).some(({ operation_id }) => operation_id === id);
    // A new one may not match the filters: the server decides.
    if (!known) return client.invalidateQueries({ queryKey: operationListKey });
    try {
      replaceInPages<Operation>(client, operationListKey, await readOperation(id), ({ operation_id }) => operation_id);
    } catch {
      // Deleted or unreachable: the list is refetched after a reconnect.
    }
  };
  useEvents(({ resource: { job_id }, data }) => {
    if (job_id !== undefined && isOperation(String(data["kind"]))) void look(job_id);
  });
}
