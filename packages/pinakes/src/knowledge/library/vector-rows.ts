/** The rows of a collection that hold TrustGraph's vectors: what their metadata says, for the facade that writes and finds them and for migrations. */
import type { JsonObject } from "../../domain/json.ts";
import type { StoredTerm } from "./library-records.ts";

/** Of an entity of the graph. */
export function entityMetadata(term: StoredTerm): JsonObject {
  return { tg_kind: "entity", tg_term: JSON.stringify(term) };
}

/** Of a chunk of text: with an id, or with the text in the row. */
export function chunkMetadata(chunkId: string | undefined): JsonObject {
  return { tg_kind: "chunk", ...(chunkId === undefined ? {} : { tg_chunk: chunkId }) };
}
