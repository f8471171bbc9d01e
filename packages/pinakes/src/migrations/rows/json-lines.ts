import { createReadStream } from "node:fs";
import { PinakesError, invalid } from "../../domain/errors.ts";
import { isJsonObject, type JsonObject } from "../../domain/json.ts";
import { migrationLimits } from "../limits.ts";
import { faultyRow, type ForeignRow } from "./row-reader.ts";

/**
 * One JSON object per line: { id, values, metadata }, or with the names of other programs. A line that is not an object is reported, and
 * the following lines are read.
 */
export async function* readJsonLines(path: string, name: string): AsyncGenerator<ForeignRow> {
  let line = 0;
  for await (const text of wholeLines(path)) {
    line += 1;
    const where = `${name} line ${line}`;
    if (text === tooLong) yield faultyRow(where, `${tooLongWords} The lines after it were not read.`);
    else if (text.trim() !== "") yield rowOf(text, where);
  }
}

function rowOf(text: string, where: string): ForeignRow {
  const value = objectOf(text);
  return typeof value === "string" ? faultyRow(where, value) : foreignRow(value, where);
}

/** The lines of a text file. `where` names the current line. */
export async function* linesOf(path: string, where: () => string): AsyncGenerator<string> {
  for await (const line of wholeLines(path)) {
    if (line === tooLong) throw new PinakesError("LIMIT_EXCEEDED", `${where()}: ${tooLongWords}`);
    yield line;
  }
}

export function parse(text: string, where: string): JsonObject {
  const value = objectOf(text);
  if (typeof value === "string") throw invalid(`${where}: ${value}`);
  return value;
}

const tooLong = Symbol("an overlong line");
const tooLongWords = `is longer than ${migrationLimits.lineCharsMax} characters; write one row per line.`;

/** Ends after an overlong line: the next one is not searched for. */
async function* wholeLines(path: string): AsyncGenerator<string | typeof tooLong> {
  let rest = "";
  const file = createReadStream(path, { encoding: "utf8", highWaterMark: 1_048_576 });
  try {
    for await (const chunk of file as AsyncIterable<string>) {
      const lines = (rest + chunk).split("\n");
      rest = lines.pop() as string;
      const long = [...lines, rest].findIndex(({ length }) => length > migrationLimits.lineCharsMax);
      yield* long < 0 ? lines : lines.slice(0, long);
      if (long >= 0) return yield tooLong;
    }
  } catch (error) {
    throw new PinakesError("NOT_FOUND", `${path}: cannot be read: ${(error as Error).message}.`, { cause: error });
  }
  if (rest !== "") yield rest;
}

/** The object of a line, or its error. */
function objectOf(text: string): JsonObject | string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return `is not JSON: ${(error as Error).message}.`;
  }
  return isJsonObject(value) ? value : "must be an object.";
}

/** Reads the first of several possible names. */
export function foreignRow(value: Readonly<Record<string, unknown>>, where: string): ForeignRow {
  const sparse = value["sparse_values"] ?? value["sparseValues"] ?? undefined;
  const text = value["text"] ?? value["document"] ?? undefined;
  return {
    where,
    id: value["id"],
    vector: value["values"] ?? value["vector"] ?? value["embedding"],
    ...(text === undefined ? {} : { text }),
    metadata: value["metadata"],
    ...(sparse === undefined ? {} : { lost: "sparse_values:" }),
  };
}
