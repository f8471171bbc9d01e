/** Parquet files with the columns id, values (a list of numbers) and metadata (JSON text, or a structure), one group of rows at a time. */
import { stat } from "node:fs/promises";
import { PinakesError, invalid } from "../../domain/errors.ts";
import type { ForeignRow } from "./row-reader.ts";
import { foreignRow } from "./json-lines.ts";

const rowsPerRead = 1_000;

export async function* readParquet(path: string, name: string): AsyncGenerator<ForeignRow> {
  await stat(path).catch((error: unknown) => {
    throw new PinakesError("NOT_FOUND", `${path}: cannot be read: ${(error as Error).message}.`, { cause: error });
  });
  const { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects, parquetSchema } = await import("hyparquet");
  const file = await asyncBufferFromFile(path);
  const metadata = await told(name, parquetMetadataAsync(file));
  const columns = parquetSchema(metadata).children.map(({ element }) => element.name);
  if (!columns.includes("id") || !["values", "vector", "embedding"].some((one) => columns.includes(one)))
    throw invalid(`${name}: has the columns ${columns.join(", ")}; id and values (or vector, embedding) are needed.`);
  const total = Number(metadata.num_rows);
  for (let from = 0; from < total; from += rowsPerRead) {
    const rows = await told(name, parquetReadObjects({ file, metadata, rowStart: from, rowEnd: Math.min(total, from + rowsPerRead) }));
    for (const [i, row] of rows.entries()) yield asRow(row, `${name} row ${from + i + 1}`);
  }
}

function asRow(row: Record<string, unknown>, where: string): ForeignRow {
  const given = row["metadata"];
  const id = row["id"];
  return foreignRow({ ...row, id: typeof id === "bigint" ? String(id) : id, metadata: typeof given === "string" ? jsonOf(given, where) : plain(given) }, where);
}

function jsonOf(text: string, where: string): unknown {
  if (text.trim() === "") return undefined;
  try {
    return JSON.parse(text);
  } catch (error) {
    throw invalid(`${where}: metadata is not JSON: ${(error as Error).message}.`, { cause: error });
  }
}

/** Structures of Parquet as JSON: whole numbers come as bigint, times as Date. */
function plain(value: unknown): unknown {
  if (typeof value === "bigint") return Number(value);
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).flatMap(([key, one]) => (one === null || one === undefined ? [] : [[key, plain(one)]])));
}

async function told<T>(name: string, call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    if (/compression|codec/i.test(message))
      throw new PinakesError("NOT_SUPPORTED", `${name}: ${message}; write it uncompressed or with snappy.`, { cause: error });
    throw new PinakesError("CORRUPT", `${name}: is no Parquet file that can be read: ${message}.`, { cause: error });
  }
}
