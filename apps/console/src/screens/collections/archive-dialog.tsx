import type { Collection } from "@pinakes/client";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { showBegunWork } from "../../api/begun-work.ts";
import { archiveCollection } from "../../api/collection-changes.ts";
import { collectionStrings } from "../../strings/collection.ts";
import { Confirm } from "../../ui/confirm.tsx";
import { toast } from "../../ui/toast.tsx";

const s = collectionStrings.actions;

export function ArchiveDialog({
  collection,
  onClose,
}: {
  readonly collection: Collection;
  readonly onClose: () => void;
}) {
  const client = useQueryClient();
  const { repository_id: rid, collection_id: cid, name, status } = collection;
  const archived = status === "ARCHIVED";
  const changing = useMutation({
    mutationFn: () => archiveCollection({ rid, cid }, archived ? "unarchive" : "archive", collection.etag),
    onSuccess: () => {
      toast(archived ? s.unarchived : s.archived);
      onClose();
    },
    // Closes on errors, too: the page shows what has changed.
    onSettled: () =>
      Promise.all([
        showBegunWork(client),
        ...[["collection", rid, cid], ["collections"]].map((queryKey) => client.invalidateQueries({ queryKey })),
      ]),
  });
  return (
    <Confirm
      open
      onClose={onClose}
      title={archived ? s.unarchiveTitle(name) : s.archiveTitle(name)}
      action={archived ? s.unarchive : s.archive}
      onConfirm={() => changing.mutate()}
      pending={changing.isPending}
      error={changing.error}
    >
      {archived ? s.unarchiveAbout : s.archiveAbout}
    </Confirm>
  );
}
