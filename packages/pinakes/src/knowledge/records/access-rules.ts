/**
 * Rules of a collection that narrow the access of documents by their metadata (RFC 0014). They apply when a document is uploaded and when
 * its metadata changes, and to what its uploader makes of its access; what was decided before stays.
 */
import type { AccessRule, DocumentAccess } from "@pinakes/client";
import { invalid } from "../../domain/errors.ts";
import { isJsonObject, type JsonObject } from "../../domain/json.ts";
import { knowledgeLimits } from "../limits.ts";
import { checkGroups, checkLabels, checkUsers } from "./names.ts";
import type { CollectionRecord, RepositoryRecord } from "./records.ts";

const fields = ["metadata", "allowed_groups", "allowed_users", "sensitivity"];

export function readAccessRules(input: unknown): readonly AccessRule[] {
  const { accessRulesMax } = knowledgeLimits;
  if (input === null) return [];
  if (!Array.isArray(input) || input.length > accessRulesMax)
    throw invalid(`access_rules: must be null or a list of at most ${accessRulesMax} rules.`);
  return input.map((rule: unknown, i) => readRule(rule, `access_rules[${i}]`));
}

function readRule(input: unknown, where: string): AccessRule {
  if (!isJsonObject(input)) throw invalid(`${where}: must be an object with metadata.`);
  const unknown = Object.keys(input).find((name) => !fields.includes(name));
  if (unknown !== undefined) throw invalid(`${where}.${unknown}: is not known; known are ${fields.join(", ")}.`);
  const { metadata, allowed_groups, allowed_users, sensitivity } = input;
  if (!isJsonObject(metadata) || Object.keys(metadata).length === 0)
    throw invalid(`${where}.metadata: must be an object such as { "department": "hr" }.`);
  if (Object.values(metadata).some((value) => typeof value === "object" && value !== null))
    throw invalid(`${where}.metadata: values must be texts, numbers, booleans or null.`);
  const access = {
    ...(allowed_groups === undefined ? {} : { allowed_groups: checkGroups(allowed_groups, `${where}.allowed_groups`) }),
    ...(allowed_users === undefined ? {} : { allowed_users: checkUsers(allowed_users, `${where}.allowed_users`) }),
    ...(sensitivity === undefined ? {} : { sensitivity: checkLabels(sensitivity, `${where}.sensitivity`) }),
  };
  if ((access.allowed_groups ?? access.allowed_users ?? null) === null && (access.sensitivity ?? []).length === 0)
    throw invalid(`${where}: narrows nothing; give allowed_groups, allowed_users or sensitivity.`);
  return { metadata, ...access };
}

/** A group that may not use the collection could never see a document of it. */
export function requireWithin(
  groups: readonly string[] | null,
  repository: Pick<RepositoryRecord, "allowed_groups">,
  collection: Pick<CollectionRecord, "allowed_groups" | "collection_id">,
  where: string,
): void {
  const parent = collection.allowed_groups ?? repository.allowed_groups;
  const outside = parent === null ? [] : (groups ?? []).filter((group) => !parent.includes(group));
  if (parent !== null && outside.length > 0)
    throw invalid(
      `${where}: ${outside.map((group) => `"${group}"`).join(", ")} may not use collection "${collection.collection_id}"; it allows ${parent.join(", ")}. A document narrows the access to its collection.`,
    );
}

/** The access with what the matching rules demand: the lists of the first that has any, and the labels of all. */
export function ruledAccess(
  access: DocumentAccess | undefined,
  { access_rules = [] }: Pick<CollectionRecord, "access_rules">,
  metadata: JsonObject,
): DocumentAccess | undefined {
  const matching = access_rules.filter((rule) => Object.entries(rule.metadata).every(([k, v]) => metadata[k] === v));
  if (matching.length === 0) return access;
  const lists = matching.find((rule) => (rule.allowed_groups ?? rule.allowed_users ?? null) !== null) ?? access;
  const labels = [access, ...matching].flatMap((one) => one?.sensitivity ?? []);
  return {
    allowed_groups: lists?.allowed_groups ?? null,
    allowed_users: lists?.allowed_users ?? null,
    sensitivity: [...new Set(labels)],
  };
}
