/** The lines of an NDJSON stream, each as its value or as its error. A file of any size is read line by line. */
import type { Readable } from "node:stream";
import { PinakesError, invalid } from "../../domain/errors.ts";
import { byteLines, decodeLine } from "../../runtime/lines.ts";

export type IncomingLine =
  | { readonly line: number; readonly value: unknown }
  | { readonly line: number; readonly error: PinakesError };

/** Twice the largest document, for escapes and whitespace. */
export const lineBytesMax = 4_194_304;

/** `name` is used in messages; lines are counted from 1, empty ones are skipped. */
export async function* incomingLines(
  stream: Readable,
  name: string,
): AsyncGenerator<IncomingLine & { readonly chars: number }> {
  let begun = false;
  for await (const one of byteLines(stream as AsyncIterable<Buffer>, { lineBytesMax })) {
    const { number, bytes } = one;
    if (bytes === undefined)
      throw new PinakesError(
        "LIMIT_EXCEEDED",
        `${name} line ${number}: is longer than ${lineBytesMax} bytes. Write one object per line, each line ended by "\\n".`,
      );
    const text = decodeLine(one);
    if (text?.trim() === "") continue;
    if (!begun && text?.trim().startsWith("[") === true)
      throw invalid(`${name}: is a JSON list; write one object per line: jq -c '.[]' converts it.`);
    begun = true;
    yield { ...read(text, number), chars: bytes.length };
  }
}

function read(text: string | undefined, line: number): IncomingLine {
  if (text === undefined) return { line, error: invalid("is not UTF-8.") };
  try {
    return { line, value: JSON.parse(text) as unknown };
  } catch (error) {
    // The parser's line number is relative to this line.
    const why = (error instanceof Error ? error.message : String(error)).replace(/ \(line 1 column \d+\)$/, "");
    return { line, error: invalid(`is not JSON: ${why}`, { cause: error }) };
  }
}
