/** Filters chunks found by vectors: the documents' records decide which are live. */
import type { QueryHit } from "../../vectors/index.ts";
import type { CollectionPartition } from "../records/collection-partition.ts";
import { shownIn, type DocumentRecord } from "../records/records.ts";

interface LiveHits {
  readonly live: readonly { readonly hit: QueryHit; readonly document: DocumentRecord }[];
  /** A document was replaced after its chunks were found: searching again finds the new ones. */
  readonly overtaken: boolean;
}

interface LiveOptions {
  readonly generation: number;
  readonly past: boolean;
  readonly sees: (document: DocumentRecord) => boolean;
}

/** The live chunks. For a search in the past, those of the last run of a document that still exists. */
export async function liveHits(
  partition: CollectionPartition,
  hits: readonly QueryHit[],
  { generation, past, sees }: LiveOptions,
): Promise<LiveHits> {
  const ids = [...new Set(hits.map(({ metadata }) => metadata["document_id"] as string))];
  const documents = new Map(
    (await partition.readMany(ids)).flatMap((document) =>
      // Again by the record, beside the bitmap: its access may have changed since.
      document === undefined || !sees(document) ? [] : [[document.document_id, document] as const],
    ),
  );
  const lastRun = new Map<string, number>();
  for (const { metadata } of hits) {
    const id = metadata["document_id"] as string;
    lastRun.set(id, Math.max(lastRun.get(id) ?? 0, metadata["run"] as number));
  }
  const live = hits.flatMap((hit) => {
    const document = documents.get(hit.metadata["document_id"] as string);
    if (document === undefined) return [];
    const run = past ? lastRun.get(document.document_id) : shownIn(document, generation)?.run;
    return hit.metadata["run"] === run ? [{ hit, document }] : [];
  });
  const overtaken =
    !past &&
    documents
      .values()
      .some(({ document_id, live: shown }) => shown !== null && shown.run > (lastRun.get(document_id) ?? 0));
  return { live, overtaken };
}
