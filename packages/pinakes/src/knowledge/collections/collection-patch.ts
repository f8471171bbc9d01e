/** What an update of a collection may send. */
import type { CollectionFields } from "../records/collection-fields.ts";
import type { CollectionRecord } from "../records/records.ts";

export interface CollectionPatch extends CollectionFields {
  readonly collection_id?: string | undefined;
  readonly repository_id?: string | undefined;
  readonly embedding_model?: string | undefined;
  readonly created_by?: string | undefined;
  readonly created_at?: string | undefined;
}

export const changeable = [
  "name",
  "description",
  "chunking_strategy",
  "allow_chunking_override",
  "graph",
  "metadata",
  "allowed_groups",
  "access_rules",
  "private",
  "expires_after_days",
] as const;
/** An update may repeat their current values, so sending back a whole record with one changed field works. */
export const fixed = ["collection_id", "repository_id", "embedding_model", "created_by", "created_at"] as const;

/** Fixed fields repeated with their current values are dropped. */
export function withoutSame(input: CollectionPatch, collection: CollectionRecord): CollectionPatch {
  const same = (field: (typeof fixed)[number]) => input[field] !== undefined && input[field] === collection[field];
  return Object.fromEntries(
    Object.entries(input).filter(([field]) => !fixed.some((name) => name === field && same(name))),
  );
}
