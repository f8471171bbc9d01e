/** Another document of the collection with the same bytes, among those that the uploader may see. */
import type { Caller } from "../../domain/caller.ts";
import type { ItemStore } from "../../ports/item-store.ts";
import { seesDocument } from "../access/document-access.ts";
import type { OpenCollection } from "../access/open-collection.ts";
import { documentsContainer, type DocumentRecord } from "../records/records.ts";

const documentsReadMax = 20;

/** Informational, so a lagging index does no harm. */
export async function duplicateOf(
  items: ItemStore,
  caller: Caller,
  { decision }: OpenCollection,
  { document_id, incarnation, sha256 }: DocumentRecord,
): Promise<string | undefined> {
  const page = await items.query(caller.scope, documentsContainer.name, {
    index: "bySha256",
    equals: { incarnation, kind: "document", sha256: sha256 as string },
    limit: documentsReadMax,
  });
  return page.items
    .map(({ document }) => document as unknown as DocumentRecord)
    .find((document) => document.document_id !== document_id && seesDocument(caller, decision, document))?.document_id;
}
