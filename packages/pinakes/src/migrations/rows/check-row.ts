/** Validates a row by the rules of the vector store, before anything is written. */
import { invalid, show } from "../../domain/errors.ts";
import { checkJson, isJsonObject, type JsonObject } from "../../domain/json.ts";
import { vectorLimits } from "../../vectors/index.ts";
import { canonicalText } from "../content-hash.ts";
import type { Entry } from "../differences.ts";
import type { CheckedRow, ForeignRow } from "./row-reader.ts";

export interface RowRules {
  /** The metadata field that contains the text. */
  readonly text_field?: string | undefined;
  /** Continue if a row has something that cannot be stored. */
  readonly lossy?: boolean | undefined;
}

/** @param dims of the previous rows; undefined for the first */
export function checkRow(row: ForeignRow, dims: number | undefined, { text_field, lossy }: RowRules): CheckedRow {
  if (row.fault !== undefined) throw invalid(row.fault);
  if (row.lost !== undefined && lossy !== true) throw invalid(`${row.lost} cannot be stored; set "lossy" to drop it.`);
  const id = checkId(row.id);
  const vector = checkVector(row.vector, dims);
  const { metadata, text } = withText(checkMetadata(row.metadata), row.text, text_field);
  return { id, vector, ...(text === undefined ? {} : { text }), metadata };
}

export function entryOf({ id, vector, text, metadata }: CheckedRow): Entry {
  const bytes = Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength).toString("base64");
  return { key: id, text: `${JSON.stringify([id, bytes, text ?? null])}${canonicalText(metadata)}` };
}

function checkId(id: unknown): string {
  if (
    typeof id === "string" &&
    id !== "" &&
    !id.includes("\0") &&
    id.isWellFormed() &&
    Buffer.byteLength(id, "utf8") <= vectorLimits.rowIdBytesMax
  )
    return id;
  throw invalid(`id: must be a string of 1–${vectorLimits.rowIdBytesMax} bytes without NUL, got ${show(id)}.`);
}

function checkVector(vector: unknown, dims: number | undefined): Float32Array {
  const { dimsMin, dimsMax } = vectorLimits;
  if (!Array.isArray(vector) && !(vector instanceof Float32Array) && !(vector instanceof Float64Array))
    throw invalid(`values: must be a list of numbers, got ${show(vector)}.`);
  const numbers = vector as ArrayLike<unknown>;
  if (dims !== undefined && numbers.length !== dims)
    throw invalid(`values: has ${numbers.length} numbers; the previous rows have ${dims}.`);
  if (numbers.length < dimsMin || numbers.length > dimsMax)
    throw invalid(`values: has ${numbers.length} numbers; ${dimsMin} to ${dimsMax} are allowed.`);
  const floats = new Float32Array(numbers.length);
  for (let i = 0; i < numbers.length; i += 1) {
    const value = numbers[i];
    if (typeof value !== "number" || !(Math.abs(value) <= 1e15))
      throw invalid(`values[${i}]: must be a number between -1e15 and 1e15, got ${String(value)}.`);
    floats[i] = value;
  }
  return floats;
}

function checkMetadata(metadata: unknown): JsonObject {
  if (metadata === undefined || metadata === null) return {};
  if (!isJsonObject(metadata)) throw invalid(`metadata: must be an object, got ${show(metadata)}.`);
  checkJson(metadata, "/metadata");
  return metadata;
}

function withText(
  metadata: JsonObject,
  value: unknown,
  field: string | undefined,
): { readonly metadata: JsonObject; readonly text?: string } {
  const { [field ?? ""]: inside, ...rest } = metadata;
  const found = value ?? (field === undefined ? undefined : (inside ?? undefined));
  const kept = field !== undefined && value === undefined ? rest : metadata;
  if (found !== undefined && found !== null && typeof found !== "string")
    throw invalid(`text: must be a string, got ${show(found)}.`);
  if (typeof found === "string" && Buffer.byteLength(found, "utf8") > vectorLimits.rowTextBytesMax)
    throw invalid(`text: has more than ${vectorLimits.rowTextBytesMax} bytes.`);
  if (Buffer.byteLength(JSON.stringify(kept), "utf8") > vectorLimits.rowMetadataBytesMax)
    throw invalid(`metadata: has more than ${vectorLimits.rowMetadataBytesMax} bytes.`);
  if (Object.keys(kept).length > vectorLimits.metadataFieldsMax)
    throw invalid(`metadata: has more than ${vectorLimits.metadataFieldsMax} fields.`);
  return { metadata: kept, ...(typeof found === "string" ? { text: found } : {}) };
}
