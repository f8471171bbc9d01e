import type { Document } from "@pinakes/client";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { deleteDocument, downloadDocument, reindexDocument } from "../../api/document-parts.ts";
import { collectionRowId } from "../../api/collections.ts";
import { documentPath, type DocumentId } from "../../api/documents.ts";
import { refetchChanged } from "../../api/refetch.ts";
import { get } from "../../api/request.ts";
import { documentStrings } from "../../strings/documents.ts";
import { Confirm } from "../../ui/confirm.tsx";
import { toast, toastError } from "../../ui/toast.tsx";
import { useDeleteSeen } from "../../ui/use-delete-seen.ts";

const s = documentStrings.actions;

interface DocumentActions {
  readonly download: (document: Document) => void;
  readonly reindex: (document: Document) => void;
  readonly askDelete: (document: Document) => void;
  readonly pending: boolean;
  /** Dialogs to render on the page. */
  readonly dialog: ReactNode;
}

export function useDocumentActions(onDeleted?: () => void): DocumentActions {
  const client = useQueryClient();
  const [deleting, setDeleting] = useState<Document>();
  const changed = ({ repository_id, collection_id, document_id }: Document) =>
    Promise.all([
      refetchChanged(client, ["documents", repository_id, collection_id], [document_id]),
      refetchChanged(client, ["collection", repository_id, collection_id]),
      refetchChanged(client, ["collections"], [collectionRowId({ repository_id, collection_id })]),
    ]);
  const download = useMutation({
    mutationFn: (document: Document) => downloadDocument(idOf(document)),
    onError: (error) => toastError(s.downloadFailed, error),
  });
  const reindex = useMutation({
    mutationFn: (document: Document) => reindexDocument(idOf(document)),
    onSuccess: (_answer, document) => {
      toast(s.reindexed, document.name);
      return changed(document);
    },
    onError: (error) => toastError(s.reindexFailed, error),
  });
  return {
    download: download.mutate,
    reindex: reindex.mutate,
    askDelete: setDeleting,
    pending: download.isPending || reindex.isPending,
    dialog: deleting && (
      <DeleteDialog
        document={deleting}
        onClose={() => setDeleting(undefined)}
        onDeleted={() => {
          toast(s.deleted(deleting.name));
          setDeleting(undefined);
          onDeleted?.();
          void changed(deleting);
        }}
      />
    ),
  };
}

interface DeleteDialogProps {
  readonly document: Document;
  readonly onClose: () => void;
  readonly onDeleted: () => void;
}

function DeleteDialog({ document, onClose, onDeleted }: DeleteDialogProps) {
  const id = idOf(document);
  const { now, confirm } = useDeleteSeen({
    seen: document,
    remove: ({ etag }) => deleteDocument(id, etag),
    read: () => get<Document>(documentPath(id)),
    onDeleted,
  });
  return (
    <Confirm open onClose={onClose} title={s.deleteTitle((now ?? document).name)} action={s.delete} {...confirm}>
      <p className="break-words">{s.deleteText}</p>
      {now !== undefined && (
        <p role="alert" className="mt-3 rounded-md bg-warn-soft p-3 text-warn">
          {s.changed(now.version, documentStrings.status[now.status].toLowerCase())}
        </p>
      )}
    </Confirm>
  );
}

function idOf({ repository_id: rid, collection_id: cid, document_id: did }: Document): DocumentId {
  return { rid, cid, did };
}
