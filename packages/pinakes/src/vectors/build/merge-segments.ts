/** Chosen rows of several files → one new segment. Nothing is tokenised or quantised again. */
import { mergeColumnSections } from "../filter/merge-columns.ts";
import { mergeTextSections } from "../text/merge-postings.ts";
import type { CollectionSettings } from "../segment/collection-settings.ts";
import { sealFile, writeFile, type EncodedFile } from "../segment/file-format.ts";
import { copyRowSections } from "../segment/row-sections.ts";
import type { SegmentBytes } from "../segment-bytes.ts";
import { SegmentRows } from "../segment/segment-rows.ts";
import type { CallForHelp } from "../segment/shared-rows.ts";
import { copyVectorSections, planVectors, writeListedFile } from "../segment/vector-sections.ts";

export interface MergeSource {
  readonly segment: SegmentBytes;
  /** Of all its rows, if it is a delta. */
  readonly deltaSeq?: number;
}

/** Row `row[i]` of source `source[i]`, in any order. */
export interface Picks {
  readonly source: Uint32Array;
  readonly row: Uint32Array;
}

/** @param callForHelp where other threads could take a part of the longest loops */
export function mergeSegments(
  collection: string,
  settings: CollectionSettings,
  sources: readonly MergeSource[],
  picks: Picks,
  callForHelp?: CallForHelp,
): EncodedFile {
  const rows = picks.source.length;
  const planned = planVectors(sources, picks, { callForHelp });
  const source = Uint32Array.from(planned.order, (i) => picks.source[i] as number);
  const row = Uint32Array.from(planned.order, (i) => picks.row[i] as number);
  const renumbered = sources.map(({ segment }) => ({ segment, newRow: new Int32Array(segment.header.rows).fill(-1) }));
  for (let i = 0; i < rows; i += 1)
    (renumbered[source[i] as number] as (typeof renumbered)[number]).newRow[row[i] as number] = i;
  const text = mergeTextSections(renumbered, rows);
  const columns = mergeColumnSections(renumbered, rows);
  const rowSections = copyRowSections(
    sources.map(({ segment, deltaSeq }) => new SegmentRows(segment, deltaSeq)),
    source,
    row,
  );
  const others = [...rowSections, ...columns.sections, ...text.sections];
  const fields = {
    kind: "segment",
    collection,
    rows,
    ...settings,
    fields: columns.fields,
    tokens: text.tokens,
  } as const;
  if (planned.lists === undefined)
    return writeFile(fields, [...copyVectorSections(sources, picks, planned), ...others]);
  const { loaded, bodyAt, layout, ivf } = writeListedFile(sources, picks, planned.lists, fields, others);
  return sealFile(loaded.memory.buffer, bodyAt, layout, { ...fields, ivf });
}
