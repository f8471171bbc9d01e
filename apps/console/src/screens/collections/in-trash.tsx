import { useMutation, useQueryClient } from "@tanstack/react-query";
import { restoreCollection } from "../../api/collection-changes.ts";
import type { CollectionId } from "../../api/collections.ts";
import { formatDateTime } from "../../lib/format.ts";
import { collectionStrings } from "../../strings/collection.ts";
import { Button } from "../../ui/button.tsx";
import { ErrorBox } from "../../ui/states.tsx";
import { toast } from "../../ui/toast.tsx";

const s = collectionStrings.work;

interface Props {
  readonly until: string;
  readonly collection: CollectionId;
  readonly onRestored?: () => void;
}

export function InTrash({ until, collection, onRestored }: Props) {
  const client = useQueryClient();
  const restoring = useMutation({
    mutationFn: () => restoreCollection(collection),
    onSuccess: async () => {
      await Promise.all(
        [["collection", collection.rid, collection.cid], ["collections"]].map((queryKey) =>
          client.invalidateQueries({ queryKey }),
        ),
      );
      toast(s.restored);
      onRestored?.();
    },
  });
  return (
    <div className="flex flex-col gap-3 text-sm">
      <p>{s.restorable(formatDateTime(until))}</p>
      {restoring.error !== null && <ErrorBox error={restoring.error} />}
      <Button className="self-start" onClick={() => restoring.mutate()} disabled={restoring.isPending}>
        {s.restore}
      </Button>
    </div>
  );
}
