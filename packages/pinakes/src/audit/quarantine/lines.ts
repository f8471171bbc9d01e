/** The data of rows and triples: NDJSON, a first line with the format, then one line each. */
import type { QuarantineKind } from "@pinakes/client";
import { PinakesError } from "../../domain/errors.ts";
import type { Quad } from "../../domain/rdf.ts";
import type { VectorRow } from "../../vectors/index.ts";
import { quarantineLimits } from "./limits.ts";

const dataFormat = 1;

export interface RowLine {
  readonly id: string;
  /** Float32, little endian, base64: the same bits come back. */
  readonly vector: string;
  readonly text?: string;
  readonly metadata: VectorRow["metadata"];
}

export interface QuadLine {
  readonly quad: Quad;
  /** The passages that support it. */
  readonly parts: readonly number[];
}

export function rowLine({ id, vector, text, metadata }: VectorRow): RowLine {
  const bytes = Buffer.alloc(vector.length * 4);
  for (const [i, value] of vector.entries()) bytes.writeFloatLE(value, i * 4);
  return { id, vector: bytes.toString("base64"), ...(text === undefined ? {} : { text }), metadata };
}

export function readRowLine({ id, vector, text, metadata }: RowLine): VectorRow {
  const bytes = Buffer.from(vector, "base64");
  const numbers = Float32Array.from({ length: bytes.length / 4 }, (_, i) => bytes.readFloatLE(i * 4));
  return { id, vector: numbers, ...(text === undefined ? {} : { text }), metadata };
}

export async function* writeLines(
  kind: QuarantineKind,
  target: string,
  lines: AsyncIterable<object>,
): AsyncGenerator<Uint8Array> {
  yield Buffer.from(`${JSON.stringify({ format: dataFormat, kind, target })}\n`, "utf8");
  for await (const line of lines) yield Buffer.from(`${JSON.stringify(line)}\n`, "utf8");
}

/** Whole lines of a stream, the first of them checked and left out. */
export async function* readLines<Line extends RowLine | QuadLine>(
  body: AsyncIterable<Uint8Array>,
  entryId: string,
): AsyncGenerator<Line> {
  let first = true;
  for await (const text of split(body, entryId)) {
    const line: unknown = JSON.parse(text);
    if (!first) yield line as Awaited<Line>;
    else if ((line as { format?: unknown }).format !== dataFormat)
      throw new PinakesError(
        "NOT_SUPPORTED",
        `The data of quarantine entry "${entryId}" is not of format ${dataFormat}, which this version reads.`,
      );
    first = false;
  }
}

async function* split(body: AsyncIterable<Uint8Array>, entryId: string): AsyncGenerator<string> {
  let rest: Buffer[] = [];
  let restBytes = 0;
  for await (const piece of body) {
    const chunk = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
    let from = 0;
    for (let end = chunk.indexOf(0x0a); end !== -1; end = chunk.indexOf(0x0a, from)) {
      yield Buffer.concat([...rest, chunk.subarray(from, end)]).toString("utf8");
      rest = [];
      restBytes = 0;
      from = end + 1;
    }
    // A copy: the chunk is the store's again when the next one is asked for.
    rest.push(Buffer.from(chunk.subarray(from)));
    restBytes += chunk.length - from;
    if (restBytes > quarantineLimits.lineBytesMax)
      throw new PinakesError("CORRUPT", `A line of quarantine entry "${entryId}" is too long.`);
  }
}
