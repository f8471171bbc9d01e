import type { Collection } from "@pinakes/client";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { refreshWork } from "../../api/refresh-work.ts";
import { deleteAllDocuments } from "../../api/collection-changes.ts";
import { formatNumber } from "../../lib/format.ts";
import { collectionStrings } from "../../strings/collection.ts";
import { Confirm } from "../../ui/confirm.tsx";

const { actions: s, counts } = collectionStrings;

interface Props {
  readonly collection: Collection;
  readonly onClose: () => void;
  readonly onStarted: (jobId: string) => void;
}

export function DeleteDocumentsDialog({
  collection: { repository_id: rid, collection_id: cid, name, document_count },
  onClose,
  onStarted,
}: Props) {
  const client = useQueryClient();
  const starting = useMutation({
    mutationFn: () => deleteAllDocuments({ rid, cid }),
    onSuccess: ({ job_id }) => {
      void refreshWork(client);
      onStarted(job_id);
    },
  });
  return (
    <Confirm
      open
      onClose={onClose}
      title={s.deleteDocumentsTitle(name)}
      action={s.deleteDocuments}
      typeName={name}
      onConfirm={() => starting.mutate()}
      pending={starting.isPending}
      error={starting.error}
    >
      {s.deleteDocumentsAbout(counts.documents(document_count, formatNumber(document_count)))}
    </Confirm>
  );
}
