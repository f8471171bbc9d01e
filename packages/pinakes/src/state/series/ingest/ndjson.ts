/** NDJSON as it comes: lines numbered as in an editor, blank ones left out but counted. A line that is no JSON is an error of that line. */
import { PinakesError, invalid } from "../../../domain/errors.ts";
import { limits } from "../../../domain/limits.ts";
import { byteLines, decodeLine } from "../../../runtime/lines.ts";
import { checkCount, type IncomingLine } from "./ingest.ts";

/** A document that is too large is told as such by the store; this is only to stop lines without end. */
export const lineBytesMax = 2 * limits.documentBytesMax;

export async function readNdjson(chunks: AsyncIterable<Uint8Array>): Promise<readonly IncomingLine[]> {
  const lines: IncomingLine[] = [];
  for await (const line of byteLines(chunks, { lineBytesMax })) {
    if (line.bytes === undefined)
      throw new PinakesError(
        "LIMIT_EXCEEDED",
        `Line ${line.number} is longer than ${lineBytesMax} bytes; nothing was stored.`,
      );
    const text = decodeLine(line);
    if (text?.trim() === "") continue;
    lines.push(parse(line.number, text));
    checkCount(lines.length);
  }
  return lines;
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
