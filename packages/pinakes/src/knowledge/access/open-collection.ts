import { PinakesError } from "../../domain/errors.ts";
import type { CollectionRecord, RepositoryRecord } from "../records/records.ts";
import type { Decision } from "./access.ts";

/** An open collection and the access decision that allowed it. */
export interface OpenCollection {
  readonly repository: RepositoryRecord;
  readonly collection: CollectionRecord;
  readonly etag: string;
  readonly decision: Decision;
}

export function archived({ collection_id }: CollectionRecord): PinakesError {
  return new PinakesError("CONFLICT", `Collection "${collection_id}" is archived; unarchive it first.`);
}
