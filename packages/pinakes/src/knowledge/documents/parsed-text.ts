/** The parsed text of a document, stored beside its bytes: citations are verified against it. */
import { PinakesError } from "../../domain/errors.ts";
import type { ObjectStore } from "../../ports/object-store.ts";
import type { ParsedText } from "../../ports/parser.ts";
import type { CollectionPartition } from "../records/collection-partition.ts";
import type { DocumentRecord } from "../records/records.ts";

const format = 1;

export function textKey(partition: CollectionPartition, documentId: string, version: number): string {
  return `${partition.prefix}${documentId}/${version}/text`;
}

/** See model-answers.ts. */
export function answersKey(partition: CollectionPartition, documentId: string, version: number): string {
  return `${partition.prefix}${documentId}/${version}/answers`;
}

/** Keys of everything derived from a version's bytes. */
export function derivedKeys(partition: CollectionPartition, documentId: string, version: number): readonly string[] {
  return [textKey(partition, documentId, version), answersKey(partition, documentId, version)];
}

export async function saveParsedText(
  objects: ObjectStore,
  partition: CollectionPartition,
  { document_id, version }: Pick<DocumentRecord, "document_id" | "version">,
  parsed: ParsedText,
): Promise<void> {
  await objects.put(
    partition.scope,
    textKey(partition, document_id, version),
    Buffer.from(JSON.stringify({ format, ...parsed }), "utf8"),
  );
}

export async function readParsedText(
  objects: ObjectStore,
  partition: CollectionPartition,
  documentId: string,
  version: number,
): Promise<ParsedText | undefined> {
  const bytes = await objects.get(partition.scope, textKey(partition, documentId, version));
  if (bytes === undefined) return undefined;
  const stored = JSON.parse(Buffer.from(bytes).toString("utf8")) as ParsedText & { readonly format: number };
  if (stored.format !== format)
    throw new PinakesError(
      "CORRUPT",
      `The text of document ${documentId} has format ${stored.format}; this version of Pinakes reads format ${format}.`,
    );
  return stored;
}
