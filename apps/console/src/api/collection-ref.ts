/** A collection as one URL parameter, whatever characters its ids have. */
import type { CollectionId } from "./collections.ts";

export function refOf({ rid, cid }: CollectionId): string {
  return `${encodeURIComponent(rid)}/${encodeURIComponent(cid)}`;
}

/** Undefined for a text that refOf did not create. */
export function collectionOfRef(ref: string): CollectionId | undefined {
  const [rid = "", cid = "", ...rest] = ref.split("/");
  if (rid === "" || cid === "" || rest.length > 0) return undefined;
  try {
    return { rid: decodeURIComponent(rid), cid: decodeURIComponent(cid) };
  } catch {
    return undefined;
  }
}
