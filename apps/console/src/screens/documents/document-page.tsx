import type { Document } from "@pinakes/client";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { Download, RefreshCw, Trash2 } from "lucide-react";
import { collectionOptions } from "../../api/collections.ts";
import { documentOptions, type DocumentId } from "../../api/documents.ts";
import { formatBytes, formatNumber } from "../../lib/format.ts";
import { documentStrings } from "../../strings/documents.ts";
import { Status } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { ShownName } from "../../ui/name.tsx";
import { Page } from "../../ui/panel.tsx";
import { Pending } from "../../ui/states.tsx";
import { DocumentState } from "./document-state.tsx";
import { DocumentTabs } from "./document-tabs.tsx";
import { useDocumentActions } from "./use-document-actions.tsx";

const { page: s, actions: words } = documentStrings;
const route = getRouteApi("/shell/collections/$rid/$cid/documents/$did");

export function DocumentPage() {
  const id = route.useParams();
  const document = useQuery(documentOptions(id));
  if (document.data !== undefined) return <Loaded id={id} document={document.data} />;
  return (
    <Page title={documentStrings.list.label} about={<CollectionLink id={id} />}>
      <Pending of={document} />
    </Page>
  );
}

function Loaded({ id, document }: { readonly id: DocumentId; readonly document: Document }) {
  const navigate = useNavigate();
  const { rid, cid } = id;
  const { name, file_type, size_bytes, chunk_count, version, status } = document;
  const actions = useDocumentActions(() => void navigate({ to: "/collections/$rid/$cid", params: { rid, cid } }));
  return (
    <Page
      title={name}
      about={
        <span className="flex flex-wrap items-center gap-x-2 gap-y-1">
          <Status value={status} />
          <span>
            {s.facts(file_type, formatBytes(size_bytes), s.chunkCount(chunk_count, formatNumber(chunk_count)), version)}
          </span>
          <CollectionLink id={id} />
        </span>
      }
      actions={
        <>
          <Button disabled={actions.pending} onClick={() => actions.download(document)}>
            <Download aria-hidden />
            {words.download}
          </Button>
          <Button disabled={actions.pending || status === "uploading"} onClick={() => actions.reindex(document)}>
            <RefreshCw aria-hidden />
            {status === "failed" ? words.retry : words.reindex}
          </Button>
          <Button look="danger" onClick={() => actions.askDelete(document)}>
            <Trash2 aria-hidden />
            {words.delete}
          </Button>
        </>
      }
    >
      <DocumentState document={document} />
      <DocumentTabs id={id} document={document} />
      {actions.dialog}
    </Page>
  );
}

function CollectionLink({ id: { rid, cid } }: { readonly id: DocumentId }) {
  const collection = useQuery(collectionOptions({ rid, cid }));
  return (
    <Link to="/collections/$rid/$cid" params={{ rid, cid }} className="text-brand underline">
      <ShownName of={collection.data?.name ?? s.backToCollection} />
    </Link>
  );
}
