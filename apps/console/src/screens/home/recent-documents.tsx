/** The newest documents of the last used collections: there is no list of all documents. */
import type { Collection, Document, Page } from "@pinakes/client";
import { useQueries } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { collectionPath } from "../../api/collections.ts";
import { get } from "../../api/request.ts";
import { shownName } from "../../lib/shown-name.ts";
import { homeStrings } from "../../strings/home.ts";
import { Status } from "../../ui/badge.tsx";
import { ShownName } from "../../ui/name.tsx";
import { Panel } from "../../ui/panel.tsx";
import { ErrorBox, Loading } from "../../ui/states.tsx";
import { Ago } from "../../ui/time.tsx";
import { documentLink } from "../documents/links.ts";

const s = homeStrings.recent;
const collectionsMax = 4;
const shownMax = 6;

export function RecentDocuments({ collections }: { readonly collections: readonly Collection[] }) {
  const lists = useQueries({
    queries: collections
      .filter(({ document_count }) => document_count > 0)
      .slice(0, collectionsMax)
      .map(({ repository_id: rid, collection_id: cid }) => ({
        queryKey: ["documents", rid, cid, "newest"],
        queryFn: ({ signal }: { readonly signal: AbortSignal }) =>
          get<Page<Document>>(`${collectionPath({ rid, cid })}/documents`, { query: { limit: shownMax }, signal }),
      })),
  });
  const documents = lists
    .flatMap(({ data }) => data?.items ?? [])
    .toSorted((a, b) => b.uploaded_at.localeCompare(a.uploaded_at))
    .slice(0, shownMax);
  const failed = lists.find(({ data, error }) => data === undefined && error !== null);
  return (
    <Panel title={s.documents}>
      {failed !== undefined && <ErrorBox error={failed.error} onRetry={() => void failed.refetch()} />}
      {documents.length === 0 &&
        failed === undefined &&
        (lists.some(({ isPending }) => isPending) ? <Loading /> : <p className="text-sm text-soft">{s.noDocuments}</p>)}
      <ul className="flex flex-col gap-2">
        {documents.map(({ repository_id: rid, collection_id: cid, document_id: did, name, status, uploaded_at }) => (
          <li key={did} className="flex flex-wrap items-center gap-x-3 text-sm">
            <Link
              {...documentLink({ rid, cid, did })}
              className="min-w-0 flex-1 basis-40 truncate font-medium text-brand hover:underline"
              title={shownName(name)}
            >
              <ShownName of={name} />
            </Link>
            <Status value={status} />
            <span className="text-xs text-soft">
              <Ago at={uploaded_at} />
            </span>
          </li>
        ))}
      </ul>
    </Panel>
  );
}
