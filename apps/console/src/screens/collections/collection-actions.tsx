import type { Collection } from "@pinakes/client";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Archive, ArchiveRestore, FileX, Pencil, RefreshCw, Search, Trash2 } from "lucide-react";
import { useState } from "react";
import { refreshWork } from "../../api/refresh-work.ts";
import { archiveCollection, deleteAllDocuments, reindexCollection } from "../../api/collection-changes.ts";
import { formatNumber } from "../../lib/format.ts";
import { collectionStrings } from "../../strings/collection.ts";
import { Button, buttonClass } from "../../ui/button.tsx";
import { Confirm } from "../../ui/confirm.tsx";
import { Menu, type MenuEntry } from "../../ui/menu.tsx";
import { toast } from "../../ui/toast.tsx";
import { DeleteDialog } from "./delete-dialog.tsx";
import { labSearch } from "./lab-search.ts";
import type { CollectionSearch } from "./routes.ts";

const { actions: s, counts } = collectionStrings;

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
      {asked === "reindex" && (
        <JobDialog work={reindexing} collection={collection} onClose={close} onStarted={follow} />
      )}
      {asked === "documents" && (
        <JobDialog work={deletingDocuments} collection={collection} onClose={close} onStarted={follow} />
      )}
      {asked === "delete" && <DeleteDialog collection={collection} onClose={close} onStarted={follow} />}
    </>
  );
}

const reindexing = { start: reindexCollection, title: s.reindexTitle, action: s.reindex, about: s.reindexAbout };
const deletingDocuments = {
  start: deleteAllDocuments,
  title: s.deleteDocumentsTitle,
  action: s.deleteDocuments,
  about: s.deleteDocumentsAbout,
  typeName: true,
};

interface JobDialogProps {
  readonly work: Omit<typeof reindexing, "action"> & { readonly action: string; readonly typeName?: boolean };
  readonly collection: Collection;
  readonly onClose: () => void;
  readonly onStarted: (jobId: string) => void;
}

/** Asks before work on all documents of a collection, which a job then does. */
function JobDialog({ work, collection, onClose, onStarted }: JobDialogProps) {
  const { repository_id: rid, collection_id: cid, name, document_count } = collection;
  const client = useQueryClient();
  const starting = useMutation({
    mutationFn: () => work.start({ rid, cid }),
    onSuccess: ({ job_id }) => {
      void refreshWork(client);
      onStarted(job_id);
    },
  });
  return (
    <Confirm
      open
      onClose={onClose}
      title={work.title(name)}
      action={work.action}
      {...(work.typeName === true ? { typeName: name } : {})}
      onConfirm={() => starting.mutate()}
      pending={starting.isPending}
      error={starting.error}
    >
      {work.about(counts.documents(document_count, formatNumber(document_count)))}
    </Confirm>
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
