/** What a caller appends, validated and turned into rows. */
import { PinakesError, invalid, show } from "../../domain/errors.ts";
import { checkJson, isJsonObject, type JsonObject } from "../../domain/json.ts";
import { accountShared } from "../kernels/kernels.ts";
import { vectorLimits } from "../limits.ts";
import type { CollectionSettings } from "../segment/collection-settings.ts";
import type { Row } from "../row.ts";

export interface UpsertRow {
  readonly id: string;
  readonly vector: Float32Array | readonly number[];
  readonly text?: string;
  readonly metadata?: JsonObject;
}

export interface PatchRow {
  readonly id: string;
  /** Merged into the row's metadata, one level deep; null clears a key. A patch never creates a row. */
  readonly metadata: JsonObject;
}

export interface Changes {
  readonly upsert?: readonly UpsertRow[];
  readonly delete?: readonly string[];
  readonly patch?: readonly PatchRow[];
}

export interface CheckedRows {
  readonly rows: readonly Row[];
  /** Ids that occurred more than once; the last one counts (upserts, then patches, then deletes). */
  readonly duplicates: readonly string[];
}

export function checkRows(changes: Changes, settings: CollectionSettings): CheckedRows {
  if (!isObject(changes)) throw invalid("The changes must be an object with upsert, patch or delete.");
  const { upsert = [], patch = [], delete: deletes = [] } = changes;
  for (const [name, list] of Object.entries({ upsert, patch, delete: deletes }))
    if (!Array.isArray(list)) throw invalid(`${name}: must be a list.`);
  const count = upsert.length + patch.length + deletes.length;
  if (count === 0) throw invalid("There is nothing to append: give rows to upsert, patch or delete.");
  if (count > vectorLimits.deltaRowsMax)
    throw new PinakesError(
      "LIMIT_EXCEEDED",
      `${count} rows in one delta; at most ${vectorLimits.deltaRowsMax} are allowed. Append them in parts.`,
    );
  const byId = new Map<string, Row>();
  const duplicates = new Set<string>();
  const add = (row: Row): void => {
    const earlier = byId.get(row.id);
    if (earlier !== undefined) {
      duplicates.add(row.id);
      byId.delete(row.id); // The last one wins and also moves to the end.
    }
    byId.set(row.id, earlier === undefined ? row : combined(earlier, row));
  };
  // One shared block for all vectors: the thread that builds the file gets it without a copy.
  const vectors = new Float32Array(
    new SharedArrayBuffer(upsert.length * settings.dims * Float32Array.BYTES_PER_ELEMENT),
  );
  accountShared(vectors.buffer);
  const place = (i: number): Float32Array => vectors.subarray(i * settings.dims, (i + 1) * settings.dims);
  for (const [i, row] of upsert.entries()) add(upsertRow(row, `upsert[${i}]`, place(i)));
  for (const [i, row] of patch.entries()) add(patchRow(row, `patch[${i}]`));
  for (const [i, id] of deletes.entries()) add({ id: checkId(id, `delete[${i}]`), op: "delete" });
  const rows = [...byId.values()];
  checkBytes(rows, settings.dims);
  return { rows, duplicates: [...duplicates] };
}

/** A patch of a row in the same delta changes that row; otherwise the last one wins. */
function combined(earlier: Row, row: Row): Row {
  if (row.op !== "patch" || earlier.op === "delete") return row;
  const metadata = { ...earlier.metadata, ...row.metadata };
  return earlier.op === "patch"
    ? { ...earlier, metadata }
    : { ...earlier, metadata: patchMetadata(earlier.metadata ?? {}, row.metadata ?? {}) };
}

export function patchMetadata(metadata: JsonObject, patch: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries({ ...metadata, ...patch }).filter(([key, value]) => !(value === null && Object.hasOwn(patch, key))),
  );
}

/** @param place where its vector goes */
function upsertRow(row: UpsertRow, where: string, place: Float32Array): Row {
  if (!isObject(row)) throw invalid(`${where}: must be an object with id and vector.`);
  const id = checkId(row.id, `${where}.id`);
  return {
    id,
    op: "put",
    vector: checkVector(row.vector, `${where}.vector`, place.length, place),
    ...(row.text === undefined ? {} : { text: checkText(row.text, `${where}.text`) }),
    ...(row.metadata === undefined ? {} : { metadata: checkMetadata(row.metadata, `${where}.metadata`) }),
  };
}

function patchRow(row: PatchRow, where: string): Row {
  if (!isObject(row)) throw invalid(`${where}: must be an object with id and metadata.`);
  const id = checkId(row.id, `${where}.id`);
  if (row.metadata === undefined)
    throw invalid(`${where}.metadata: is missing; give the keys to change, null to clear one.`);
  return { id, op: "patch", metadata: checkMetadata(row.metadata, `${where}.metadata`) };
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function checkId(id: unknown, where: string): string {
  if (
    typeof id !== "string" ||
    id === "" ||
    id.includes("\0") ||
    !id.isWellFormed() ||
    Buffer.byteLength(id, "utf8") > vectorLimits.rowIdBytesMax
  )
    throw invalid(`${where}: must be a string of 1–${vectorLimits.rowIdBytesMax} bytes without NUL, got ${show(id)}.`);
  return id;
}

/** A copy, in `into` if given. */
export function checkVector(
  vector: unknown,
  where: string,
  dims: number,
  into: Float32Array = new Float32Array(dims),
): Float32Array {
  if (!Array.isArray(vector) && !(vector instanceof Float32Array))
    throw invalid(`${where}: must be a list of ${dims} numbers.`);
  const numbers = vector as ArrayLike<unknown>;
  if (numbers.length !== dims)
    throw invalid(`${where}: has ${numbers.length} numbers; this collection's vectors have ${dims}.`);
  if (vector instanceof Float32Array && hasOnlyNumbers(vector)) {
    into.set(vector);
    return into;
  }
  for (let i = 0; i < dims; i += 1) {
    const value = numbers[i];
    // Also rejects what is finite as a double and infinite as a float, and what would overflow when squared.
    if (typeof value !== "number" || !(Math.abs(value) <= 1e15))
      throw invalid(`${where}[${i}]: must be a number between -1e15 and 1e15, got ${numberText(value)}.`);
    into[i] = value;
  }
  return into;
}

/** Fast path: a loop that does nothing else. */
function hasOnlyNumbers(vector: Float32Array): boolean {
  for (let i = 0; i < vector.length; i += 1) if (!(Math.abs(vector[i] as number) <= 1e15)) return false;
  return true;
}

function numberText(value: unknown): string {
  return typeof value === "number" ? String(value) : show(value);
}

function checkText(text: unknown, where: string): string {
  if (typeof text !== "string" || !text.isWellFormed()) throw invalid(`${where}: must be a string of valid Unicode.`);
  if (Buffer.byteLength(text, "utf8") > vectorLimits.rowTextBytesMax)
    throw new PinakesError(
      "LIMIT_EXCEEDED",
      `${where}: is longer than ${vectorLimits.rowTextBytesMax} bytes; split it into chunks.`,
    );
  return text;
}

function checkMetadata(metadata: unknown, where: string): JsonObject {
  if (!isJsonObject(metadata)) throw invalid(`${where}: must be an object.`);
  checkJson(metadata, where);
  if (Buffer.byteLength(JSON.stringify(metadata), "utf8") > vectorLimits.rowMetadataBytesMax)
    throw new PinakesError(
      "LIMIT_EXCEEDED",
      `${where}: is larger than ${vectorLimits.rowMetadataBytesMax} bytes as JSON.`,
    );
  return metadata;
}

function checkBytes(rows: readonly Row[], dims: number): void {
  let bytes = 0;
  for (const row of rows) bytes += 64 + dims * 5 + (row.text?.length ?? 0) * 2;
  if (bytes > vectorLimits.deltaBytesMax)
    throw new PinakesError(
      "LIMIT_EXCEEDED",
      `The delta would have about ${bytes} bytes; at most ${vectorLimits.deltaBytesMax} are allowed. Append it in parts.`,
    );
}
