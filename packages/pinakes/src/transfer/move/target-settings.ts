/**
 * The settings of the new incarnation of a collection. The move never widens access: a collection without its own groups is open to
 * everyone its repository admits, so if the new repository admits others, the old repository's groups become its own.
 */
import { show } from "../../domain/errors.ts";
import type { CollectionRecord, RepositoryRecord } from "../../knowledge/records/records.ts";
import { settingsOf } from "./incarnation-rows.ts";

/** The repositories of the old and the new incarnation; the same one if only the id changes. */
export interface Repositories {
  readonly from: RepositoryRecord;
  readonly to: RepositoryRecord;
}

export function targetSettings({ from, to }: Repositories, source: CollectionRecord): Partial<CollectionRecord> {
  const settings = { ...settingsOf(source), allowed_groups: targetGroups({ from, to }, source) };
  const owner = ownerOf({ from, to });
  return owner === null ? settings : { ...settings, created_by: owner, private: true };
}

/** A collection cannot admit groups that its repository excludes. */
export function accessProblems({ from, to }: Repositories, source: CollectionRecord): readonly string[] {
  if (to.owner !== null) return [];
  const groups = targetGroups({ from, to }, source);
  if (groups?.length === 0)
    return [
      `is open only to members of both one of its own groups and another one of repository ${show(from.repository_id)}; change its allowed_groups.`,
    ];
  const outside =
    to.allowed_groups === null ? [] : (groups ?? []).filter((group) => to.allowed_groups?.includes(group) === false);
  return outside.length === 0
    ? []
    : [
        `is open to ${outside.join(", ")}, which repository ${show(to.repository_id)} excludes; change allowed_groups of either.`,
      ];
}

/** In a personal repository only its owner sees anything, whatever the records say; elsewhere the records must say so. */
function ownerOf({ from, to }: Repositories): string | null {
  return to.owner ?? (from.repository_id === to.repository_id ? null : from.owner);
}

/**
 * null: everyone the new repository admits. Only the creator sees a private collection, whatever its groups: groups excluded by the new
 * repository are dropped.
 */
function targetGroups(repositories: Repositories, source: CollectionRecord): readonly string[] | null {
  const { from, to } = repositories;
  if (from.repository_id === to.repository_id) return source.allowed_groups;
  const groups = sameGroups(repositories, source);
  if (!source.private && ownerOf(repositories) === null) return groups;
  const within = groups?.filter((group) => to.allowed_groups?.includes(group) ?? true) ?? [];
  return within.length === 0 ? null : within;
}

/** The groups that can access it at its origin. */
function sameGroups({ from, to }: Repositories, { allowed_groups }: CollectionRecord): readonly string[] | null {
  const parent = from.allowed_groups;
  if (allowed_groups !== null)
    return parent === null ? allowed_groups : allowed_groups.filter((group) => parent.includes(group));
  const sameOrLess = parent === null || (to.allowed_groups?.every((group) => parent.includes(group)) ?? false);
  return sameOrLess ? null : parent;
}
