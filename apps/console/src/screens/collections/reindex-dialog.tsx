import type { Collection } from "@pinakes/client";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { refreshWork } from "../../api/refresh-work.ts";
import { reindexCollection } from "../../api/collection-changes.ts";
import { formatNumber } from "../../lib/format.ts";
import { collectionStrings } from "../../strings/collection.ts";
import { Confirm } from "../../ui/confirm.tsx";

const { actions: s, counts } = collectionStrings;

interface Props {
  readonly collection: Collection;
  readonly onClose: () => void;
  readonly onStarted: (jobId: string) => void;
}

export function ReindexDialog({
  collection: { repository_id: rid, collection_id: cid, name, document_count },
  onClose,
  onStarted,
}: Props) {
  const client = useQueryClient();
  const starting = useMutation({
    mutationFn: () => reindexCollection({ rid, cid }),
    onSuccess: ({ job_id }) => {
      void refreshWork(client);
      onStarted(job_id);
    },
  });
  return (
    <Confirm
      open
      onClose={onClose}
      title={s.reindexTitle(name)}
      action={s.reindex}
      onConfirm={() => starting.mutate()}
      pending={starting.isPending}
      error={starting.error}
    >
      {s.reindexAbout(counts.documents(document_count, formatNumber(document_count)))}
    </Confirm>
  );
}
