/** The page of a collection that is loading, deleted or not accessible. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { deletedCollectionOptions } from "../../api/collection-changes.ts";
import type { CollectionId } from "../../api/collections.ts";
import { isProblem } from "../../api/problem.ts";
import { collectionStrings as s } from "../../strings/collection.ts";
import { buttonClass } from "../../ui/button.tsx";
import { Page, Panel } from "../../ui/panel.tsx";
import { ErrorBox, Loading } from "../../ui/states.tsx";
import { InTrash } from "./in-trash.tsx";

interface Props {
  readonly id: CollectionId;
  readonly error: unknown;
  readonly onRetry: () => void;
  /** The job that deleted it, if followed. */
  readonly followed: ReactNode;
}

export function AbsentCollection({ id, error, onRetry, followed }: Props) {
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
