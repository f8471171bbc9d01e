/** Rows → the file of a delta. The same rows give the same bytes. */
import { hash } from "node:crypto";
import { buildColumnSections } from "../filter/build-columns.ts";
import { analyzerFor } from "../text/analyzer.ts";
import { buildTextSections } from "../text/build-postings.ts";
import type { CollectionSettings } from "./collection-settings.ts";
import { writeFile, type EncodedFile } from "./file-format.ts";
import { buildRowSections } from "./row-sections.ts";
import type { Row } from "./row.ts";
import { buildVectorSections } from "./vector-sections.ts";

export interface BuiltDelta extends EncodedFile {
  readonly rows: number;
  /** Of what the rows say, however this version of the program encodes them: the same content sent again has the same. */
  readonly contentHash: string;
}

export function buildDelta(collection: string, settings: CollectionSettings, rows: readonly Row[]): BuiltDelta {
  const { dims, metric, language } = settings;
  const vectors = new Float32Array(rows.length * dims);
  for (const [i, row] of rows.entries()) if (row.vector !== undefined) vectors.set(row.vector, i * dims);
  const rowSections = buildRowSections(rows);
  const puts = rows.map((row) => (row.op === "put" ? row : undefined));
  const text = buildTextSections(
    puts.map((row) => row?.text),
    analyzerFor(language),
  );
  const columns = buildColumnSections(puts.map((row) => row?.metadata));
  const file = writeFile({ kind: "delta", collection, rows: rows.length, dims, metric, language, fields: columns.fields, tokens: text.tokens }, [
    ...buildVectorSections(vectors, rows.length, dims, metric),
    ...rowSections,
    ...columns.sections,
    ...text.sections,
  ]);
  const hashes = rowSections.find(({ name }) => name === "hash")?.bytes ?? new Uint8Array();
  return { ...file, rows: rows.length, contentHash: hash("sha256", hashes, "hex") };
}
