import type { Collection } from "@pinakes/client";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { deletedCollectionOptions } from "../../api/collection-changes.ts";
import { type CollectionId, collectionOptions } from "../../api/collections.ts";
import { isProblem } from "../../api/problem.ts";
import { formatBytes, formatNumber } from "../../lib/format.ts";
import { shownName } from "../../lib/shown-name.ts";
import { collectionStrings as s } from "../../strings/collection.ts";
import { Badge, Status } from "../../ui/badge.tsx";
import { buttonClass } from "../../ui/button.tsx";
import { lazyPart } from "../../ui/lazy-part.tsx";
import { Page, Panel } from "../../ui/panel.tsx";
import { ErrorBox, Loading } from "../../ui/states.tsx";
import { CollectionActions } from "./collection-actions.tsx";
import { CollectionTabs } from "./collection-tabs.tsx";
import { FollowedJob } from "./followed-job.tsx";
import { InTrash } from "./in-trash.tsx";
import { FailedBadge, IndexingBadge } from "./indexing-badge.tsx";
import type { CollectionSearch } from "./routes.ts";

const route = getRouteApi("/shell/collections/$rid/$cid");
const EditWizard = lazyPart(async () => (await import("./form/edit-wizard.tsx")).default, { whileLoading: () => null });

export function CollectionPage() {
  const id = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { data, error, refetch } = useQuery(collectionOptions(id));
  const change = (next: Partial<CollectionSearch>) =>
    void navigate({ search: (old) => ({ ...old, ...next }), replace: true });
  // The cache may still contain it although it no longer exists.
  const collection = isProblem(error, 404) ? undefined : data;
  const followed = search.job !== undefined && (
    <FollowedJob key={search.job} jobId={search.job} collection={id} onHide={() => change({ job: undefined })} />
  );
  if (collection === undefined)
    return <AbsentCollection id={id} error={error} onRetry={() => void refetch()} followed={followed} />;
  return (
    <Page
      title={collection.name}
      about={<Head collection={collection} />}
      actions={<CollectionActions collection={collection} onChange={change} />}
    >
      {followed}
      <CollectionTabs id={id} collection={collection} search={search} onChange={change} />
      {search.edit === true && <EditWizard collection={collection} onClose={() => change({ edit: undefined })} />}
    </Page>
  );
}

function Head({ collection }: { readonly collection: Collection }) {
  const {
    repository_name,
    status,
    indexing_status,
    document_count,
    chunk_count,
    row_count,
    total_size_bytes,
    documents_by_status,
    description,
  } = collection;
  const failed = documents_by_status["failed"] ?? 0;
  return (
    <>
      {description !== undefined && description !== "" && (
        <span className="block whitespace-pre-line">{description}</span>
      )}
      <span className="mt-1 flex flex-wrap items-center gap-x-3 gap-y-1">
        <Status value={status} />
        {document_count > 0 && <IndexingBadge collection={collection} />}
        {indexing_status !== "error" && failed > 0 && <FailedBadge collection={collection} />}
        {collection.private && <Badge>{s.private}</Badge>}
        <span>{s.in(shownName(repository_name))}</span>
        <span>{s.counts.documents(document_count, formatNumber(document_count))}</span>
        <span>{s.counts.chunks(chunk_count, formatNumber(chunk_count))}</span>
        {row_count > 0 && <span>{s.counts.rows(row_count, formatNumber(row_count))}</span>}
        <span>{formatBytes(total_size_bytes)}</span>
      </span>
    </>
  );
}

interface Props {
  readonly id: CollectionId;
  readonly error: unknown;
  readonly onRetry: () => void;
  /** The job that deleted it, if followed. */
  readonly followed: ReactNode;
}

function AbsentCollection({ id, error, onRetry, followed }: Props) {
  const missing = isProblem(error, 404);
  const deleted = useQuery({ ...deletedCollectionOptions(id), enabled: missing }).data;
  return (
    <Page title={deleted?.name ?? id.cid}>
      {followed}
      {error === null && <Loading what={s.loading} />}
      {error !== null && !missing && <ErrorBox error={error} onRetry={onRetry} />}
      {missing && followed === false && (
        <Reason id={id} error={error} purgeAt={deleted?.status === "DELETED" ? deleted.purge_at : undefined} />
      )}
      {missing && (
        <div className="flex flex-wrap items-center gap-2">
          <Link to="/trash" className={buttonClass()}>
            {s.toTrash}
          </Link>
          <Link to="/collections" className={buttonClass()}>
            {s.toCollections}
          </Link>
        </div>
      )}
    </Page>
  );
}

function Reason({
  id,
  error,
  purgeAt,
}: {
  readonly id: CollectionId;
  readonly error: unknown;
  readonly purgeAt: string | null | undefined;
}) {
  if (purgeAt === null || purgeAt === undefined) return <ErrorBox error={error} />;
  return (
    <Panel title={s.deleted}>
      <InTrash until={purgeAt} collection={id} />
    </Panel>
  );
}
