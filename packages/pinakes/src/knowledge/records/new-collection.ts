/** A new collection's record with every field filled in. */
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
  readonly collectionId?: string | undefined;
  readonly fields?: Partial<CollectionRecord>;
}

const defaultName = "Default Collection";
/** Length of the suffix that distinguishes equal names: long enough to make collisions unlikely. */
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

/** With the fields derived from the name, which is unique among the collections that are not deleted. */
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
 * A default name for a collection whose id equals another collection's name ("Case" and "case" are two ids but one name): the id with a
 * suffix derived from the incarnation. Concurrent creates have different incarnations and so different names. Shortened to the maximum
 * length of names.
 */
export function markedName({
  collection_id,
  incarnation,
}: Pick<CollectionRecord, "collection_id" | "incarnation">): string {
  // Hashed, since a migrated incarnation may equal the collection's name.
  const mark = hash("sha256", incarnation, "hex").slice(0, markChars);
  return `${collection_id.slice(0, knowledgeLimits.nameCharsMax - markChars - 1)} ${mark}`;
}
