/** The source of opened files: the bucket, through any caches. Files are immutable, so an opened one stays valid. */
import { limits } from "../../domain/limits.ts";
import { openFile, type FileRef } from "../segment/file-format.ts";
import type { SegmentBytes } from "../segment-bytes.ts";
import { MissingObject, type CollectionSite } from "./collection-site.ts";

export interface SegmentFiles {
  /** Complete and verified. Throws MissingObject or CORRUPT. */
  open(site: CollectionSite, ref: FileRef): Promise<SegmentBytes>;
}

/** No cache at all: for the simulator, fsck and repair. */
export const uncachedFiles: SegmentFiles = Object.freeze({
  open: async (site: CollectionSite, ref: FileRef) => openFile(await fetchWhole(site, ref), ref),
});

/** In chunks, if it is larger than the object store returns at once. */
export async function fetchWhole(
  site: CollectionSite,
  ref: Pick<FileRef, "key" | "bytes">,
  signal?: AbortSignal,
): Promise<Uint8Array> {
  if (ref.bytes <= limits.objectGetBytesMax) return site.getObject(ref.key);
  const whole = new Uint8Array(ref.bytes);
  const stream = await site.deps.objects.stream(site.scope, ref.key, signal === undefined ? {} : { signal });
  if (stream === undefined) throw new MissingObject(ref.key);
  let at = 0;
  for await (const chunk of stream) {
    // Longer than it should be: the verification reports it.
    whole.set(chunk.subarray(0, whole.length - at), at);
    at += Math.min(chunk.length, whole.length - at);
  }
  return whole.subarray(0, at);
}
