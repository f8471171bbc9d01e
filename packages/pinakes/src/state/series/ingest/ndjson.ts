/** NDJSON input: lines numbered as in an editor, blank ones skipped but counted. A line that is not JSON is an error of that line. */
import { PinakesError, invalid } from "../../../domain/errors.ts";
import { limits } from "../../../domain/limits.ts";
import { byteLines, decodeLine } from "../../../runtime/lines.ts";
import { checkCount, type IncomingLine } from "./ingest.ts";

/** The store reports a document that is too large; this only bounds endless lines. */
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
      error: invalid("The line is not valid JSON; NaN and Infinity are not JSON numbers.", { cause: error }),
    };
  }
}
