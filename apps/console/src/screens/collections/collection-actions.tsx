import type { Collection } from "@pinakes/client";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Archive, ArchiveRestore, FileX, Pencil, RefreshCw, Search, Trash2 } from "lucide-react";
import { useState } from "react";
import { refreshWork } from "../../api/refresh-work.ts";
import { archiveCollection } from "../../api/collection-changes.ts";
import { collectionStrings } from "../../strings/collection.ts";
import { Button, buttonClass } from "../../ui/button.tsx";
import { Confirm } from "../../ui/confirm.tsx";
import { Menu, type MenuEntry } from "../../ui/menu.tsx";
import { toast } from "../../ui/toast.tsx";
import { DeleteDialog } from "./delete-dialog.tsx";
import { DeleteDocumentsDialog } from "./delete-documents-dialog.tsx";
import { labSearch } from "./lab-search.ts";
import { ReindexDialog } from "./reindex-dialog.tsx";
import type { CollectionSearch } from "./routes.ts";

const s = collectionStrings.actions;

interface Props {
  readonly collection: Collection;
  readonly onChange: (next: Partial<CollectionSearch>) => void;
}

export function CollectionActions({ collection, onChange }: Props) {
  const [asked, setAsked] = useState<"archive" | "reindex" | "documents" | "delete">();
  const { access, status, document_count, repository_id: rid, collection_id: cid } = collection;
  const mayChange = access === "ADMIN";
  const archived = status === "ARCHIVED";
  const entries: readonly MenuEntry[] = [
    {
      label: archived ? s.unarchive : s.archive,
      icon: archived ? <ArchiveRestore aria-hidden /> : <Archive aria-hidden />,
      disabled: !mayChange,
      onChoose: () => setAsked("archive"),
    },
    {
      label: s.reindex,
      icon: <RefreshCw aria-hidden />,
      disabled: !mayChange || archived,
      onChoose: () => setAsked("reindex"),
    },
    {
      label: s.deleteDocuments,
      icon: <FileX aria-hidden />,
      danger: true,
      disabled: !mayChange || archived || document_count === 0,
      onChoose: () => setAsked("documents"),
    },
    {
      label: s.delete,
      icon: <Trash2 aria-hidden />,
      danger: true,
      disabled: !mayChange,
      onChoose: () => setAsked("delete"),
    },
  ];
  const close = () => setAsked(undefined);
  const follow = (job: string) => {
    close();
    onChange({ job });
  };
  return (
    <>
      <Link to="/search" search={labSearch({ rid, cid })} className={buttonClass()}>
        <Search aria-hidden />
        {s.search}
      </Link>
      <Button onClick={() => onChange({ edit: true })} disabled={!mayChange || archived}>
        <Pencil aria-hidden />
        {s.edit}
      </Button>
      <Menu label={s.more} entries={entries} />
      {asked === "archive" && <ArchiveDialog collection={collection} onClose={close} />}
      {asked === "reindex" && <ReindexDialog collection={collection} onClose={close} onStarted={follow} />}
      {asked === "documents" && <DeleteDocumentsDialog collection={collection} onClose={close} onStarted={follow} />}
      {asked === "delete" && <DeleteDialog collection={collection} onClose={close} onStarted={follow} />}
    </>
  );
}

function ArchiveDialog({ collection, onClose }: { readonly collection: Collection; readonly onClose: () => void }) {
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
        refreshWork(client),
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
