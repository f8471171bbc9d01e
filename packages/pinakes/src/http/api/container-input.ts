/** Input of the container routes: partition keys in URLs, and operations line by line. */
import { z } from "zod";
import { PinakesError, invalid } from "../../domain/errors.ts";
import { isJsonObject } from "../../domain/json.ts";
import { parseJson } from "../framework/body/body.ts";

export const containerName = z.string().min(1).max(256).describe("Name of the container.");
export const itemId = z.string().min(1).max(1_023).describe("Id of the item, percent-encoded.");

export const pkValue = z.union([z.string(), z.number(), z.boolean(), z.null(), z.strictObject({})]);
export const pkInput = z
  .union([pkValue, z.array(pkValue)])
  .describe("Value of the partition key, or a list with one value per path.");
export type PkInput = z.output<typeof pkInput>;

export const pkText = z
  .string()
  .describe(
    "Value of the partition key: a plain string; a number, true or false as a JSON list, such as [5]; several paths as a JSON list.",
  );

/** A plain string. Other types need a JSON list, so `5` is a string and `[5]` a number. */
export function readPk(text: string): PkInput {
  if (!text.startsWith("[")) return text;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw invalid(
      `pk: starts with "[" but is not a JSON list. Send a string that begins with it inside a list: ["[…"].`,
      {
        cause: error,
      },
    );
  }
  const checked = z.array(pkValue).min(1).safeParse(value);
  if (checked.success) return checked.data;
  throw invalid("pk: a list may only contain strings, numbers, true and false.");
}

export const bulkTypes: readonly string[] = ["application/x-ndjson", "application/ndjson", "application/jsonl"];

export interface OperationLines {
  readonly operations: readonly object[];
  /** Line numbers of the operations, from 1. */
  readonly numbers: readonly number[];
}

/** One operation per line. Nothing is executed unless all of them can be parsed. */
export async function readOperationLines(stream: AsyncIterable<Uint8Array>): Promise<OperationLines> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  const bytes = Buffer.concat(chunks);
  const operations: object[] = [];
  const numbers: number[] = [];
  let start = 0;
  for (let number = 1; start < bytes.length; number += 1) {
    const found = bytes.indexOf(0x0a, start);
    const end = found === -1 ? bytes.length : found;
    const line = bytes.subarray(start, end);
    start = end + 1;
    if (/^\s*$/.test(line.subarray(0, 100).toString("latin1")) && line.toString("utf8").trim() === "") continue;
    operations.push(readLine(line, number));
    numbers.push(number);
  }
  return { operations, numbers };
}

function readLine(line: Uint8Array, number: number): object {
  let value: unknown;
  try {
    value = parseJson(line);
  } catch (error) {
    if (!PinakesError.isInstance(error)) throw error;
    throw invalid(`Line ${number}: ${error.detail.replace("The body", "It")} Nothing was written.`, { cause: error });
  }
  if (isJsonObject(value)) return value;
  throw invalid(`Line ${number}: must be an operation such as {"op":"create","document":{…}}. Nothing was written.`);
}
