/** The segments of a manifest, opened: rows and their deletions. */
import { decodeDeletions } from "../segment/deletions-file.ts";
import type { Bitmap } from "../segment/bitmap.ts";
import { SegmentRows } from "../segment/segment-rows.ts";
import type { CollectionSite } from "./collection-site.ts";
import type { Manifest, SegmentEntry } from "./manifest.ts";

export interface OpenSegment {
  readonly entry: SegmentEntry;
  readonly rows: SegmentRows;
  readonly deleted: Bitmap | undefined;
}

export async function openSegments(site: CollectionSite, manifest: Manifest): Promise<OpenSegment[]> {
  const deletions = new Map<string, Promise<Uint8Array>>();
  const fetchDeletions = (key: string): Promise<Uint8Array> => {
    const fetched = deletions.get(key) ?? site.getObject(key);
    deletions.set(key, fetched);
    return fetched;
  };
  return Promise.all(
    manifest.segments.map(async (entry) => {
      const [segment, file] = await Promise.all([
        site.deps.files.open(site, entry),
        entry.deletions === undefined ? undefined : fetchDeletions(entry.deletions.key),
      ]);
      const rows = new SegmentRows(segment);
      return {
        entry,
        rows,
        deleted:
          file === undefined || entry.deletions === undefined
            ? undefined
            : decodeDeletions(file, entry.deletions, rows.rows),
      };
    }),
  );
}
