/**
 * Which documents of a collection have an access of their own (RFC 0014). Every batch that changes the access or the uploader of such a
 * document also changes its `restricted` row and counts the change of its bucket in the `access` item. So a reader that knows the rows of
 * an older state reads only the rows of the buckets that have changed since, and never decides by an older one. The row of a deleted
 * document stays until its chunks and triples are removed.
 *
 * The record of the collection says whether there ever was such a document: reads of all other collections look no further.
 */
import { createHash } from "node:crypto";
import { hasCode } from "../../domain/errors.ts";
import type { ItemStore, Operation } from "../../ports/item-store.ts";
import type { CollectionPartition } from "./collection-partition.ts";
import {
  collectionsContainer,
  itemIds,
  type AccessChangesRecord,
  type CollectionRecord,
  type DocumentRecord,
  type RestrictedRecord,
} from "./records.ts";

type Guarded = Pick<DocumentRecord, "document_id" | "access" | "uploaded_by">;

/** Two hexadecimal digits. */
export function bucketOf(documentId: string): string {
  return createHash("sha256").update(documentId).digest("hex").slice(0, 2);
}

/** Before the first batch with a restricted document: the item that counts changes, and the mark of the collection. */
export async function openRestricted(
  items: ItemStore,
  partition: CollectionPartition,
  { restricted }: Pick<CollectionRecord, "restricted">,
): Promise<void> {
  if (restricted === true) return;
  await partition.ensure();
  const none: AccessChangesRecord = { kind: "access", changes: {} };
  try {
    await partition.write([{ op: "create", document: partition.document(itemIds.access, none) }]);
  } catch (error) {
    if (!hasCode(error, "CONFLICT") || (await partition.accessChanges()) === undefined) throw error;
  }
  const { repository_id, collection_id, incarnation } = partition.key;
  await items.write(partition.scope, collectionsContainer.name, [repository_id], {
    op: "patch",
    id: itemIds.collection(collection_id),
    patch: [{ op: "set", path: "/restricted", value: true }],
    where: { incarnation },
  });
}

/** When everything is removed that a deleted document left. */
export function forgetRestricted(partition: CollectionPartition, documentId: string): readonly Operation[] {
  const bucket = bucketOf(documentId);
  return [{ op: "delete", id: itemIds.restricted(bucket, documentId) }, countChange(bucket)];
}

/** What a batch must also do that takes a document from one state to another; undefined: it is not there. */
export function restrictedOperations(
  partition: CollectionPartition,
  before: Guarded | undefined,
  after: Guarded | undefined,
): readonly Operation[] {
  const [from, to] = [rowOf(before), rowOf(after)];
  const documentId = (from ?? to)?.document_id;
  if (documentId === undefined || JSON.stringify(from) === JSON.stringify(to)) return [];
  const bucket = bucketOf(documentId);
  const id = itemIds.restricted(bucket, documentId);
  return [
    to === undefined ? { op: "delete", id } : { op: "upsert", document: partition.document(id, to) },
    countChange(bucket),
  ];
}

function countChange(bucket: string): Operation {
  return { op: "patch", id: itemIds.access, patch: [{ op: "incr", path: `/changes/${bucket}`, value: 1 }] };
}

function rowOf(document: Guarded | undefined): RestrictedRecord | undefined {
  if (document?.access === undefined) return undefined;
  const { document_id, access, uploaded_by } = document;
  const { allowed_groups, allowed_users, sensitivity } = access;
  return { kind: "restricted", document_id, access: { allowed_groups, allowed_users, sensitivity }, uploaded_by };
}
