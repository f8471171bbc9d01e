/** A new collection: fence, log, head and lease in one batch, with an empty first version. */
import { PinakesError, invalid, show } from "../../domain/errors.ts";
import { isJsonObject } from "../../domain/json.ts";
import { vectorLimits } from "../limits.ts";
import type { CollectionSettings } from "../segment/collection-settings.ts";
import { formatSum, zeroSum } from "../segment/row-sum.ts";
import { historyDocument, type CollectionSite } from "../store/collection-site.ts";
import { encodeManifest, type Manifest } from "../store/manifest.ts";
import { itemIds, type Fence, type Head, type Lease, type Log } from "../store/records.ts";
import { languages } from "../text/analyzer.ts";

export type NewCollection = Partial<CollectionSettings> & Pick<CollectionSettings, "dims">;

export function checkSettings(input: NewCollection): CollectionSettings {
  if (!isJsonObject(input)) throw invalid("The settings of a collection must be an object with dims.");
  const { dims, metric = "cosine", language = "english" } = input;
  const { dimsMin, dimsMax } = vectorLimits;
  if (!Number.isInteger(dims) || dims < dimsMin || dims > dimsMax)
    throw invalid(`dims: must be a whole number from ${dimsMin} to ${dimsMax}, got ${show(dims)}.`);
  if (metric !== "cosine" && metric !== "dot" && metric !== "l2")
    throw invalid(`metric: must be cosine, dot or l2, got ${show(metric)}.`);
  if (!languages.includes(language))
    throw invalid(`language: must be one of ${languages.join(", ")}; got ${show(language)}.`);
  return { dims, metric, language };
}

/** Idempotent with the same settings; other settings, or an id that was used before, are a conflict. */
export async function createCollection(site: CollectionSite, settings: CollectionSettings): Promise<void> {
  const now = site.deps.clock.now();
  const logId = site.deps.uniqueName();
  const commitId = site.deps.uniqueName();
  const manifest = emptyManifest(site, settings, { logId, commitId, now });
  const { bytes, sha256 } = encodeManifest(manifest);
  const key = site.manifestKey(0, commitId);
  const fence: Fence = { kind: "fence", status: "active", settings, createdAt: now };
  const log: Log = { nextSeq: 1, logId, generation: 0, rests: 0, restored: 0, dirty: false, bytes: 0 };
  const head: Head = { version: 0, commitId, appliedSeq: 0, appliedBytes: 0, key, sha256, committedAt: now };
  const lease: Lease = { owner: null, epoch: 0, beat: 0 };
  await site.deps.objects.put(site.scope, key, bytes);
  try {
    await site.batch([
      { op: "create", document: site.document(itemIds.fence, fence) },
      { op: "create", document: site.document(itemIds.log, log) },
      { op: "create", document: site.document(itemIds.head, head) },
      { op: "create", document: site.document(itemIds.lease, lease) },
      {
        op: "create",
        document: site.document(
          itemIds.history(0),
          historyDocument({ manifest, key, sha256, committedAt: now }, Buffer.from(bytes).toString("utf8")),
        ),
      },
    ]);
  } catch (error) {
    await settle(site, settings, key, error);
  }
}

/** The batch failed, or its answer was lost: the current state decides. */
async function settle(site: CollectionSite, settings: CollectionSettings, key: string, error: unknown): Promise<void> {
  const there = await site.fence();
  if (there === undefined) throw error;
  const head = await site.read<Head>(itemIds.head);
  if (head?.key !== key) await site.deps.objects.delete(site.scope, [key]);
  const same = there.status === "active" && JSON.stringify(there.settings) === JSON.stringify(settings);
  if (same) return;
  const reason = there.status === "active" ? "has other settings" : "was deleted, and its id cannot be reused";
  throw new PinakesError("CONFLICT", `The vectors of ${show(site.collection)} exist: the collection ${reason}.`);
}

function emptyManifest(
  site: CollectionSite,
  settings: CollectionSettings,
  fields: { logId: string; commitId: string; now: number },
): Manifest {
  return {
    format: 1,
    collection: site.collection,
    logId: fields.logId,
    version: 0,
    commitId: fields.commitId,
    parent: null,
    epoch: 0,
    reason: "init",
    writer: "create",
    createdAt: fields.now,
    settings,
    appliedSeq: 0,
    appliedBytes: 0,
    applied: [],
    dead: [],
    discarded: [],
    segments: [],
    stats: { live: 0, bytes: 0, liveSum: formatSum(zeroSum) },
  };
}
