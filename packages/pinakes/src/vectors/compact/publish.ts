/** Making a new version the head: one batch, checked by version, epoch and the collection's status (RFC 0001, "Publish"). */
import { PinakesError } from "../../domain/errors.ts";
import { historyDocument, type CollectionSite } from "../store/collection-site.ts";
import { encodeManifest, type Manifest } from "../store/manifest.ts";
import { itemIds, type Head, type HistoryEntry } from "../store/records.ts";

/** Another compactor took over, or the collection was deleted: everything prepared is garbage now. */
export class Fenced extends Error {
  override readonly name = "Fenced";
}

export type ManifestFields = Omit<
  Manifest,
  "format" | "collection" | "version" | "commitId" | "parent" | "createdAt" | "epoch" | "writer"
>;

export interface Publication {
  readonly head: Head;
  readonly manifest: Manifest;
}

export async function publish(
  site: CollectionSite,
  current: Head,
  by: { owner: string; epoch: number },
  fields: ManifestFields,
): Promise<Publication> {
  const { manifest, text, head } = prepare(site, current, by, fields);
  if (head.appliedSeq < current.appliedSeq)
    throw new PinakesError("INTERNAL", "A new version must cover at least as much of the log as the previous one.");
  await site.deps.objects.put(site.scope, head.key, Buffer.from(text, "utf8"));
  const entry: HistoryEntry = { manifest, key: head.key, sha256: head.sha256, committedAt: head.committedAt };
  try {
    await site.batch([
      { op: "check", id: itemIds.fence, where: { status: "active" } },
      { op: "check", id: itemIds.lease, where: { owner: by.owner, epoch: by.epoch } },
      {
        op: "replace",
        document: site.document(itemIds.head, head),
        where: { version: current.version, commitId: current.commitId },
      },
      { op: "create", document: site.document(itemIds.history(head.version), historyDocument(entry, text)) },
    ]);
  } catch (error) {
    await settle(site, head, error);
  }
  await writeMirror(site, head);
  return { head, manifest };
}

export function prepare(
  site: CollectionSite,
  current: Head,
  by: { owner: string; epoch: number },
  fields: ManifestFields,
): { manifest: Manifest; text: string; head: Head } {
  const now = site.deps.clock.now();
  const version = current.version + 1;
  const commitId = site.deps.uniqueName();
  const manifest: Manifest = {
    ...fields,
    format: 1,
    collection: site.collection,
    version,
    commitId,
    parent: { version: current.version, key: current.key, sha256: current.sha256 },
    epoch: by.epoch,
    writer: by.owner,
    createdAt: now,
  };
  const { bytes, sha256 } = encodeManifest(manifest);
  const { appliedSeq, appliedBytes } = fields;
  const head: Head = {
    version,
    commitId,
    appliedSeq,
    appliedBytes,
    key: site.manifestKey(version, commitId),
    sha256,
    committedAt: now,
  };
  return { manifest, text: Buffer.from(bytes).toString("utf8"), head };
}

/** Rejected: fenced. Unknown: the current state decides; a batch that arrives even later is rejected once the epoch has moved. */
async function settle(site: CollectionSite, head: Head, error: unknown): Promise<void> {
  if (!PinakesError.isInstance(error)) throw error;
  const refused = error.code === "PRECONDITION_FAILED" || error.code === "CONFLICT" || error.code === "NOT_FOUND";
  if (!refused && error.code !== "UNAVAILABLE") throw error;
  const published =
    (await site.read<Head>(itemIds.head))?.commitId === head.commitId ||
    (await site.history(head.version))?.manifest.commitId === head.commitId;
  if (published) return;
  throw refused ? new Fenced(`version ${head.version} was refused: ${error.detail}`) : error;
}

export interface Mirror {
  readonly format: 1;
  readonly version: number;
  readonly commitId: string;
  readonly key: string;
  readonly sha256: string;
}

/** So that the bucket alone tells what the newest version is. Late or lost is fine: the next run writes it again. */
export async function writeMirror(site: CollectionSite, { version, commitId, key, sha256 }: Head): Promise<void> {
  const content: Mirror = { format: 1, version, commitId, key, sha256 };
  try {
    await site.deps.objects.put(site.scope, site.mirrorKey, Buffer.from(JSON.stringify(content), "utf8"));
  } catch (error) {
    site.deps.log(
      `vectors ${site.collection}: HEAD.json could not be written: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

export async function readMirror(site: CollectionSite): Promise<Mirror | undefined> {
  const bytes = await site.deps.objects.get(site.scope, site.mirrorKey);
  if (bytes === undefined) return undefined;
  try {
    return JSON.parse(Buffer.from(bytes).toString("utf8")) as Mirror;
  } catch {
    return undefined;
  }
}
