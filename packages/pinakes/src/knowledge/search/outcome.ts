import type { SearchOutcome } from "@pinakes/client";
import { hasCode } from "../../domain/errors.ts";
import type { Caller } from "../../domain/caller.ts";
import type { Scope } from "../../domain/scope.ts";
import type { HiddenDocuments } from "../access/hidden-documents.ts";
import { visibleStats } from "../access/visible-stats.ts";
import type { KnowledgeDependencies } from "../dependencies.ts";
import { inParallel } from "../../runtime/in-parallel.ts";
import { atOnce, type Target } from "./search-scope.ts";

/**
 * Why an answer has no hits. Over all collections searched: `indexing`: some documents are being ingested, so retrying may help; `empty`:
 * there is nothing to search; `no_match`: nothing matches the query.
 */
export async function outcomeOf(
  deps: Pick<KnowledgeDependencies, "items" | "vectors">,
  caller: Caller,
  targets: readonly Target[],
): Promise<SearchOutcome> {
  const states = await inParallel(targets, atOnce, (target) => stateOf(deps, caller, target));
  if (states.includes("indexing")) return "indexing";
  return states.includes("no_match") ? "no_match" : "empty";
}

async function stateOf(
  deps: Pick<KnowledgeDependencies, "items" | "vectors">,
  caller: Caller,
  { opened, partition, generation, rows, hidden }: Target,
): Promise<SearchOutcome> {
  const stats = (await visibleStats(deps, caller, opened))?.record;
  if (stats !== undefined && stats.by_status.uploading + stats.by_status.pending + stats.by_status.indexing > 0)
    return "indexing";
  if ((stats?.chunk_count ?? 0) > 0) return "no_match";
  const names = [
    ...(generation === undefined ? [] : [{ name: partition.vectors(generation), hidden }]),
    ...(rows === undefined ? [] : [{ name: rows.name, hidden: undefined }]),
  ];
  for (const one of names) if (await holdsRows(deps.vectors, caller.scope, one)) return "no_match";
  return "empty";
}

async function holdsRows(
  vectors: KnowledgeDependencies["vectors"],
  scope: Scope,
  { name, hidden }: { readonly name: string; readonly hidden: HiddenDocuments | undefined },
): Promise<boolean> {
  try {
    return (await vectors.count(scope, name, { hidden })) > 0;
  } catch (error) {
    if (hasCode(error, "NOT_FOUND")) return false;
    throw error;
  }
}
