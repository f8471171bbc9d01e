/** Restoring an earlier version: as a new one, never by going back (RFC 0001, "Restore"). */
import { PinakesError, show } from "../../domain/errors.ts";
import { isConflict } from "../../runtime/expected-errors.ts";
import { prepare, writeMirror } from "../compact/publish.ts";
import { findVersion } from "../read/reader.ts";
import { historyDocument, type CollectionSite } from "../store/collection-site.ts";
import type { Manifest } from "../store/manifest.ts";
import { itemIds, type Lease } from "../store/records.ts";

export interface RestoreResult {
  readonly version: number;
  readonly restored: number;
  /** Writes that are no longer part of the collection. */
  readonly discarded: readonly [number, number] | undefined;
}

const attemptsMax = 20;

export async function restoreVersion(
  site: CollectionSite,
  to: { version: number } | { time: number | string },
): Promise<RestoreResult> {
  for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
    const result = await tryRestore(site, to);
    if (result !== undefined) return result;
  }
  throw new PinakesError("UNAVAILABLE", "The collection changed repeatedly during the restore; try again.");
}

/** Undefined if another process published or took the lease meanwhile. */
async function tryRestore(
  site: CollectionSite,
  to: { version: number } | { time: number | string },
): Promise<RestoreResult | undefined> {
  const { head, log } = await site.state();
  const lease = await site.lease();
  const entry = await findVersion(site, to, "to");
  const current = await site.history(head.version);
  if (entry === undefined)
    throw new PinakesError(
      "NOT_FOUND",
      `There is no version ${show(to)} (any more); see the history for restorable versions.`,
    );
  if (current === undefined) return undefined;
  const by = { owner: "restore", epoch: lease.epoch + 1 };
  // A writer that commits after this read writes to the restored state: its seq is higher.
  const last = Math.max(log.nextSeq - 1, head.appliedSeq);
  const appliedBytes = Math.max(log.bytes, head.appliedBytes);
  const old = entry.manifest;
  const taken: Manifest["discarded"] = old.appliedSeq < last ? [[old.appliedSeq + 1, last]] : [];
  const discarded = joined([...old.discarded, ...current.manifest.discarded, ...taken]);
  const fields = {
    ...old,
    reason: "restore" as const,
    logId: log.logId,
    appliedSeq: last,
    appliedBytes,
    applied: [],
    discarded,
  };
  const next = prepare(site, head, by, fields);
  await site.deps.objects.put(site.scope, next.head.key, Buffer.from(next.text, "utf8"));
  const fenced: Lease = { owner: null, epoch: by.epoch, beat: 0 };
  const { key, sha256, committedAt } = next.head;
  try {
    await site.batch([
      { op: "check", id: itemIds.fence, where: { status: "active" } },
      // A garbage collection must not remove what is restored: it removes the entry only while the head is the one it read.
      { op: "check", id: itemIds.history(old.version) },
      {
        op: "patch",
        id: itemIds.log,
        patch: [{ op: "set", path: "/restored", value: next.head.version }],
        where: { generation: log.generation, logId: log.logId },
      },
      { op: "replace", document: site.document(itemIds.lease, fenced), where: { epoch: lease.epoch } },
      {
        op: "replace",
        document: site.document(itemIds.head, next.head),
        where: { version: head.version, commitId: head.commitId },
      },
      {
        op: "create",
        document: site.document(
          itemIds.history(next.head.version),
          historyDocument({ manifest: next.manifest, key, sha256, committedAt }, next.text),
        ),
      },
    ]);
  } catch (error) {
    if (isConflict(error)) return undefined;
    throw error;
  }
  await writeMirror(site, next.head);
  return {
    version: next.head.version,
    restored: old.version,
    discarded: old.appliedSeq < last ? [old.appliedSeq + 1, last] : undefined,
  };
}

/** The same numbers in as few ranges as possible. */
function joined(ranges: Manifest["discarded"]): Manifest["discarded"] {
  const all: Manifest["discarded"] = [];
  for (const [from, to] of ranges.toSorted((a, b) => a[0] - b[0])) {
    const before = all.at(-1);
    if (before !== undefined && from <= before[1] + 1) before[1] = Math.max(before[1], to);
    else all.push([from, to]);
  }
  return all;
}
