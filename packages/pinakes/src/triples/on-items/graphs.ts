/** The graph names of a space: merges the sorted names of its shards. */
import type { TermText } from "../../domain/rdf.ts";
import { badCursor } from "../space-errors.ts";
import { graphId } from "./quad-items.ts";
import type { Shard } from "./shard.ts";

const itemsPerListMax = 1_000;
const keyPattern = /^[A-Za-z0-9_-]{27}$/;

export async function listGraphs(
  shards: readonly Shard[],
  after: string | undefined,
  limit: number,
): Promise<{ graphs: TermText[]; next: string | undefined }> {
  if (after !== undefined && !keyPattern.test(after)) throw badCursor();
  const found = new Map<string, TermText>();
  let complete = true;
  for (const shard of shards) {
    // The full limit from each shard, so the first names of the space are among these.
    const range = after === undefined ? { gte: graphId(""), lt: "h" } : { gt: graphId(after), lt: "h" };
    const items = await shard.list(range, Math.min(itemsPerListMax, limit + 1));
    if (items.length === itemsPerListMax) complete = false;
    for (const { id, document } of items) found.set(id, document["g"] as TermText);
  }
  const sorted = [...found].toSorted(([a], [b]) => (a < b ? -1 : 1));
  const page = sorted.slice(0, limit);
  const more = sorted.length > limit || (!complete && sorted.length === limit);
  return { graphs: page.map(([, g]) => g), next: more ? page.at(-1)?.[0].slice(graphId("").length) : undefined };
}
