/** One JSON object a line: { id, values, metadata }, or with the names that other programs give them. */
import { createReadStream } from "node:fs";
import { PinakesError, invalid } from "../../domain/errors.ts";
import { isJsonObject, type JsonObject } from "../../domain/json.ts";
import { migrationLimits } from "../limits.ts";
import type { ForeignRow } from "./row-reader.ts";

export async function* readJsonLines(path: string, name: string): AsyncGenerator<ForeignRow> {
  let line = 0;
  for await (const text of linesOf(path, () => `${name} line ${line + 1}`)) {
    line += 1;
    if (text.trim() !== "") yield foreignRow(parse(text, `${name} line ${line}`), `${name} line ${line}`);
  }
}

/** The text of a file line by line. `where` is the line that is being read. */
export async function* linesOf(path: string, where: () => string): AsyncGenerator<string> {
  let rest = "";
  const file = createReadStream(path, { encoding: "utf8", highWaterMark: 1_048_576 });
  try {
    for await (const chunk of file as AsyncIterable<string>) {
      const lines = (rest + chunk).split("\n");
      rest = lines.pop() as string;
      for (const line of lines) yield checkLine(line, where);
      checkLine(rest, where);
    }
  } catch (error) {
    if (PinakesError.isInstance(error)) throw error;
    throw new PinakesError("NOT_FOUND", `${path}: cannot be read: ${(error as Error).message}.`, { cause: error });
  }
  if (rest !== "") yield rest;
}

function checkLine(line: string, where: () => string): string {
  if (line.length <= migrationLimits.lineCharsMax) return line;
  throw new PinakesError("LIMIT_EXCEEDED", `${where()}: is longer than ${migrationLimits.lineCharsMax} characters; write one row a line.`);
}

export function parse(text: string, where: string): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw invalid(`${where}: is not JSON: ${(error as Error).message}.`, { cause: error });
  }
  if (!isJsonObject(value)) throw invalid(`${where}: must be an object.`);
  return value;
}

/** By the first name that a row has. */
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
