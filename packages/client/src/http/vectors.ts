/** Rows with vectors of the caller's own, over HTTP. */
import type { VectorsApi } from "../api/knowledge-api.ts";
import { collectionOf } from "../collection-ref.ts";
import { path, type Requester } from "./request.ts";

export function httpVectors(http: Requester): VectorsApi {
  const of = (at: Parameters<VectorsApi["query"]>[0], what: string): string => {
    const { repository, collection } = collectionOf(at);
    return path`/v1/repositories/${repository}/collections/${collection}` + what;
  };
  // The id of a write makes retries safe.
  const write = (deltaId: string = crypto.randomUUID()) => ({ delta_id: deltaId });
  return {
    upsert: async (at, rows, { deltaId } = {}) =>
      http.json("POST", of(at, "/vectors:upsert"), { body: { ...write(deltaId), items: rows }, repeatable: true }),
    delete: async (at, ids, { deltaId } = {}) =>
      http.json("POST", of(at, "/vectors:delete"), { body: { ...write(deltaId), ids }, repeatable: true }),
    query: async (at, query) => http.json("POST", of(at, "/vectors:query"), { body: query, repeatable: true }),
    manifest: async (at) => http.json("GET", of(at, "/manifest")),
  };
}
