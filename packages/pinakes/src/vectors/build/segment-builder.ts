/** Building files: in this thread (small work, tests), or in a thread of its own (build-pool.ts). */
import { buildDelta, type BuiltDelta } from "./build-delta.ts";
import type { CollectionSettings } from "../segment/collection-settings.ts";
import type { EncodedFile } from "../segment/file-format.ts";
import { mergeSegments, type MergeSource, type Picks } from "./merge-segments.ts";
import type { Row } from "../row.ts";

export interface SegmentBuilder {
  delta(collection: string, settings: CollectionSettings, rows: readonly Row[]): Promise<BuiltDelta>;
  merge(
    collection: string,
    settings: CollectionSettings,
    sources: readonly MergeSource[],
    picks: Picks,
  ): Promise<EncodedFile>;
  close(): Promise<void>;
}

export const inlineBuilder: SegmentBuilder = Object.freeze({
  delta: async (collection: string, settings: CollectionSettings, rows: readonly Row[]) =>
    buildDelta(collection, settings, rows),
  merge: async (collection: string, settings: CollectionSettings, sources: readonly MergeSource[], picks: Picks) =>
    mergeSegments(collection, settings, sources, picks),
  close: async () => {},
});
