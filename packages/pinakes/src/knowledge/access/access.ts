/**
 * The single access decision: tenant ∧ repository ∧ (private? creator : groups) ∧ role → READ, WRITE or ADMIN, with the reason.
 *
 *   READ   see it, search it, download
 *   WRITE  also add documents, and delete one's own
 *   ADMIN  also change and delete the resource itself, and everyone's documents
 *
 * Computed on every read from the current records, never cached, so removing a group takes effect immediately.
 * The tenant is not checked here: records of another tenant cannot be read at all.
 */
import type { AccessDecision, AccessLevel } from "@pinakes/client";
import type { Caller } from "../../domain/caller.ts";
import { PinakesError } from "../../domain/errors.ts";
import { noteAccess } from "../../runtime/call-notes.ts";
import type { CollectionRecord, RepositoryRecord } from "../records/records.ts";

export type Level = AccessLevel;
const rank: Readonly<Record<Level, number>> = { READ: 1, WRITE: 2, ADMIN: 3 };

export type Decision = Omit<AccessDecision, "document">;

type Who = Pick<Caller, "userId" | "groups" | "role">;

export function decideRepository(who: Who, repository: RepositoryRecord): Decision {
  if (repository.owner !== null) {
    if (repository.owner === who.userId) return decision("ADMIN", "the repository is the caller's own");
    return who.role === "admin"
      ? decision("ADMIN", "the caller is an admin")
      : decision(null, "the repository is another user's own");
  }
  if (who.role === "admin") return decision("ADMIN", "the caller is an admin");
  const through = granting(who, repository.allowed_groups);
  if (through === undefined) return decision(null, "the caller is in none of the repository's groups");
  const reason =
    through.length === 0 ? "the repository is open to the workspace" : "a group of the caller may use the repository";
  if (who.role === "repository_admin")
    return decision("WRITE", `${reason}, and the caller administers repositories`, through);
  return decision(repository.allow_user_collections ? "WRITE" : "READ", reason, through);
}

export function decideCollection(who: Who, repository: RepositoryRecord, collection: CollectionRecord): Decision {
  const parent = decideRepository(who, repository);
  if (parent.level === null || parent.level === "ADMIN") return parent;
  const creator = collection.created_by === who.userId;
  if (who.role === "repository_admin")
    return decision("ADMIN", "the caller administers the repositories it reaches", parent.groups);
  if (collection.private) {
    return creator
      ? decision("ADMIN", "the collection is private and the caller created it", parent.groups)
      : decision(null, "the collection is private to its creator");
  }
  const through = granting(who, collection.allowed_groups);
  if (through === undefined) return decision(null, "the caller is in none of the collection's groups");
  const groups = [...new Set([...parent.groups, ...through])];
  if (creator) return decision("ADMIN", "the caller created the collection", groups);
  return decision(
    "WRITE",
    through.length === 0 ? parent.reason : "a group of the caller may use the collection",
    groups,
  );
}

/** Not visible: 404, as if it did not exist. Visible but not allowed: 403. */
export function requireLevel(found: Decision, needed: Level, what: string, action: string): void {
  if (found.level === null) {
    noteAccess("denied");
    throw notFound(what);
  }
  if (rank[found.level] < rank[needed])
    throw new PinakesError("FORBIDDEN", `${action} needs ${needed} access to ${what}; the caller has ${found.level}.`);
}

/**
 * A purge cannot be undone and affects everyone who uses the collection, so it needs its own permission. Admins have it, and so do owners
 * of a private collection in their own repository.
 */
export function requirePurge(
  { userId, role, permissions }: Pick<Caller, "userId" | "role" | "permissions">,
  repository: RepositoryRecord,
  collection: CollectionRecord,
): void {
  const own = repository.owner === userId && collection.private && collection.created_by === userId;
  if (role !== "user" || own || permissions.includes("purge")) return;
  throw new PinakesError(
    "FORBIDDEN",
    `Purging collection "${collection.collection_id}" needs the permission "purge". Delete it without purge, or ask an admin.`,
  );
}

export function notFound(what: string): PinakesError {
  noteAccess("absent");
  return new PinakesError("NOT_FOUND", `There is no ${what}.`);
}

/** The caller's groups among those allowed; [] when no groups are named (open to all); undefined when the caller is in none of them. */
function granting(who: Who, allowed: readonly string[] | null): readonly string[] | undefined {
  if (allowed === null) return [];
  const common = allowed.filter((group) => who.groups.includes(group));
  return common.length > 0 ? common : undefined;
}

function decision(level: Level | null, reason: string, groups: readonly string[] = []): Decision {
  return { level, reason, groups };
}
