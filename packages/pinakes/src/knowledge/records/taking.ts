/**
 * No write is acknowledged that an earlier delete removes (RFC 0007). Documents, rows and triples are in other partitions than their
 * repository's record, so no batch covers both: a writer checks before it writes, and again before it answers. So whatever was acknowledged
 * was stored before the delete began.
 */
import { PinakesError } from "../../domain/errors.ts";
import type { Scope } from "../../domain/scope.ts";
import type { ItemStore } from "../../ports/item-store.ts";
import { noteLateWrite } from "./late-writes.ts";
import { CatalogRecords } from "./catalog-records.ts";
import type { CollectionRecord, RepositoryRecord } from "./records.ts";

type PartKey = Pick<CollectionRecord, "repository_id" | "collection_id" | "incarnation">;

/** Before the write. */
export function requireTaking({ repository_id, status }: Pick<RepositoryRecord, "repository_id" | "status">): void {
  if (status !== "ACTIVE") throw beingDeleted(repository_id);
}

/** After the write, before the response. A collection in the trash keeps its data; one that is being purged does not. */
export async function requireStillTaking(items: ItemStore, scope: Scope, incarnation: PartKey): Promise<void> {
  const catalog = new CatalogRecords(items);
  const [repository, current] = await catalog.both(scope, incarnation.repository_id, incarnation.collection_id);
  const found =
    current?.record.incarnation === incarnation.incarnation ? current : await catalog.incarnation(scope, incarnation);
  const purged =
    found === undefined || found.record.status === "DELETE_IN_PROGRESS" || found.record.status === "DELETE_FAILED";
  if (repository?.record.status === "ACTIVE" && !purged) return;
  noteLateWrite(items);
  if (repository?.record.status === "ACTIVE")
    throw new PinakesError(
      "CONFLICT",
      `Collection "${incarnation.collection_id}" is being deleted; nothing was stored.`,
    );
  throw beingDeleted(incarnation.repository_id);
}

function beingDeleted(repository_id: string): PinakesError {
  return new PinakesError("CONFLICT", `Repository "${repository_id}" is being deleted and accepts no writes.`);
}
