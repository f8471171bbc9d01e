/** A collection's record with every attribute filled in. */
import { hash } from "node:crypto";
import { knowledgeLimits } from "../limits.ts";
import type { RepositoryRecord, CollectionRecord } from "./records.ts";
import { defaultCollectionId } from "./ids.ts";
import { noMetadata } from "./metadata.ts";
import { nameKey } from "./names.ts";

export interface NewCollectionInput {
  readonly repository: RepositoryRecord;
  readonly caller: string;
  readonly incarnation: string;
  readonly now: string;
  readonly isDefault?: boolean;
  readonly collectionId?: string;
  readonly fields?: Partial<CollectionRecord>;
}

const defaultName = "Default Collection";
/** Of the mark that tells apart two ids that are one name: as many as make it unlikely that somebody else has it. */
const markChars = 8;

export function newCollection({
  repository,
  caller,
  incarnation,
  now,
  isDefault = false,
  collectionId,
  fields = {},
}: NewCollectionInput): CollectionRecord {
  const collection_id = collectionId ?? (isDefault ? defaultCollectionId(repository.embedding_model) : incarnation);
  const record: CollectionRecord = {
    kind: "collection",
    collection_id,
    repository_id: repository.repository_id,
    name: isDefault ? defaultName : collection_id,
    sort_name: "",
    search_text: "",
    description: "",
    chunking_strategy: null,
    allow_chunking_override: true,
    metadata: noMetadata,
    allowed_groups: null,
    embedding_model: repository.embedding_model,
    private: false,
    pipelines: [],
    status: "ACTIVE",
    status_before: null,
    is_default: isDefault,
    created_by: caller,
    created_at: now,
    updated_at: now,
    deleted_at: null,
    purge_at: null,
    incarnation,
    ...fields,
  };
  return named(record);
}

/** With the fields that follow from the name: it is unique among the collections that are not deleted. */
export function named(record: CollectionRecord): CollectionRecord {
  const { name_key: _, ...rest } = record;
  const key = nameKey(record.name);
  const gone =
    record.status === "DELETED" || record.status === "DELETE_IN_PROGRESS" || record.status === "DELETE_FAILED";
  return {
    ...rest,
    ...(gone ? {} : { name_key: key }),
    sort_name: key,
    search_text: `${record.name}\n${record.description}`.normalize("NFC").toLowerCase(),
  };
}

/**
 * For a name that nobody gave, where the id is another's name ("Case" and "case" are two ids and one name): the id with a mark of the life.
 * Whoever comes at the same moment has another life, hence another name, and nobody has to look which numbers are free. It is as short as
 * every name may be.
 */
export function markedName({
  collection_id,
  incarnation,
}: Pick<CollectionRecord, "collection_id" | "incarnation">): string {
  // Hashed, since the life that a migration found may be called as the collection is.
  const mark = hash("sha256", incarnation, "hex").slice(0, markChars);
  return `${collection_id.slice(0, knowledgeLimits.nameCharsMax - markChars - 1)} ${mark}`;
}
