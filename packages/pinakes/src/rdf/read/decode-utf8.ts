/**
 * Decodes bytes to text, wherever the chunks are split: a character in two chunks is joined. Invalid UTF-8 is an error with its line.
 * Pieces are at most `sliceBytesMax` long, so that even a body that arrives at once is processed in steps.
 */
import type { RdfFormat } from "../formats.ts";
import { rdfLimits } from "../limits.ts";
import { problemAt } from "../problem.ts";

const notUtf8 = "it is not valid UTF-8. Save the file as UTF-8 and send it again.";

export async function* decodeUtf8(
  body: AsyncIterable<Uint8Array>,
  format: RdfFormat,
): AsyncGenerator<string, void, void> {
  let rest: Uint8Array = new Uint8Array(0);
  let line = 1;
  let first = true;
  for await (const chunk of body) {
    for (let at = 0; at < chunk.length; at += rdfLimits.sliceBytesMax) {
      const slice = chunk.subarray(at, at + rdfLimits.sliceBytesMax);
      const bytes = rest.length === 0 ? slice : Buffer.concat([rest, slice]);
      const whole = bytes.length - unfinishedBytes(bytes);
      let text = decode(bytes.subarray(0, whole), line, format);
      rest = bytes.slice(whole); // A copy, since the caller may reuse its buffer.
      if (text === "") continue;
      line += newlines(text);
      if (first && text.startsWith("\ufeff")) text = text.slice(1);
      first = false;
      if (text !== "") yield text;
    }
  }
  if (rest.length > 0)
    throw problemAt(format, line, "it ends inside a character. The file is truncated; send all of it.");
}

function decode(bytes: Uint8Array, line: number, format: RdfFormat): string {
  try {
    return strict().decode(bytes);
  } catch {
    throw problemAt(format, line + goodLines(bytes), notUtf8);
  }
}

/** Counts lines before the invalid byte. No byte of a multi-byte character equals a line feed. */
function goodLines(bytes: Uint8Array): number {
  let lines = 0;
  for (let start = 0; ; lines++) {
    const end = bytes.indexOf(0x0a, start);
    try {
      strict().decode(bytes.subarray(start, end === -1 ? undefined : end));
    } catch {
      return lines;
    }
    if (end === -1) return lines;
    start = end + 1;
  }
}

function strict(): InstanceType<typeof TextDecoder> {
  return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
}

/** Bytes of an incomplete character at the end. */
function unfinishedBytes(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] as number;
    if (byte < 0x80) return 0;
    if (byte >= 0xc0) return lengthOf(byte) > back ? back : 0;
  }
  return 0;
}

function lengthOf(firstByte: number): number {
  if (firstByte >= 0xf0) return 4;
  return firstByte >= 0xe0 ? 3 : 2;
}

export function newlines(text: string): number {
  let count = 0;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) count++;
  return count;
}
