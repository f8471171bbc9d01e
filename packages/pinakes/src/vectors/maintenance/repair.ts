/**
 * Rebuilding the items from the bucket (RFC 0001, "Fsck and repair"): after they were lost, or restored to an older state. The bucket's
 * newest version becomes the head; pending deltas of the log that no version has applied follow it.
 */
import { hash } from "node:crypto";
import { hasCode, PinakesError, show } from "../../domain/errors.ts";
import type { Operation } from "../../ports/item-store.ts";
import type { VectorWork } from "../log/vector-work.ts";
import { prepare, readMirror, writeMirror } from "../compact/publish.ts";
import { claimedRef } from "../segment/file-format.ts";
import { historyDocument, type CollectionSite } from "../store/collection-site.ts";
import { decodeManifest, keysOf, type Manifest } from "../store/manifest.ts";
import { itemIds, type Delta, type Fence, type Head, type Lease, type Log } from "../store/records.ts";
import { listObjects } from "./collect.ts";

export interface RepairResult {
  readonly version: number;
  readonly from: number;
  /** Pending deltas of the log that were kept. */
  readonly pending: number;
  /** Delta objects of the bucket that neither a version nor the log knows. */
  readonly unknownDeltas: readonly string[];
  readonly recovered: number;
}

interface StoredManifest {
  readonly key: string;
  readonly sha256: string;
  readonly manifest: Manifest;
}

export async function repairFromBucket(
  site: CollectionSite,
  work: VectorWork,
  { recoverDeltas = false } = {},
): Promise<RepairResult> {
  const fence = await site.fence();
  if (fence !== undefined && fence.status !== "active" && fence.status !== "diverged") throw site.notFound();
  // Before the bucket is listed: a delta that came after that would look like one without an object.
  if (fence?.status === "active") await stopWriters(site, fence);
  const objects = new Set((await listObjects(site)).map(({ key }) => key));
  const manifests = await readManifests(site, objects);
  const newest = await chooseNewest(site, manifests, objects);
  const known = new Set(chainOf(newest, manifests).flatMap(({ manifest }) => manifest.applied.map(({ key }) => key)));
  const log = await site.read<Log>(itemIds.log);
  const pending = (await site.deltas(0, Number.MAX_SAFE_INTEGER)).filter(
    ({ key }) => !known.has(key) && objects.has(key),
  );
  const unknownDeltas = [...objects].filter(
    (key) => key.startsWith(`${site.prefix}deltas/`) && !known.has(key) && pending.every((delta) => delta.key !== key),
  );
  const lost = recoverDeltas ? await readUnknown(site, unknownDeltas) : [];
  const after = Math.max(newest.manifest.appliedSeq, (log?.nextSeq ?? 1) - 1);
  await resequence(site, [...pending, ...lost], after);
  const version = await writeItems(site, { newest, after, count: pending.length + lost.length, log, fence });
  const { tenant, collection } = site;
  await work.put({ kind: "compact", tenant, key: collection, due_at: 0 });
  await site.batch([{ op: "patch", id: itemIds.fence, patch: [{ op: "set", path: "/status", value: "active" }] }]);
  return { version, from: newest.manifest.version, pending: pending.length, unknownDeltas, recovered: lost.length };
}

async function readManifests(site: CollectionSite, objects: ReadonlySet<string>): Promise<StoredManifest[]> {
  const manifests: StoredManifest[] = [];
  for (const key of [...objects].filter((name) => name.startsWith(`${site.prefix}manifests/`)).sort()) {
    const bytes = await site.getObject(key);
    try {
      const manifest = decodeManifest(bytes, key);
      manifests.push({ key, manifest, sha256: hash("sha256", bytes, "hex") });
    } catch (error) {
      if (!PinakesError.isInstance(error)) throw error; // A damaged manifest is not a candidate.
    }
  }
  return manifests;
}

/** The one that the mirror names, or the newest with all its files. One that was prepared and rejected has no successor. */
async function chooseNewest(
  site: CollectionSite,
  manifests: readonly StoredManifest[],
  objects: ReadonlySet<string>,
): Promise<StoredManifest> {
  const whole = manifests.filter(({ manifest }) => keysOf(manifest).every((key) => objects.has(key)));
  const mirror = await readMirror(site);
  const head = await site.read<Head>(itemIds.head);
  const named = [mirror, head].filter((entry) => entry !== undefined).toSorted((a, b) => b.version - a.version);
  for (const { key } of named) {
    const found = whole.find((candidate) => candidate.key === key);
    if (found !== undefined) return found;
  }
  const found = whole.at(-1);
  if (found === undefined)
    throw new PinakesError(
      "CORRUPT",
      `The bucket has no whole version of the collection ${show(site.collection)}; restore the bucket first.`,
    );
  return found;
}

/** The version and its ancestors. What was applied by a version that was prepared and rejected is not applied. */
function chainOf(newest: StoredManifest, manifests: readonly StoredManifest[]): StoredManifest[] {
  const byKey = new Map(manifests.map((stored) => [stored.key, stored]));
  const chain: StoredManifest[] = [];
  for (let at: StoredManifest | undefined = newest; at !== undefined; at = byKey.get(at.manifest.parent?.key ?? ""))
    chain.push(at);
  return chain;
}

async function stopWriters(site: CollectionSite, fence: Fence): Promise<void> {
  const stopped: Fence = { ...fence, status: "diverged", reason: "it is being repaired" };
  await site.batch([{ op: "replace", document: site.document(itemIds.fence, stopped), where: { status: "active" } }]);
}

async function readUnknown(site: CollectionSite, keys: readonly string[]): Promise<Delta[]> {
  const deltas: Delta[] = [];
  for (const key of keys) {
    try {
      const bytes = await site.getObject(key);
      const ref = claimedRef(key, bytes);
      const deltaId = `recovered-${key.slice(key.lastIndexOf("/") + 1, -4)}`;
      deltas.push({
        ...ref,
        deltaId,
        seq: 0,
        rows: 0,
        contentHash: ref.sha256,
        committedAt: site.deps.clock.now(),
        failures: 0,
      });
    } catch (error) {
      if (!hasCode(error, "CORRUPT")) throw error;
    }
  }
  return deltas;
}

/** From the last to the first, so that a retried repair finds them in the same order. */
async function resequence(site: CollectionSite, deltas: readonly Delta[], after: number): Promise<void> {
  for (let i = deltas.length - 1; i >= 0; i -= 1) {
    const { seq: old, ...delta } = deltas[i] as Delta;
    const seq = after + 1 + i;
    const operations: Operation[] = [
      { op: "upsert", document: site.document(itemIds.delta(seq), { ...delta, seq }) },
      {
        op: "upsert",
        document: site.document(itemIds.deltaId(delta.deltaId), { seq, contentHash: delta.contentHash }),
      },
    ];
    if (old !== 0 && old !== seq) operations.push({ op: "delete", id: itemIds.delta(old) });
    await site.batch(operations);
  }
}

async function writeItems(
  site: CollectionSite,
  {
    newest,
    after,
    count,
    log,
    fence,
  }: { newest: StoredManifest; after: number; count: number; log: Log | undefined; fence: Fence | undefined },
): Promise<number> {
  const { manifest } = newest;
  const lease = await site.read<Lease>(itemIds.lease);
  const old = await site.read<Head>(itemIds.head);
  const logId = site.deps.uniqueName();
  const epoch = Math.max(lease?.epoch ?? 0, manifest.epoch) + 1;
  const current: Head = {
    version: Math.max(manifest.version, old?.version ?? 0),
    commitId: manifest.commitId,
    appliedSeq: manifest.appliedSeq,
    appliedBytes: 0,
    key: newest.key,
    sha256: newest.sha256,
    committedAt: manifest.createdAt,
  };
  const discarded: Manifest["discarded"] =
    manifest.appliedSeq < after ? [...manifest.discarded, [manifest.appliedSeq + 1, after]] : manifest.discarded;
  const fields = {
    ...manifest,
    reason: "repair" as const,
    logId,
    appliedSeq: after,
    appliedBytes: 0,
    applied: [],
    discarded,
  };
  const next = prepare(site, current, { owner: "repair", epoch }, fields);
  await site.deps.objects.put(site.scope, next.head.key, Buffer.from(next.text, "utf8"));
  const newLog: Log = {
    nextSeq: after + count + 1,
    logId,
    generation: (log?.generation ?? 0) + 1,
    rests: log?.rests ?? 0,
    restored: next.head.version,
    dirty: true,
    bytes: 0,
  };
  const newFence: Fence = {
    kind: "fence",
    status: "diverged",
    settings: manifest.settings,
    createdAt: fence?.createdAt ?? site.deps.clock.now(),
    reason: "it is being repaired",
  };
  const { key, sha256, committedAt } = next.head;
  await site.batch([
    { op: "upsert", document: site.document(itemIds.fence, newFence) },
    { op: "upsert", document: site.document(itemIds.log, newLog) },
    { op: "upsert", document: site.document(itemIds.head, next.head) },
    { op: "upsert", document: site.document(itemIds.lease, { owner: null, epoch, beat: 0 } satisfies Lease) },
    {
      op: "upsert",
      document: site.document(
        itemIds.history(next.head.version),
        historyDocument({ manifest: next.manifest, key, sha256, committedAt }, next.text),
      ),
    },
  ]);
  await writeMirror(site, next.head);
  return next.head.version;
}
