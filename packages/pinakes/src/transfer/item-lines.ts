/** A table as lines, one item each: plain JSON or DynamoDB's, compressed or not, detected per line. */
import { Readable, pipeline } from "node:stream";
import { createGunzip, createGzip } from "node:zlib";
import { PinakesError, invalid } from "../domain/errors.ts";
import { checkJson, isJsonObject, utf8Bytes, type JsonObject } from "../domain/json.ts";
import { byteLines } from "../runtime/lines.ts";
import { exactNumber, fromDynamo, isDynamoItem, toDynamo, type AttributeTypes, type PlainItem } from "./dynamo-json.ts";
import { transferLimits } from "./limits.ts";

export type ItemFormat = "json" | "dynamodb";

export interface ItemLine {
  /** From 1. */
  readonly line: number;
  readonly parsed?: PlainItem;
  /** Why the line is not an item. Later lines are read nevertheless. */
  readonly problem?: string;
}

export async function* readItems(
  body: AsyncIterable<Uint8Array>,
  tableBytesMax = transferLimits.tableBytesMax,
): AsyncGenerator<ItemLine> {
  let last = 0;
  try {
    const all = atMost(await unpacked(body), tableBytesMax);
    for await (const { number: line, bytes } of byteLines(all, transferLimits)) {
      last = line;
      const found = readLine(bytes);
      if (found !== undefined) yield { line, ...found };
    }
  } catch (error) {
    // A truncated or damaged compressed file: the items before it count.
    if (!String((error as NodeJS.ErrnoException).code).startsWith("Z_")) throw error;
    yield { line: last + 1, problem: `The file cannot be decompressed from here on: ${(error as Error).message}.` };
  }
}

/** Undefined for an empty line. */
function readLine(bytes: Uint8Array | undefined): Omit<ItemLine, "line"> | undefined {
  if (bytes === undefined) return { problem: `The line is longer than ${transferLimits.lineBytesMax} bytes.` };
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return text.trim() === "" ? undefined : { parsed: parseItem(text) };
  } catch (error) {
    return {
      problem: PinakesError.isInstance(error)
        ? error.detail
        : `The line is not JSON: ${error instanceof Error ? error.message : String(error)}`,
    };
  }
}

export function parseItem(text: string): PlainItem {
  const value: unknown = JSON.parse(text, (_, child: unknown, context?: { readonly source?: string }) =>
    typeof child === "number" && context?.source !== undefined ? exactNumber(context.source, "The line") : child,
  );
  if (!isJsonObject(value)) throw invalid("The line is not an object.");
  checkJson(value);
  const parsed = isDynamoItem(value) ? fromDynamo(value) : { item: value, types: {} };
  const bytes = utf8Bytes(JSON.stringify(parsed.item));
  if (bytes > transferLimits.itemBytesMax)
    throw invalid(`The item has ${bytes} bytes as JSON; the limit is ${transferLimits.itemBytesMax}.`);
  return parsed;
}

export function itemLine(item: JsonObject, format: ItemFormat, types?: AttributeTypes): string {
  return `${JSON.stringify(format === "json" ? item : toDynamo(item, types))}\n`;
}

/** Lines as the bytes of a file. */
export function tableBody(lines: AsyncIterable<string>, gzip: boolean): AsyncIterable<Uint8Array> {
  const bytes = Readable.from(utf8(lines));
  // Errors of the lines propagate to the last stream, which pipeline destroys with them.
  return gzip ? pipeline(bytes, createGzip(), () => {}) : bytes;
}

async function* utf8(lines: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
  for await (const line of lines) yield Buffer.from(line, "utf8");
}

/** Compressed files are detected by their first bytes, not by name. */
async function unpacked(body: AsyncIterable<Uint8Array>): Promise<AsyncIterable<Uint8Array>> {
  const iterator = body[Symbol.asyncIterator]();
  const head: Uint8Array[] = [];
  let length = 0;
  for (; length < 2;) {
    const { done, value } = await iterator.next();
    if (done === true) break;
    head.push(value);
    length += value.byteLength;
  }
  const [first, second] = Buffer.concat(head);
  const all = Readable.from(
    (async function* rest(): AsyncGenerator<Uint8Array> {
      try {
        yield* head.filter((chunk) => chunk.byteLength > 0);
        for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) yield next.value;
      } finally {
        await iterator.return?.();
      }
    })(),
  );
  return first === 0x1f && second === 0x8b ? pipeline(all, createGunzip(), () => {}) : all;
}

async function* atMost(body: AsyncIterable<Uint8Array>, bytesMax: number): AsyncGenerator<Uint8Array> {
  let total = 0;
  for await (const chunk of body) {
    total += chunk.byteLength;
    if (total > bytesMax)
      throw new PinakesError("LIMIT_EXCEEDED", `A table may have at most ${bytesMax} bytes; split the file.`);
    yield chunk;
  }
}
