/** Which incarnation of a collection a record belongs to. */
import type { Life } from "../../lifecycle/index.ts";

export function lifeOf({ repository_id, collection_id, incarnation }: Life): Life {
  return { repository_id, collection_id, incarnation };
}
