/** One merge: several segments become one with their live rows. The live rows do not change, and that is checked. */
import { PinakesError } from "../../domain/errors.ts";
import type { CollectionSite } from "../store/collection-site.ts";
import { openSegments } from "../store/open-segments.ts";
import type { Head } from "../store/records.ts";
import { kept, manifestOf } from "./fold.ts";
import type { HeldLease } from "./lease.ts";
import { liveStats } from "./live-stats.ts";
import { chooseMerge } from "./merge-policy.ts";
import { publish, type Publication } from "./publish.ts";
import { writeSegment } from "./segment-writer.ts";

/** Undefined if no merge is worthwhile. `all`: everything into as few as the caps allow, on an operator's request. */
export async function mergeOnce(
  site: CollectionSite,
  head: Head,
  lease: HeldLease,
  all = false,
): Promise<{ published: Publication; rowsWritten: number } | undefined> {
  const manifest = await manifestOf(site, head);
  const chosen = chooseMerge(manifest.segments, all);
  if (chosen.length === 0) return undefined;
  const opened = await openSegments(site, {
    ...manifest,
    segments: chosen.map((i) => manifest.segments[i] as (typeof manifest.segments)[number]),
  });
  const { keepsTombstone } = site.deps.policy;
  const deadSeqs = manifest.dead.map(({ seq }) => seq);
  const source: number[] = [];
  const row: number[] = [];
  for (const [index, { rows, deleted }] of opened.entries()) {
    for (let r = 0; r < rows.rows; r += 1) {
      if (deleted?.has(r) ?? false) continue;
      if (!rows.isPut(r) && !keepsTombstone(rows.seq(r), deadSeqs)) continue;
      source.push(index);
      row.push(r);
    }
  }
  const sources = opened.map(({ rows }) => ({ segment: rows.segment }));
  const output = await writeSegment(site, manifest.settings, sources, {
    source: Uint32Array.from(source),
    row: Uint32Array.from(row),
  });
  const rest = manifest.segments.filter((_, i) => !chosen.includes(i));
  const segments = output === undefined ? rest : [...rest, output.entry];
  const stats = liveStats(segments);
  if (stats.live !== manifest.stats.live || stats.liveSum !== manifest.stats.liveSum)
    throw new PinakesError(
      "INTERNAL",
      `A merge changed what is live (${manifest.stats.live} rows, sum ${manifest.stats.liveSum} → ${stats.live}, ${stats.liveSum}); nothing was published.`,
    );
  const published = await publish(site, head, lease, { ...kept(manifest), reason: "merge", segments, stats });
  return { published, rowsWritten: source.length };
}
