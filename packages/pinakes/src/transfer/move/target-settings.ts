/**
 * What the new life of a collection is set to. Nobody sees more in the new place than in the old one: a collection without groups of its
 * own is open to whom its repository lets in, so where the new repository lets in others, those groups become its own.
 */
import { show } from "../../domain/errors.ts";
import type { CollectionRecord, RepositoryRecord } from "../../knowledge/records/records.ts";
import { settingsOf } from "./life-rows.ts";

/** The repositories of the old and the new life; the same one where only the id changes. */
export interface Repositories {
  readonly from: RepositoryRecord;
  readonly to: RepositoryRecord;
}

export function targetSettings({ from, to }: Repositories, source: CollectionRecord): Partial<CollectionRecord> {
  const settings = { ...settingsOf(source), allowed_groups: targetGroups({ from, to }, source) };
  const owner = ownerOf({ from, to });
  return owner === null ? settings : { ...settings, created_by: owner, private: true };
}

/** A collection is never open to somebody whom its repository does not let in. */
export function accessProblems({ from, to }: Repositories, source: CollectionRecord): readonly string[] {
  if (to.owner !== null) return [];
  const groups = targetGroups({ from, to }, source);
  if (groups?.length === 0)
    return [
      `is open only to who is in a group of its own and in another one of repository ${show(from.repository_id)}; change its allowed_groups.`,
    ];
  const outside =
    to.allowed_groups === null ? [] : (groups ?? []).filter((group) => to.allowed_groups?.includes(group) === false);
  return outside.length === 0
    ? []
    : [
        `is open to ${outside.join(", ")}, whom repository ${show(to.repository_id)} does not let in; change allowed_groups of either.`,
      ];
}

/** In a user's own repository nobody but that user sees anything, whatever the records say; outside of it they have to. */
function ownerOf({ from, to }: Repositories): string | null {
  return to.owner ?? (from.repository_id === to.repository_id ? null : from.owner);
}

/**
 * null: whomever the new repository lets in. Of a private one nobody but its maker sees anything, whatever its groups are: those that the
 * new repository does not let in are left out.
 */
function targetGroups(repositories: Repositories, source: CollectionRecord): readonly string[] | null {
  const { from, to } = repositories;
  if (from.repository_id === to.repository_id) return source.allowed_groups;
  const groups = sameGroups(repositories, source);
  if (!source.private && ownerOf(repositories) === null) return groups;
  const within = groups?.filter((group) => to.allowed_groups?.includes(group) ?? true) ?? [];
  return within.length === 0 ? null : within;
}

/** Those to whom it is open where it is. */
function sameGroups({ from, to }: Repositories, { allowed_groups }: CollectionRecord): readonly string[] | null {
  const parent = from.allowed_groups;
  if (allowed_groups !== null)
    return parent === null ? allowed_groups : allowed_groups.filter((group) => parent.includes(group));
  const sameOrLess = parent === null || (to.allowed_groups?.every((group) => parent.includes(group)) ?? false);
  return sameOrLess ? null : parent;
}
