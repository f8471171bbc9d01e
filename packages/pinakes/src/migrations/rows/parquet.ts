/** Parquet files with the columns id, values (a list of numbers) and metadata (JSON text, or a structure), one row group at a time. */
import { stat } from "node:fs/promises";
import { PinakesError, invalid } from "../../domain/errors.ts";
import { foreignRow } from "./json-lines.ts";
import { faultyRow, type ForeignRow } from "./row-reader.ts";

const rowsPerRead = 1_000;

/** An invalid file is reported in place of its rows; so is one that is damaged later, after the rows before. */
export async function* readParquet(path: string, name: string): AsyncGenerator<ForeignRow> {
  try {
    yield* rowsOf(path, name);
  } catch (error) {
    if (!PinakesError.isInstance(error) || error.code === "NOT_FOUND") throw error;
    yield faultyRow(name, error.detail);
  }
}

async function* rowsOf(path: string, name: string): AsyncGenerator<ForeignRow> {
  await stat(path).catch((error: unknown) => {
    throw new PinakesError("NOT_FOUND", `${path}: cannot be read: ${(error as Error).message}.`, { cause: error });
  });
  const { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects, parquetSchema } = await import("hyparquet");
  const file = await asyncBufferFromFile(path);
  const metadata = await readable(parquetMetadataAsync(file));
  const columns = parquetSchema(metadata).children.map(({ element }) => element.name);
  if (!columns.includes("id") || !["values", "vector", "embedding"].some((one) => columns.includes(one)))
    throw invalid(`has the columns ${columns.join(", ")}; id and values (or vector, embedding) are needed.`);
  const total = Number(metadata.num_rows);
  for (let from = 0; from < total; from += rowsPerRead) {
    const rows = await readable(
      parquetReadObjects({ file, metadata, rowStart: from, rowEnd: Math.min(total, from + rowsPerRead) }),
    );
    for (const [i, row] of rows.entries()) yield asRow(row, `${name} row ${from + i + 1}`);
  }
}

function asRow(row: Record<string, unknown>, where: string): ForeignRow {
  const { id, metadata } = row;
  const fields = { ...row, id: typeof id === "bigint" ? String(id) : id };
  if (typeof metadata !== "string") return foreignRow({ ...fields, metadata: plain(metadata) }, where);
  try {
    return foreignRow({ ...fields, metadata: metadata.trim() === "" ? undefined : JSON.parse(metadata) }, where);
  } catch (error) {
    return faultyRow(where, `metadata is not JSON: ${(error as Error).message}.`);
  }
}

/** Parquet structures as JSON: integers come as bigint, times as Date. */
function plain(value: unknown): unknown {
  if (typeof value === "bigint") return Number(value);
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, one]) => (one === null || one === undefined ? [] : [[key, plain(one)]])),
  );
}

/** The error of a file, phrased to follow its name. */
async function readable<T>(call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    if (/compression|codec/i.test(message))
      throw new PinakesError("NOT_SUPPORTED", `${message}; write it uncompressed or with snappy.`, { cause: error });
    throw new PinakesError("CORRUPT", `is not a readable Parquet file: ${message}.`, { cause: error });
  }
}
