/** Rows → the file of a delta. The same rows give the same bytes. */
import { hash } from "node:crypto";
import { buildColumnSections } from "../filter/build-columns.ts";
import { analyzerFor } from "../text/analyzer.ts";
import { buildTextSections } from "../text/build-postings.ts";
import type { CollectionSettings } from "../segment/collection-settings.ts";
import { writeFile, type EncodedFile } from "../segment/file-format.ts";
import { buildRowSections } from "../segment/row-sections.ts";
import type { Row } from "../row.ts";
import { buildVectorSections } from "../segment/vector-sections.ts";

export interface BuiltDelta extends EncodedFile {
  readonly rows: number;
  /** Of the content, however this version of the program encodes it: resending the same content gives the same hash. */
  readonly contentHash: string;
}

export function buildDelta(collection: string, settings: CollectionSettings, rows: readonly Row[]): BuiltDelta {
  const { dims, metric, language } = settings;
  const rowSections = buildRowSections(rows);
  const puts = rows.map((row) => (row.op === "put" ? row : undefined));
  const text = buildTextSections(
    puts.map((row) => row?.text),
    analyzerFor(language),
  );
  const columns = buildColumnSections(puts.map((row) => row?.metadata));
  const file = writeFile(
    {
      kind: "delta",
      collection,
      rows: rows.length,
      dims,
      metric,
      language,
      fields: columns.fields,
      tokens: text.tokens,
    },
    [
      ...buildVectorSections(vectorsOf(rows, dims), rows.length, dims, metric),
      ...rowSections,
      ...columns.sections,
      ...text.sections,
    ],
  );
  const hashes = rowSections.find(({ name }) => name === "hash")?.bytes ?? new Uint8Array();
  return { ...file, rows: rows.length, contentHash: hash("sha256", hashes, "hex") };
}

/** Row by row in one block, zeros if a row has none. Not copied if they are like that already, as checked rows are. */
function vectorsOf(rows: readonly Row[], dims: number): Float32Array {
  const first = rows[0]?.vector;
  const follows = ({ vector }: Row, i: number): boolean =>
    vector !== undefined &&
    vector.buffer === first?.buffer &&
    vector.byteOffset === first.byteOffset + i * dims * Float32Array.BYTES_PER_ELEMENT;
  if (first !== undefined && rows.every(follows))
    return new Float32Array(first.buffer, first.byteOffset, rows.length * dims);
  const vectors = new Float32Array(rows.length * dims);
  for (const [i, { vector }] of rows.entries()) if (vector !== undefined) vectors.set(vector, i * dims);
  return vectors;
}
