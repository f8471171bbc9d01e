/**
 * For erasures: a collection without a byte of what was deleted from it. Tombstones and the retention of versions (RFC 0001) only hide
 * deleted rows; here every segment that holds one is rewritten, and then versions and applied deltas go at once.
 */
import { PinakesError } from "../../domain/errors.ts";
import type { Compactor } from "../compact/compactor.ts";
import { manifestOf } from "../compact/fold.ts";
import { CollectionSite } from "../store/collection-site.ts";
import { liveOf } from "../store/manifest.ts";
import type { Delta } from "../store/records.ts";
import { collectGarbage } from "./collect.ts";

export interface ScrubResult {
  readonly outcome: "done" | "busy";
  readonly rowsWritten: number;
  readonly objects: number;
  readonly versions: number;
}

export interface Leftovers {
  /** Rows in segments that are deleted or replaced, and tombstones. */
  readonly rows: number;
  /** Versions besides the newest. */
  readonly versions: number;
  /** Applied or pending. */
  readonly deltas: number;
  /** Deltas that cannot be read: nobody knows what they hold. */
  readonly unreadable: number;
}

/** A delta that was appended meanwhile is another writer's; the next attempt takes it. */
export async function scrubCollection(
  site: CollectionSite,
  compactor: Compactor,
  signal: AbortSignal | undefined,
): Promise<ScrubResult> {
  const compacted = await compactor.run(site, { merge: "dead", signal });
  const { rowsWritten } = compacted;
  if (compacted.outcome !== "done") return { outcome: "busy", rowsWritten, objects: 0, versions: 0 };
  const { manifest } = await current(site);
  if (manifest.dead.length > 0)
    throw new PinakesError(
      "CONFLICT",
      `The vectors of "${site.collection}" have ${manifest.dead.length} delta(s) that cannot be read, so their contents are unknown. Redrive or discard them; then the erasure continues.`,
    );
  const policy = {
    ...site.deps.policy,
    retentionMs: 0,
    appliedDeltaMs: 0,
    isRetained: ({ supersededAt }: { supersededAt: number | undefined }) => supersededAt === undefined,
  };
  const impatient = new CollectionSite({ ...site.deps, policy }, site.scope, site.collection);
  const { outcome, objects, versions } = await collectGarbage(impatient);
  return { outcome, rowsWritten, objects, versions };
}

export async function leftoversOf(site: CollectionSite): Promise<Leftovers> {
  const { head, manifest } = await current(site);
  let versions = 0;
  for await (const entry of site.histories()) if (entry.manifest.version !== head.version) versions += 1;
  let deltas = 0;
  for await (const _ of site.all<Delta>("delta.")) deltas += 1;
  const rows = manifest.segments.reduce((sum, entry) => sum + entry.rows - liveOf(entry), 0);
  return { rows, versions, deltas, unreadable: manifest.dead.length };
}

async function current(site: CollectionSite) {
  const { head } = await site.state();
  return { head, manifest: await manifestOf(site, head) };
}
