/** Which incarnation of a collection a record belongs to. */
import type { Incarnation } from "../../lifecycle/index.ts";

export function incarnationOf({ repository_id, collection_id, incarnation }: Incarnation): Incarnation {
  return { repository_id, collection_id, incarnation };
}
