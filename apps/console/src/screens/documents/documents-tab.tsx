import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { collectionOptions, repositoryOptions, type CollectionId } from "../../api/collections.ts";
import { documentsOptions } from "../../api/documents.ts";
import { moreOf } from "../../api/page.ts";
import { collectionStrings } from "../../strings/collection.ts";
import { documentStrings } from "../../strings/documents.ts";
import { Button } from "../../ui/button.tsx";
import { DataTable } from "../../ui/data-table.tsx";
import { Select } from "../../ui/field.tsx";
import { FilterField } from "../../ui/filter-field.tsx";
import { Empty } from "../../ui/states.tsx";
import { Total } from "../../ui/total.tsx";
import { documentColumns } from "./document-columns.tsx";
import { useDocumentFilters } from "./document-filters.ts";
import { DropZone } from "./drop-zone.tsx";
import { documentLink } from "./links.ts";
import { UploadList } from "./upload-list.tsx";
import { addUploads } from "./upload-queue.ts";
import { useDocumentActions } from "./use-document-actions.tsx";

const s = documentStrings.list;
const { status: statusWords } = documentStrings;

export function DocumentsTab({ rid, cid }: CollectionId) {
  const [{ name, documentStatus, order }, setFilters] = useDocumentFilters();
  const navigate = useNavigate();
  const actions = useDocumentActions();
  const why = useWhyClosed({ rid, cid });
  const repository = useQuery(repositoryOptions(rid)).data;
  const limits = repository === undefined || repository.personal ? undefined : documentStrings.drop.limitsShared;
  const list = useInfiniteQuery(
    documentsOptions({ rid, cid }, { q: name, status: documentStatus, order, include_total: "true" }),
  );
  const filtered = name !== undefined || documentStatus !== undefined;
  return (
    <DropZone
      onFiles={(files) => addUploads({ rid, cid }, files)}
      disabled={why !== undefined}
      why={why}
      limits={limits}
    >
      <UploadList of={{ rid, cid }} />
      <Filters />
      <Total of={list.data?.total} words={collectionStrings.counts.documents} />
      <DataTable
        label={s.label}
        columns={documentColumns(actions)}
        items={list.data?.items}
        rowId={({ document_id }) => document_id}
        onOpen={({ document_id: did }) => void navigate(documentLink({ rid, cid, did }))}
        error={list.data === undefined ? list.error : undefined}
        onRetry={() => void list.refetch()}
        more={moreOf(list)}
        empty={
          filtered ? (
            <Empty
              title={s.nothingFound}
              action={
                <Button onClick={() => setFilters({ name: undefined, documentStatus: undefined })}>{s.clear}</Button>
              }
            >
              {s.nothingFoundText}
            </Empty>
          ) : (
            <Empty title={s.nothing}>{s.nothingText}</Empty>
          )
        }
      />
      {actions.dialog}
    </DropZone>
  );
}

/** Why uploads are disabled, as far as known before sending. */
function useWhyClosed(id: CollectionId): string | undefined {
  const collection = useQuery(collectionOptions(id)).data;
  if (collection === undefined) return undefined;
  if (collection.status !== "ACTIVE") return documentStrings.drop.notActive;
  return collection.access === "READ" ? documentStrings.drop.readOnly : undefined;
}

function Filters() {
  const [{ name, documentStatus, order }, setFilters] = useDocumentFilters();
  return (
    <div role="search" className="grid gap-2 sm:grid-cols-[minmax(12rem,1fr)_10rem_10rem]">
      <FilterField label={s.filterName} value={name} onFilter={(next) => setFilters({ name: next })} />
      <Select
        label={s.filterStatus}
        value={documentStatus ?? ""}
        choices={[{ value: "", label: s.anyStatus }, ...statusChoices]}
        onChoose={(value) => setFilters({ documentStatus: value === "" ? undefined : value })}
      />
      <Select
        label={s.order}
        value={order ?? "desc"}
        choices={[
          { value: "desc", label: s.newest },
          { value: "asc", label: s.oldest },
        ]}
        onChoose={(value) => setFilters({ order: value === "asc" ? value : undefined })}
      />
    </div>
  );
}

const statusChoices = (Object.keys(statusWords) as (keyof typeof statusWords)[]).map((value) => ({
  value,
  label: statusWords[value],
}));
