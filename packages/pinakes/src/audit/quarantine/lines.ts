/** The data of rows and triples: NDJSON, a first line with the format, then one line each. */
import type { QuarantineKind } from "@pinakes/client";
import { PinakesError } from "../../domain/errors.ts";
import type { Quad } from "../../domain/rdf.ts";
import { byteLines } from "../../runtime/lines.ts";
import type { VectorRow } from "../../vectors/index.ts";
import { quarantineLimits } from "./limits.ts";

const dataFormat = 1;

export interface RowLine {
  readonly id: string;
  /** Float32, little endian, base64: bit-exact. */
  readonly vector: string;
  readonly text?: string;
  readonly metadata: VectorRow["metadata"];
}

export interface QuadLine {
  readonly quad: Quad;
  /** The chunks that support it. */
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

/** The complete lines of a stream, without the first, which is validated. */
export async function* readLines<Line extends RowLine | QuadLine>(
  body: AsyncIterable<Uint8Array>,
  entryId: string,
): AsyncGenerator<Line> {
  let first = true;
  for await (const { bytes, isEnded } of byteLines(body, quarantineLimits)) {
    if (bytes === undefined) throw new PinakesError("CORRUPT", `A line of quarantine entry "${entryId}" is too long.`);
    if (!isEnded) return;
    const line: unknown = JSON.parse(bytes.toString("utf8"));
    if (!first) yield line as Awaited<Line>;
    else if ((line as { format?: unknown }).format !== dataFormat)
      throw new PinakesError(
        "NOT_SUPPORTED",
        `The data of quarantine entry "${entryId}" is not of format ${dataFormat}, which this version of Pinakes reads.`,
      );
    first = false;
  }
}
