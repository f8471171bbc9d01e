/** The fields of a collection that a caller sets, validated against its repository. */
import type { ChunkingStrategy } from "../../domain/chunking.ts";
import { invalid, show } from "../../domain/errors.ts";
import { readGraphSettings } from "../extraction/index.ts";
import { catalogChunking, readChunkingStrategy, systemChunking } from "../chunking/index.ts";
import { knowledgeLimits, type Quotas } from "../limits.ts";
import { readAccessRules, requireWithin } from "./access-rules.ts";
import { checkMergedTags, checkMetadata, noMetadata } from "./metadata.ts";
import { checkDescription, checkGroups, checkName } from "./names.ts";
import type { CollectionRecord, RepositoryRecord } from "./records.ts";

export interface CollectionFields {
  /** null: the id. */
  readonly name?: string | null | undefined;
  /** null: empty. */
  readonly description?: string | null | undefined;
  readonly chunking_strategy?: unknown;
  readonly allow_chunking_override?: boolean | undefined;
  readonly graph?: unknown;
  readonly metadata?: unknown;
  readonly allowed_groups?: readonly string[] | null | undefined;
  readonly access_rules?: unknown;
  readonly private?: boolean | undefined;
  /** null: never. */
  readonly expires_after_days?: number | null | undefined;
}

/**
 * `had` are names that are always accepted, although the rules for names might refuse them: its id, which is its default name, and its
 * current name. So a record that was read can be written back.
 */
export function checkFields(
  input: CollectionFields,
  repository: RepositoryRecord,
  quotas: Quotas,
  had: readonly (string | undefined)[] = [],
): Partial<CollectionRecord> {
  const { name, description, chunking_strategy, allow_chunking_override, graph, metadata, allowed_groups } = input;
  const checked = {
    ...(name === undefined || name === null ? {} : { name: had.includes(name) ? name : checkName(name) }),
    ...(description === undefined
      ? {}
      : { description: checkDescription(description ?? "", quotas.descriptionCharsMax) }),
    ...(chunking_strategy === undefined
      ? {}
      : {
          chunking_strategy:
            chunking_strategy === null ? null : readChunkingStrategy(chunking_strategy, "chunking_strategy"),
        }),
    ...(allow_chunking_override === undefined
      ? {}
      : { allow_chunking_override: flag(allow_chunking_override, "allow_chunking_override") }),
    ...(graph === undefined ? {} : { graph: graph === null ? null : readGraphSettings(graph) }),
    ...(metadata === undefined ? {} : { metadata: metadata === null ? noMetadata : checkMetadata(metadata) }),
    ...(allowed_groups === undefined ? {} : { allowed_groups: withinParent(checkGroups(allowed_groups), repository) }),
    ...(input.access_rules === undefined ? {} : { access_rules: readAccessRules(input.access_rules) }),
    ...(input.private === undefined ? {} : { private: flag(input.private, "private") }),
    ...(input.expires_after_days === undefined ? {} : expiry(input.expires_after_days)),
  };
  if (checked.metadata !== undefined) checkMergedTags(repository.metadata, checked.metadata);
  return checked;
}

/**
 * The collection's own strategy, else its first pipeline's, else the repository's, else the system default (for a personal repository, that
 * of catalogs).
 */
export function effectiveChunking(repository: RepositoryRecord, collection: CollectionRecord): ChunkingStrategy {
  const pipeline = collection.pipelines.find(({ chunking_strategy }) => chunking_strategy !== null)?.chunking_strategy;
  return collection.chunking_strategy ?? pipeline ?? repositoryChunking(repository);
}

export function repositoryChunking({ chunking_strategy, owner }: RepositoryRecord): ChunkingStrategy {
  return chunking_strategy ?? (owner === null ? systemChunking : catalogChunking);
}

/** A collection cannot admit groups that its repository excludes. */
function withinParent(groups: readonly string[] | null, repository: RepositoryRecord): readonly string[] | null {
  const parent = repository.allowed_groups;
  if (groups === null || parent === null) return groups;
  const outside = groups.filter((group) => !parent.includes(group));
  if (outside.length > 0)
    throw invalid(
      `allowed_groups: ${outside.map((group) => `"${group}"`).join(", ")} may not use the repository; it allows ${parent.join(", ")}.`,
    );
  return groups;
}

/** What is changed has not expired yet. */
function expiry(days: number | null): Pick<CollectionRecord, "expires_after_days" | "expired_at"> {
  const { expiryDaysMax } = knowledgeLimits;
  if (days !== null && (!Number.isInteger(days) || days < 1 || days > expiryDaysMax))
    throw invalid(`expires_after_days: must be null or a whole number from 1 to ${expiryDaysMax}, got ${show(days)}.`);
  return { expires_after_days: days, expired_at: null };
}

function flag(value: unknown, where: string): boolean {
  if (typeof value !== "boolean") throw invalid(`${where}: must be true or false.`);
  return value;
}

/** Rules may name only groups that may use the collection, as it will be. */
export function requireRulesWithin(
  repository: RepositoryRecord,
  collection: Pick<CollectionRecord, "allowed_groups" | "collection_id" | "access_rules">,
): void {
  for (const [i, { allowed_groups = null }] of (collection.access_rules ?? []).entries())
    requireWithin(allowed_groups, repository, collection, `access_rules[${i}].allowed_groups`);
}
