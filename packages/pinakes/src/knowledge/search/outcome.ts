import type { SearchOutcome } from "@pinakes/client";
import { hasCode } from "../../domain/errors.ts";
import type { Scope } from "../../domain/scope.ts";
import type { KnowledgeDependencies } from "../dependencies.ts";
import { inParallel } from "../../runtime/in-parallel.ts";
import { atOnce, type Target } from "./search-scope.ts";

/**
 * Why an answer has no hits. Over all collections searched: `indexing`: some documents are being ingested, so retrying may help; `empty`:
 * there is nothing to search; `no_match`: nothing matches the query.
 */
export async function outcomeOf(
  deps: Pick<KnowledgeDependencies, "vectors">,
  scope: Scope,
  targets: readonly Target[],
): Promise<SearchOutcome> {
  const states = await inParallel(targets, atOnce, (target) => stateOf(deps, scope, target));
  if (states.includes("indexing")) return "indexing";
  return states.includes("no_match") ? "no_match" : "empty";
}

async function stateOf(
  { vectors }: Pick<KnowledgeDependencies, "vectors">,
  scope: Scope,
  { partition, generation, rows }: Target,
): Promise<SearchOutcome> {
  const stats = (await partition.stats())?.record;
  if (stats !== undefined && stats.by_status.uploading + stats.by_status.pending + stats.by_status.indexing > 0)
    return "indexing";
  if ((stats?.chunk_count ?? 0) > 0) return "no_match";
  const names = [
    ...(generation === undefined ? [] : [partition.vectors(generation)]),
    ...(rows === undefined ? [] : [rows.name]),
  ];
  for (const name of names) if (await holdsRows(vectors, scope, name)) return "no_match";
  return "empty";
}

async function holdsRows(vectors: KnowledgeDependencies["vectors"], scope: Scope, name: string): Promise<boolean> {
  try {
    return (await vectors.count(scope, name)) > 0;
  } catch (error) {
    if (hasCode(error, "NOT_FOUND")) return false;
    throw error;
  }
}
