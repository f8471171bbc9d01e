/**
 * Who may move a collection, and what is moved: callers who may delete it at its origin and create one at its target. What the caller may
 * not see does not exist, on both sides.
 */
import { requireCaller, type Caller } from "../../domain/caller.ts";
import { PinakesError, invalid } from "../../domain/errors.ts";
import type { Incarnation } from "../../lifecycle/index.ts";
import { decideCollection, requireLevel, requirePurge } from "../../knowledge/access/access.ts";
import { incarnationOf } from "../../knowledge/records/incarnation-of.ts";
import type { Collections } from "../../knowledge/collections/collections.ts";
import { isLive, type CatalogRecords } from "../../knowledge/records/catalog-records.ts";
import { checkId } from "../../knowledge/records/names.ts";
import type { RepositoryRecord } from "../../knowledge/records/records.ts";
import type { Repositories } from "../../knowledge/collections/repositories.ts";

/** As requested. */
export interface WantedMove {
  readonly repository: string;
  readonly collection: string;
  /** Absent fields stay unchanged. */
  readonly to: { readonly repository?: string | undefined; readonly collection?: string | undefined };
}

export interface Move {
  readonly from: Incarnation;
  readonly to: { readonly repository_id: string; readonly collection_id: string };
}

export interface MayMoveDependencies {
  readonly catalog: CatalogRecords;
  readonly collections: Collections;
  readonly repositories: Repositories;
}

/** With ids instead of aliases, and the incarnation. */
export async function resolveMove(
  { collections, repositories }: MayMoveDependencies,
  caller: Caller,
  wanted: WantedMove,
): Promise<Move> {
  requireCaller(caller);
  const { collection, repository, decision } = await collections.open(caller, wanted.repository, wanted.collection);
  requireLevel(decision, "ADMIN", `collection "${wanted.collection}"`, "Migrating");
  if (collection.is_default)
    throw invalid(
      "The default collection cannot be migrated, since every repository has one. Upload its documents elsewhere.",
    );
  const target =
    wanted.to.repository === undefined ? repository : (await repositories.get(caller, wanted.to.repository)).record;
  requireMayCreate(caller, target);
  const to = {
    repository_id: target.repository_id,
    collection_id: checkId(wanted.to.collection ?? collection.collection_id, "to.collection"),
  };
  if (to.repository_id === collection.repository_id && to.collection_id === collection.collection_id)
    throw invalid("to: is the current location; name another repository, another collection id, or both.");
  return { from: incarnationOf(collection), to };
}

/**
 * Checked again before every step, also for an automatic migration, with its requester's groups: revoked rights take effect. A purged
 * collection needs no rights at its origin.
 */
export async function requireMayMove(
  { catalog, collections, repositories }: MayMoveDependencies,
  caller: Caller,
  { from, to }: Move,
  { purge = false }: { readonly purge?: boolean } = {},
): Promise<void> {
  const scope = requireCaller(caller);
  if ((await catalog.incarnation(scope, from)) !== undefined) {
    const { decision, collection, repository } = await collections.open(
      caller,
      from.repository_id,
      from.collection_id,
      {
        deleted: true,
        incarnation: from.incarnation,
      },
    );
    requireLevel(decision, "ADMIN", `collection "${from.collection_id}"`, "Migrating");
    if (purge) requirePurge(caller, repository, collection);
  }
  const { record: repository } = await repositories.get(caller, to.repository_id);
  requireMayCreate(caller, repository);
  const there = await catalog.collection(scope, to.repository_id, to.collection_id);
  if (there === undefined || !isLive(there.record)) return;
  requireLevel(
    decideCollection(caller, repository, there.record),
    "ADMIN",
    `collection "${to.collection_id}"`,
    "Migrating",
  );
}

function requireMayCreate({ role }: Caller, { owner, allow_user_collections, repository_id }: RepositoryRecord): void {
  if (owner === null && role === "user" && !allow_user_collections)
    throw new PinakesError("FORBIDDEN", `Only admins can create collections in repository "${repository_id}".`);
}
