import type { Operation } from "@pinakes/client";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { operationDetailOptions, operationListKey, retryOperation } from "../../api/operations.ts";
import { replaceInPages } from "../../api/pages-cache.ts";
import { formatDateTime } from "../../lib/format.ts";
import { deletionStrings } from "../../strings/deletions.ts";
import { Status } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Facts } from "../../ui/panel.tsx";
import { ErrorBox, Pending } from "../../ui/states.tsx";
import { toast } from "../../ui/toast.tsx";
import { actionOf } from "./operation-columns.tsx";
import { StoreTable } from "./store-table.tsx";

const s = deletionStrings.detail;

export function OperationSheet({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const { data, error, refetch } = useQuery(operationDetailOptions(id));
  const title = data === undefined ? "…" : s.title(actionOf(data.action), data.collection_id);
  return (
    <Dialog open onClose={onClose} title={title} place="side">
      {data === undefined ? <Pending of={{ error, refetch }} /> : <Report operation={data} />}
    </Dialog>
  );
}

function Report({ operation }: { readonly operation: Operation }) {
  const { operation_id, status, partial, created_by, created_at, finished_at, incarnation, stores } = operation;
  return (
    <div className="flex flex-col gap-5">
      <Facts
        of={[
          [
            s.id,
            <code key="id" className="font-mono text-xs">
              {operation_id}
            </code>,
          ],
          [
            s.incarnation,
            <code key="life" className="font-mono text-xs">
              {incarnation}
            </code>,
          ],
          [s.status, <Status key="status" value={status} />],
          [s.by, created_by],
          [s.started, formatDateTime(created_at)],
          ...(finished_at === null ? [] : [[s.finished, formatDateTime(finished_at)] as const]),
        ]}
      />
      {partial && <p className="rounded-md bg-warn-soft p-3 text-sm text-warn">{s.partialAbout}</p>}
      <section className="flex min-w-0 flex-col gap-3">
        <h2 className="text-sm font-semibold">{s.stores}</h2>
        <StoreTable stores={stores} />
      </section>
      {status !== "done" && <Retry operation={operation} />}
    </div>
  );
}

function Retry({ operation: { operation_id, status } }: { readonly operation: Operation }) {
  const client = useQueryClient();
  const retrying = useMutation({
    mutationFn: () => retryOperation(operation_id),
    onSuccess: (now) => {
      client.setQueryData(operationDetailOptions(operation_id).queryKey, now);
      replaceInPages<Operation>(client, operationListKey, now, (row) => row.operation_id);
      toast(s.retried);
    },
    onSettled: () => client.invalidateQueries({ queryKey: ["operations"] }),
  });
  return (
    <div className="flex flex-col items-start gap-3">
      {retrying.error !== null && <ErrorBox error={retrying.error} />}
      <div className="flex flex-wrap items-center gap-3">
        <Button disabled={retrying.isPending} onClick={() => retrying.mutate()}>
          {s.retry}
        </Button>
        {status === "failed" && <p className="text-xs text-soft">{s.failedAbout}</p>}
      </div>
    </div>
  );
}
