/** A hit's metadata and citation in one flat object, as frameworks store it beside a text. `verifyCitations` accepts it unchanged. */
import type { Citation, Hit } from "../contract/search.ts";
import type { JsonObject } from "../json.ts";

export interface CitedMetadata extends Citation {
  readonly chunk_id: string;
  readonly score: number;
}

/** A row of a caller's own is of no document: there `document_id` and `filename` are those of its metadata, if it has any. */
export function citedMetadata({ citation, metadata, chunk_id, score }: Hit): JsonObject & CitedMetadata {
  const named = (name: "document_id" | "filename"): string => {
    const own = metadata[name];
    return citation.row_id !== undefined && typeof own === "string" ? own : citation[name];
  };
  return {
    ...metadata,
    ...citation,
    document_id: named("document_id"),
    filename: named("filename"),
    chunk_id,
    score,
  };
}
