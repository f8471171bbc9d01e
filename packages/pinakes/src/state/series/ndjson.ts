/** NDJSON as it comes: lines numbered as in an editor, blank ones left out but counted. A line that is no JSON is an error of that line. */
import { PinakesError, invalid } from "../../domain/errors.ts";
import { limits } from "../../domain/limits.ts";
import { checkCount, type IncomingLine } from "./ingest.ts";

/** A document that is too large is told as such by the store; this is only to stop lines without end. */
export const lineBytesMax = 2 * limits.documentBytesMax;
const newline = 0x0a;

export async function readNdjson(chunks: AsyncIterable<Uint8Array>): Promise<readonly IncomingLine[]> {
  const lines: IncomingLine[] = [];
  let number = 0;
  const end = (bytes: Uint8Array): void => {
    number += 1;
    const text = decode(bytes, number === 1);
    if (text !== undefined && text.trim() === "") return;
    lines.push(parse(number, text));
    checkCount(lines.length);
  };
  let rest: Uint8Array[] = [];
  let restBytes = 0;
  for await (const chunk of chunks) {
    let from = 0;
    for (let at = chunk.indexOf(newline); at >= 0; at = chunk.indexOf(newline, from)) {
      end(Buffer.concat([...rest, chunk.subarray(from, at)]));
      [rest, restBytes, from] = [[], 0, at + 1];
    }
    if (from === chunk.length) continue;
    rest.push(chunk.subarray(from));
    restBytes += chunk.length - from;
    if (restBytes > lineBytesMax)
      throw new PinakesError(
        "LIMIT_EXCEEDED",
        `Line ${number + 1} is longer than ${lineBytesMax} bytes; nothing was stored.`,
      );
  }
  if (restBytes > 0) end(Buffer.concat(rest));
  return lines;
}

/** Undefined for what is no UTF-8. */
function decode(bytes: Uint8Array, first: boolean): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: !first }).decode(bytes);
  } catch {
    return undefined;
  }
}

function parse(line: number, text: string | undefined): IncomingLine {
  if (text === undefined) return { line, error: invalid("The line is not valid UTF-8.") };
  try {
    return { line, value: JSON.parse(text) as unknown };
  } catch (error) {
    return {
      line,
      error: invalid("The line is not valid JSON; NaN and Infinity are no JSON numbers either.", { cause: error }),
    };
  }
}
