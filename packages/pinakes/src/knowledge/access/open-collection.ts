/** A collection that a caller opened, with the access decision that let them in. */
import { PinakesError } from "../../domain/errors.ts";
import type { CollectionRecord, RepositoryRecord } from "../records/records.ts";
import type { Decision } from "./access.ts";

/** A collection with what its access decision was made of. */
export interface OpenCollection {
  readonly repository: RepositoryRecord;
  readonly collection: CollectionRecord;
  readonly etag: string;
  readonly decision: Decision;
}

export function archived({ collection_id }: CollectionRecord): PinakesError {
  return new PinakesError("CONFLICT", `Collection "${collection_id}" is archived; unarchive it first.`);
}
