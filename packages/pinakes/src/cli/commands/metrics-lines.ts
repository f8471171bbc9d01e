/** The lines of a stream of NDJSON, each as its value or as what is wrong with it. A file of any size is read line by line. */
import type { Readable } from "node:stream";
import { PinakesError, invalid } from "../../domain/errors.ts";
import { byteLines, decodeLine } from "../../runtime/lines.ts";

export type IncomingLine =
  | { readonly line: number; readonly value: unknown }
  | { readonly line: number; readonly error: PinakesError };

/** Twice the largest document, for escapes and blanks. */
export const lineBytesMax = 4_194_304;

/** `name` is what the messages call the file; lines are counted from 1, blank ones left out. */
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
        `${name} line ${number}: is longer than ${lineBytesMax} bytes. Write one object a line, each line ended by "\\n".`,
      );
    const text = decodeLine(one);
    if (text?.trim() === "") continue;
    if (!begun && text?.trim().startsWith("[") === true)
      throw invalid(`${name}: is a JSON list; write one object a line instead: jq -c '.[]' makes that of it.`);
    begun = true;
    yield { ...read(text, number), chars: bytes.length };
  }
}

function read(text: string | undefined, line: number): IncomingLine {
  if (text === undefined) return { line, error: invalid("is not UTF-8.") };
  try {
    return { line, value: JSON.parse(text) as unknown };
  } catch (error) {
    // It counts lines, too, but knows of one only.
    const why = (error instanceof Error ? error.message : String(error)).replace(/ \(line 1 column \d+\)$/, "");
    return { line, error: invalid(`is not JSON: ${why}`, { cause: error }) };
  }
}
