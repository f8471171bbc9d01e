import type { Collection } from "@pinakes/client";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { showBegunWork } from "../../api/begun-work.ts";
import { deleteCollection } from "../../api/collection-changes.ts";
import { formatBytes, formatNumber } from "../../lib/format.ts";
import { trashStrings as s } from "../../strings/trash.ts";
import { Confirm } from "../../ui/confirm.tsx";

interface Props {
  readonly collection: Collection;
  readonly onClose: () => void;
  readonly onStarted: (operationId: string) => void;
}

export function PurgeDialog({ collection, onClose, onStarted }: Props) {
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
    onSettled: () => Promise.all([client.invalidateQueries({ queryKey: ["collections"] }), showBegunWork(client)]),
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
