/** Rows as NDJSON: one JSON object a line. A file of any size is read line by line. */
import { createReadStream } from "node:fs";
import { PinakesError, invalid, show } from "../../domain/errors.ts";
import { isJsonObject, type JsonObject } from "../../domain/json.ts";
import type { ForeignRow } from "./foreign-row.ts";

/** The longest row that is allowed, as a producer may write it: 4,096 numbers of 25 characters, text and metadata with escapes. */
const lineBytesMax = 4 * 1024 ** 2;
const known = ["id", "vector", "embedding", "text", "document", "metadata", "op"];

export function isNdjson(key: string): boolean {
  return key.endsWith(".jsonl") || key.endsWith(".ndjson");
}

/** `name` is what the messages call the file. */
export async function* readNdjson(path: string, name: string): AsyncGenerator<ForeignRow> {
  let line = 0;
  for await (const bytes of lines(path, () => `${name} line ${line + 1}`)) {
    line += 1;
    const where = `${name} line ${line}`;
    const text = decode(bytes, where, line === 1);
    if (text.trim() !== "") yield parseRow(text, where);
  }
}

async function* lines(path: string, where: () => string): AsyncGenerator<Buffer> {
  let rest: Buffer[] = [];
  let restBytes = 0;
  for await (const chunk of createReadStream(path, { highWaterMark: 1024 ** 2 }) as AsyncIterable<Buffer>) {
    let from = 0;
    for (let end = chunk.indexOf(0x0a); end !== -1; end = chunk.indexOf(0x0a, from)) {
      if (restBytes + end - from > lineBytesMax) throw tooLong(where());
      yield Buffer.concat([...rest, chunk.subarray(from, end)]);
      rest = [];
      restBytes = 0;
      from = end + 1;
    }
    rest.push(chunk.subarray(from));
    restBytes += chunk.length - from;
    if (restBytes > lineBytesMax) throw tooLong(where());
  }
  if (restBytes > 0) yield Buffer.concat(rest);
}

function tooLong(where: string): PinakesError {
  return new PinakesError(
    "LIMIT_EXCEEDED",
    `${where}: is longer than ${lineBytesMax} bytes. Write one row a line, each line ended by "\\n".`,
  );
}

function decode(bytes: Buffer, where: string, first: boolean): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: !first }).decode(bytes);
  } catch (error) {
    throw invalid(`${where}: is not UTF-8.`, { cause: error });
  }
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
      `${where}: ${show(unknown)} is not known; a row has ${known.join(", ")}. Put other fields into metadata.`,
    );
  return toRow(value, where);
}

function toRow(value: JsonObject, where: string): ForeignRow {
  const { op = "put", metadata } = value;
  const id = value["id"] as string; // Checked with the rest of the row, by the rules of an append.
  const vector = either(value, "vector", "embedding", where);
  const text = either(value, "text", "document", where);
  if (op === "delete") {
    if (vector !== undefined || text !== undefined || metadata !== undefined)
      throw invalid(`${where}: a delete has nothing but an id.`);
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

/** The same thing under two names, ours and Chroma's. Null is as absent as it is in an export of Chroma. */
function either(value: JsonObject, ours: string, theirs: string, where: string) {
  const [a, b] = [value[ours] ?? undefined, value[theirs] ?? undefined];
  if (a !== undefined && b !== undefined) throw invalid(`${where}: has both ${ours} and ${theirs}; give one of them.`);
  return a ?? b;
}
