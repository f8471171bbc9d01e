/** For tests: sections as a segment file provides them, in shared memory as search threads see it. */
import type { Section } from "../segment/section.ts";
import { SegmentBytes, type FieldHeader } from "../segment-bytes.ts";

export function segmentOf(
  sections: readonly Section[],
  rows: number,
  fields: readonly FieldHeader[] = [],
): SegmentBytes {
  const places: Record<string, [number, number]> = {};
  let end = 64;
  for (const { name, bytes } of sections) {
    places[name] = [end - 64, bytes.length];
    end += Math.ceil(bytes.length / 64) * 64;
  }
  const buffer = new SharedArrayBuffer(end);
  for (const { name, bytes } of sections) new Uint8Array(buffer).set(bytes, 64 + (places[name] as [number, number])[0]);
  const header = {
    format: 1,
    kind: "segment",
    collection: "c",
    rows,
    dims: 2,
    metric: "dot",
    language: "english",
    fields,
    tokens: 0,
  } as const;
  return new SegmentBytes({ ...header, sections: places }, buffer, 64);
}
