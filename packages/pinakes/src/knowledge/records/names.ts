/** Names, tags, descriptions, groups and file names: validation, and the key under which a name is unique. */
import { invalid, show, type PinakesError } from "../../domain/errors.ts";
import { knowledgeLimits } from "../limits.ts";

const namePattern = /^[A-Za-z0-9 _-]+$/;
const idPattern = new RegExp(`^[A-Za-z0-9._-]{1,${knowledgeLimits.idCharsMax}}$`);
/** `<p>`, `</p>`, `<!--`, `<?php` are markup; "a < b" is not. */
const markup = /<[a-z!/?]/i;
const control = /\p{Cc}/u;
/** Longer than any id, and the maximum in a path; the stores accept slightly more. */
export const askedIdCharsMax = 256;
/** In no id; the stores would refuse it with an error in their own terms. */
const neverInId = /[\p{Cc}/\\?#\u{10ffff}]/u;
const controlButBreaks = /[^\P{Cc}\n\t]/u;

/** Letters, digits, space, "-" and "_", 1–100 characters, not only spaces. */
export function checkName(name: unknown, where = "name"): string {
  const { nameCharsMax } = knowledgeLimits;
  if (typeof name !== "string" || name.trim() === "")
    throw invalid(`${where}: must be a string of 1–${nameCharsMax} characters, got ${show(name)}.`);
  const chars = Array.from(name).length;
  if (chars > nameCharsMax) throw invalid(`${where}: has ${chars} characters; at most ${nameCharsMax} are allowed.`);
  if (!namePattern.test(name))
    throw invalid(`${where}: may have letters, digits, spaces, "-" and "_" only, got ${show(name)}.`);
  return name;
}

/** Of an import: the reference project takes letters and digits of every script. A record keeps such a name, and may be sent back with it. */
export function checkForeignName(name: string, where: string): string {
  const { nameCharsMax } = knowledgeLimits;
  const chars = Array.from(name).length;
  if (name.trim() === "" || chars > nameCharsMax)
    throw invalid(`${where}: must have 1–${nameCharsMax} characters, not only spaces; this name has ${chars}.`);
  if (!/^[\p{L}\p{N} _-]+$/u.test(name))
    throw invalid(`${where}: may have letters, digits, spaces, "-" and "_" only, got ${show(name)}.`);
  return name;
}

/** Names with the same key are equal. */
export function nameKey(name: string): string {
  return name.normalize("NFC").toLowerCase().trim();
}

export function checkId(id: unknown, where: string): string {
  if (typeof id === "string" && idPattern.test(id) && id !== "." && id !== "..") return id;
  throw notAnId(id, where);
}

function notAnId(id: unknown, where: string): PinakesError {
  return invalid(
    `${where}: an id has 1–${knowledgeLimits.idCharsMax} letters, digits, ".", "_" or "-"; got ${show(id)}.`,
  );
}

/**
 * Validates an id in a query. An impossible id, about which the store would complain in terms of keys, is refused here; any other unknown
 * id is simply not found.
 */
export function checkAskedId(id: unknown, where: string): void {
  checkAskedKey(id, where);
  if (neverInId.test(id as string)) throw notAnId(id, where);
}

/** The same for a repository, whose id is a key by itself: the store refuses only overlong or malformed text. */
export function checkAskedKey(id: unknown, where: string): void {
  if (typeof id !== "string" || id.length > askedIdCharsMax || id.includes("\0") || !id.isWellFormed())
    throw notAnId(id, where);
}

export function checkDescription(description: unknown, charsMax: number, where = "description"): string {
  if (typeof description !== "string") throw invalid(`${where}: must be a string.`);
  const chars = Array.from(description).length;
  if (chars > charsMax) throw invalid(`${where}: has ${chars} characters; at most ${charsMax} are allowed.`);
  if (markup.test(description)) throw invalid(`${where}: must be plain text, without HTML.`);
  if (controlButBreaks.test(description)) throw invalid(`${where}: must not contain control characters.`);
  return description;
}

export function checkTags(tags: unknown, where = "metadata.tags"): readonly string[] {
  const { tagsMax, tagCharsMax } = knowledgeLimits;
  if (!Array.isArray(tags)) throw invalid(`${where}: must be a list of strings.`);
  const unique = [...new Set(tags as unknown[])];
  if (unique.length > tagsMax) throw invalid(`${where}: has ${unique.length} tags; at most ${tagsMax} are allowed.`);
  return unique.map((tag, i) => {
    if (!isTag(tag))
      throw invalid(
        `${where}[${i}]: a tag has 1–${tagCharsMax} letters, digits, spaces, "-" or "_", got ${show(tag)}.`,
      );
    return tag;
  });
}

export function isTag(tag: unknown): tag is string {
  return (
    typeof tag === "string" &&
    tag.trim() !== "" &&
    Array.from(tag).length <= knowledgeLimits.tagCharsMax &&
    namePattern.test(tag)
  );
}

/** null and [] inherit the parent's groups. */
export function checkGroups(groups: unknown, where = "allowed_groups"): readonly string[] | null {
  const { groupsMax, groupCharsMax } = knowledgeLimits;
  if (groups === null) return null;
  if (!Array.isArray(groups) || groups.length > groupsMax)
    throw invalid(`${where}: must be null or a list of at most ${groupsMax} groups.`);
  const unique = [...new Set(groups as unknown[])].map((group, i) => {
    if (typeof group !== "string" || group === "" || group.length > groupCharsMax || control.test(group))
      throw invalid(`${where}[${i}]: a group must be a string of 1–${groupCharsMax} characters, got ${show(group)}.`);
    return group;
  });
  return unique.length === 0 ? null : unique;
}

/** Ids of users; null and [] name nobody. */
export function checkUsers(users: unknown, where = "allowed_users"): readonly string[] | null {
  const { allowedUsersMax, groupCharsMax } = knowledgeLimits;
  if (users === null) return null;
  if (!Array.isArray(users) || users.length > allowedUsersMax)
    throw invalid(`${where}: must be null or a list of at most ${allowedUsersMax} ids of users.`);
  const unique = [...new Set(users as unknown[])].map((user, i) => {
    if (typeof user !== "string" || user === "" || user.length > groupCharsMax || control.test(user))
      throw invalid(`${where}[${i}]: the id of a user is a text of 1–${groupCharsMax} characters, got ${show(user)}.`);
    return user;
  });
  return unique.length === 0 ? null : unique;
}

/** Labels of sensitivity; null: none. */
export function checkLabels(labels: unknown, where = "sensitivity"): readonly string[] {
  const { sensitivityLabelsMax, tagCharsMax } = knowledgeLimits;
  if (labels === null) return [];
  if (!Array.isArray(labels) || labels.length > sensitivityLabelsMax)
    throw invalid(`${where}: must be a list of at most ${sensitivityLabelsMax} labels.`);
  return [...new Set(labels as unknown[])].map((label, i) => {
    if (!isTag(label))
      throw invalid(
        `${where}[${i}]: a label has 1–${tagCharsMax} letters, digits, spaces, "-" or "_", got ${show(label)}.`,
      );
    return label;
  });
}

/** Normalized to NFC, so that a name is the same on every system. */
export function checkFileName(name: unknown, where = "name"): string {
  const { fileNameCharsMax } = knowledgeLimits;
  if (typeof name !== "string") throw invalid(`${where}: must be a file name.`);
  const normal = name.normalize("NFC");
  const chars = Array.from(normal).length;
  if (chars < 1 || chars > fileNameCharsMax)
    throw invalid(`${where}: must have 1–${fileNameCharsMax} characters; this file name has ${chars}.`);
  if (/[/\\]/.test(normal)) throw invalid(`${where}: a file name cannot contain "/" or "\\"; got ${show(normal)}.`);
  if (control.test(normal) || !normal.isWellFormed())
    throw invalid(`${where}: a file name cannot contain control characters; got ${show(normal)}.`);
  if (normal === "." || normal === ".." || normal.trim() === "")
    throw invalid(`${where}: ${show(normal)} is not a file name.`);
  return normal;
}
