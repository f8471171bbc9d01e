/**
 * The access of a document (RFC 0014): a part of those who may use its collection, never more. The one decision, for every face:
 *
 *   no access to the collection                        → none
 *   ADMIN of the collection, or its uploader           → as for the collection
 *   allowed_groups and allowed_users, if any, name
 *   neither the caller nor one of their groups         → none
 *   a label without the group `sensitivity:<label>`    → none
 *   otherwise                                          → as for the collection
 *
 * Whoever may not see a document gets the answer of a collection without it.
 */
import type { DocumentAccess } from "@pinakes/client";
import type { Caller } from "../../domain/caller.ts";
import { requireWithin } from "../records/access-rules.ts";
import { checkGroups, checkLabels, checkUsers } from "../records/names.ts";
import type { CollectionRecord, DocumentRecord, RepositoryRecord } from "../records/records.ts";
import type { Decision } from "./access.ts";

type Who = Pick<Caller, "userId" | "groups">;

/** @param parent the decision on the collection */
export function decideDocument(
  who: Who,
  parent: Decision,
  { access, uploaded_by }: Pick<DocumentRecord, "access" | "uploaded_by">,
): Decision {
  if (access === undefined || parent.level === null || parent.level === "ADMIN") return parent;
  if (uploaded_by === who.userId) return { ...parent, reason: "the caller uploaded the document" };
  const { allowed_groups, allowed_users, sensitivity } = access;
  const through = (allowed_groups ?? []).filter((group) => who.groups.includes(group));
  const isNamed = allowed_users?.includes(who.userId) === true;
  if ((allowed_groups !== null || allowed_users !== null) && through.length === 0 && !isNamed)
    return denied("the caller is none of the document's users and in none of its groups");
  const label = sensitivity.find((one) => !who.groups.includes(clearanceGroup(one)));
  if (label !== undefined) return denied(`the caller is not cleared for "${label}"`);
  if (through.length === 0 && !isNamed) return { ...parent, reason: "the caller is cleared for the document's labels" };
  const reason = isNamed ? "the document names the caller" : "a group of the caller may see the document";
  return { ...parent, reason, groups: [...new Set([...parent.groups, ...through])] };
}

function denied(reason: string): Decision {
  return { level: null, reason, groups: [] };
}

export function seesDocument(
  who: Who,
  parent: Decision,
  document: Pick<DocumentRecord, "access" | "uploaded_by">,
): boolean {
  return decideDocument(who, parent, document).level !== null;
}

/** Membership is a user's clearance for a label. */
export function clearanceGroup(label: string): string {
  return `sensitivity:${label}`;
}

/** What an upload or a PATCH sends; absent fields stay as they are. */
export interface AccessInput {
  readonly allowed_groups?: unknown;
  readonly allowed_users?: unknown;
  readonly sensitivity?: unknown;
}

export type AccessChange = Partial<DocumentAccess>;

export const openAccess: DocumentAccess = Object.freeze({ allowed_groups: null, allowed_users: null, sensitivity: [] });

/** Undefined: no field is given. */
export function readAccess(
  { allowed_groups, allowed_users, sensitivity }: AccessInput,
  place: Place,
): AccessChange | undefined {
  if (allowed_groups === undefined && allowed_users === undefined && sensitivity === undefined) return undefined;
  return {
    ...(allowed_groups === undefined ? {} : { allowed_groups: withinCollection(checkGroups(allowed_groups), place) }),
    ...(allowed_users === undefined ? {} : { allowed_users: checkUsers(allowed_users) }),
    ...(sensitivity === undefined ? {} : { sensitivity: checkLabels(sensitivity) }),
  };
}

/** The access after a change; undefined if it does not restrict anybody. */
export function changedAccess(
  before: DocumentAccess | undefined,
  change: AccessChange | undefined,
): DocumentAccess | undefined {
  const { allowed_groups, allowed_users, sensitivity } = { ...(before ?? openAccess), ...change };
  if (allowed_groups === null && allowed_users === null && sensitivity.length === 0) return undefined;
  return { allowed_groups, allowed_users, sensitivity };
}

/** The record with another access. */
export function withAccess<Document extends { readonly access?: DocumentAccess }>(
  document: Document,
  access: DocumentAccess | undefined,
): Document {
  const { access: _, ...rest } = document;
  return (access === undefined ? rest : { ...rest, access }) as Document;
}

interface Place {
  readonly repository: Pick<RepositoryRecord, "allowed_groups">;
  readonly collection: Pick<CollectionRecord, "allowed_groups" | "collection_id">;
}

function withinCollection(
  groups: readonly string[] | null,
  { repository, collection }: Place,
): readonly string[] | null {
  requireWithin(groups, repository, collection, "allowed_groups");
  return groups;
}
