/** Tags and custom fields of repositories and collections, and how a collection inherits them. */
import type { Metadata } from "@pinakes/client";
import { invalid } from "../../domain/errors.ts";
import { checkJson, isJsonObject } from "../../domain/json.ts";
import { knowledgeLimits } from "../limits.ts";
import { checkTags } from "./names.ts";

export type { Metadata };

export const noMetadata: Metadata = Object.freeze({ tags: Object.freeze([]), custom_fields: Object.freeze({}) });

export function checkMetadata(input: unknown, where = "metadata"): Metadata {
  if (!isJsonObject(input)) throw invalid(`${where}: must be an object with tags and custom_fields.`);
  const { tags = [], custom_fields = {}, ...rest } = input;
  const unknown = Object.keys(rest);
  if (unknown.length > 0)
    throw invalid(`${where}.${unknown[0]}: is unknown; put custom fields into ${where}.custom_fields.`);
  if (!isJsonObject(custom_fields)) throw invalid(`${where}.custom_fields: must be an object.`);
  checkJson(custom_fields, `${where}.custom_fields`);
  const bytes = Buffer.byteLength(JSON.stringify(custom_fields), "utf8");
  if (bytes > knowledgeLimits.customFieldsBytesMax)
    throw invalid(
      `${where}.custom_fields: has ${bytes} bytes as JSON; at most ${knowledgeLimits.customFieldsBytesMax} are allowed.`,
    );
  return { tags: checkTags(tags, `${where}.tags`), custom_fields };
}

/** The tags of both, deduplicated; custom fields of the collection override those of the repository. */
export function effectiveMetadata(parent: Metadata, own: Metadata): Metadata {
  return {
    tags: [...new Set([...parent.tags, ...own.tags])],
    custom_fields: { ...parent.custom_fields, ...own.custom_fields },
  };
}

export function checkMergedTags(parent: Metadata, own: Metadata, whose = "the collection"): void {
  const { length } = effectiveMetadata(parent, own).tags;
  if (length > knowledgeLimits.tagsMax)
    throw invalid(
      `metadata.tags: together with the repository's tags ${whose} would have ${length} tags; at most ${knowledgeLimits.tagsMax} are allowed.`,
    );
}
