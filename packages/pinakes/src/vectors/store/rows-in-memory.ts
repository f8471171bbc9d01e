/**
 * Rows without an object, such as those created by a patch: built as a file anyway, so that they are read, searched and merged like others.
 */
import type { CollectionSettings } from "../segment/collection-settings.ts";
import { openFile } from "../segment/file-format.ts";
import type { Row } from "../row.ts";
import { SegmentRows } from "../segment/segment-rows.ts";
import type { CollectionSite } from "./collection-site.ts";

export async function rowsInMemory(
  site: CollectionSite,
  settings: CollectionSettings,
  rows: readonly Row[],
  seq: number,
): Promise<SegmentRows> {
  const { bytes, sha256, headBytes } = await site.deps.builder.delta(site.collection, settings, rows);
  return new SegmentRows(openFile(bytes, { key: "rows in memory", sha256, bytes: bytes.byteLength, headBytes }), seq);
}
