/** The lines of a stream of NDJSON, each as its value or as what is wrong with it. A file of any size is read line by line. */
import type { Readable } from "node:stream";
import { PinakesError, invalid } from "../domain/errors.ts";

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
  let line = 0;
  let begun = false;
  for await (const bytes of byteLines(stream, () => `${name} line ${line + 1}`)) {
    line += 1;
    const text = textOf(bytes, line === 1);
    if (text?.trim() === "") continue;
    if (!begun && text?.trim().startsWith("[") === true)
      throw invalid(`${name}: is a JSON list; write one object a line instead: jq -c '.[]' makes that of it.`);
    begun = true;
    yield { ...read(text, line), chars: bytes.length };
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

/** Undefined where it is no UTF-8. A mark of the byte order may stand before the first line. */
function textOf(bytes: Buffer, first: boolean): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: !first }).decode(bytes);
  } catch {
    return undefined;
  }
}

async function* byteLines(stream: Readable, where: () => string): AsyncGenerator<Buffer> {
  let rest: Buffer[] = [];
  let restBytes = 0;
  const keep = (bytes: Buffer): void => {
    rest.push(bytes);
    restBytes += bytes.length;
    if (restBytes > lineBytesMax)
      throw new PinakesError(
        "LIMIT_EXCEEDED",
        `${where()}: is longer than ${lineBytesMax} bytes. Write one object a line, each line ended by "\\n".`,
      );
  };
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    let from = 0;
    for (let end = chunk.indexOf(0x0a); end !== -1; end = chunk.indexOf(0x0a, from)) {
      keep(chunk.subarray(from, end));
      yield Buffer.concat(rest);
      rest = [];
      restBytes = 0;
      from = end + 1;
    }
    keep(chunk.subarray(from));
  }
  if (restBytes > 0) yield Buffer.concat(rest);
}
