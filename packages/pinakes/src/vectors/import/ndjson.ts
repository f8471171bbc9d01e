/** Rows as NDJSON: one JSON object per line. A file of any size is read line by line. */
import { createReadStream } from "node:fs";
import { PinakesError, invalid, show } from "../../domain/errors.ts";
import { isJsonObject, type JsonObject } from "../../domain/json.ts";
import { byteLines, decodeLine } from "../../runtime/lines.ts";
import type { ForeignRow } from "./foreign-row.ts";

/** The longest allowed row, as a producer may write it: 4,096 numbers of 25 characters, text and metadata with escapes. */
const lineBytesMax = 4 * 1024 ** 2;
const known = ["id", "vector", "embedding", "text", "document", "metadata", "op"];

export function isNdjson(key: string): boolean {
  return key.endsWith(".jsonl") || key.endsWith(".ndjson");
}

/** `name` is the name of the file in messages. */
export async function* readNdjson(path: string, name: string): AsyncGenerator<ForeignRow> {
  const file = createReadStream(path, { highWaterMark: 1024 ** 2 }) as AsyncIterable<Buffer>;
  for await (const line of byteLines(file, { lineBytesMax })) {
    const where = `${name} line ${line.number}`;
    if (line.bytes === undefined) throw tooLong(where);
    const text = decodeLine(line);
    if (text === undefined) throw invalid(`${where}: is not UTF-8.`);
    if (text.trim() !== "") yield parseRow(text, where);
  }
}

function tooLong(where: string): PinakesError {
  return new PinakesError(
    "LIMIT_EXCEEDED",
    `${where}: is longer than ${lineBytesMax} bytes. Write one row per line, each line ended by "\\n".`,
  );
}

function parseRow(text: string, where: string): ForeignRow {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw invalid(`${where}: is not JSON (${(error as Error).message}).`, { cause: error });
  }
  if (!isJsonObject(value)) throw invalid(`${where}: must be an object with id and vector, got ${show(value)}.`);
  const unknown = Object.keys(value).find((key) => !known.includes(key));
  if (unknown !== undefined)
    throw invalid(
      `${where}: ${show(unknown)} is not a known field; a row has ${known.join(", ")}. Put other fields into metadata.`,
    );
  return toRow(value, where);
}

function toRow(value: JsonObject, where: string): ForeignRow {
  const { op = "put", metadata } = value;
  const id = value["id"] as string; // Validated with the rest of the row, by the rules of an append.
  const vector = either(value, "vector", "embedding", where);
  const text = either(value, "text", "document", where);
  if (op === "delete") {
    if (vector !== undefined || text !== undefined || metadata !== undefined)
      throw invalid(`${where}: a delete has only an id.`);
    return { op, row: { id }, where };
  }
  if (op === "patch") {
    if (vector !== undefined || text !== undefined)
      throw invalid(`${where}: a patch changes metadata only; put the whole row to change its vector or text.`);
    return { op, row: { id, metadata: metadata as JsonObject }, where };
  }
  if (op !== "put") throw invalid(`${where}: op must be put, patch or delete, got ${show(op)}.`);
  const optional = {
    ...(text === undefined ? {} : { text: text as string }),
    ...(metadata === undefined || metadata === null ? {} : { metadata: metadata as JsonObject }),
  };
  return { op, row: { id, vector: vector as number[], ...optional }, where };
}

/** One field under two names, ours and Chroma's. Null counts as absent, as in an export of Chroma. */
function either(value: JsonObject, ours: string, theirs: string, where: string) {
  const [a, b] = [value[ours] ?? undefined, value[theirs] ?? undefined];
  if (a !== undefined && b !== undefined) throw invalid(`${where}: has both ${ours} and ${theirs}; give one of them.`);
  return a ?? b;
}
