/** The subject of an erasure: validated input, and the paths that name such a subject. */
import { hash } from "node:crypto";
import { erasureSubjectTypes, type ErasureSubject, type ErasureSubjectType } from "@pinakes/client";
import { invalid, show } from "../../domain/errors.ts";
import { governanceLimits } from "../limits.ts";

interface NamedDocuments {
  readonly repository_id: string;
  readonly collection_id: string;
  readonly document_ids: readonly string[];
}

export interface Subject {
  readonly type: ErasureSubjectType;
  /** For documents: repository, collection and ids as one string. */
  readonly id: string;
  readonly documents?: NamedDocuments | undefined;
  /** More paths that name it. */
  readonly paths: readonly string[];
}

/** The last part of every path that names a subject of this type. */
export const namingKeys: Readonly<Record<ErasureSubjectType, readonly string[]>> = {
  workspace: [],
  user: ["created_by", "user_id", "userId", "uploaded_by"],
  agent: ["agent_id", "agentId"],
  session: ["session_id", "sessionId", "thread_id", "threadId"],
  documents: [],
};

/** Where those keys are looked for, besides the document itself. */
export const namingObjects = ["metadata", "security_context", "dimensions"] as const;

export function checkSubject(input: ErasureSubject, paths: readonly string[] = []): Subject {
  const { type, id } = input;
  if (!erasureSubjectTypes.includes(type))
    throw invalid(`subject.type: must be one of ${erasureSubjectTypes.join(", ")}, got ${show(type)}.`);
  if (type === "documents") return { type, ...checkDocuments(input), paths: [] };
  if (input.document_ids !== undefined || input.collection_id !== undefined || input.repository_id !== undefined)
    throw invalid(`subject: repository_id, collection_id and document_ids belong to type documents, not ${type}.`);
  return { type, id: checkId(id, "subject.id"), paths: paths.map(checkPath) };
}

function checkDocuments({ id, repository_id, collection_id, document_ids = [] }: ErasureSubject) {
  if (id !== undefined)
    throw invalid("subject.id: documents are named by repository_id, collection_id and document_ids.");
  const max = governanceLimits.documentIdsMax;
  if (document_ids.length === 0 || document_ids.length > max)
    throw invalid(`subject.document_ids: must be 1–${max} ids, got ${document_ids.length}.`);
  const documents = {
    repository_id: checkId(repository_id, "subject.repository_id"),
    collection_id: checkId(collection_id, "subject.collection_id"),
    document_ids: [...new Set(document_ids.map((one) => checkId(one, "subject.document_ids")))].toSorted(),
  };
  return { id: JSON.stringify(documents), documents };
}

/** Wildcards are rejected explicitly: a caller who sends one expects more than a single id. */
export function checkId(id: unknown, field: string): string {
  if (typeof id !== "string" || id.trim() === "" || id.length > governanceLimits.subjectIdCharsMax)
    throw invalid(`${field}: must be a string of 1–${governanceLimits.subjectIdCharsMax} characters, got ${show(id)}.`);
  if (/^[*%?\s]+$/.test(id))
    throw invalid(`${field}: ${show(id)} does not name a subject; wildcards are not supported.`);
  return id;
}

const pathPattern = /^[A-Za-z_][\w-]*(?:\.[A-Za-z_][\w-]*)*$/;

function checkPath(path: string): string {
  if (path.length > governanceLimits.pathCharsMax || !pathPattern.test(path))
    throw invalid(`paths: ${show(path)} is not a path; write names separated by dots, such as author.id.`);
  return path;
}

/** Partitions and prefixes of a user's own data are named by this (files, library, responses). */
export function userHash(userId: string): string {
  return hash("sha256", userId, "hex").slice(0, 32);
}
