/** The lines of a byte stream, such as NDJSON of any size: only one line is buffered at a time, and never an endless one. */
const newline = 0x0a;

export interface ByteLine {
  /** From 1, as editors count. */
  readonly number: number;
  /** Without its line end. Undefined for a line that is longer than allowed, reported as soon as that is known. */
  readonly bytes: Buffer | undefined;
  /** Whether the line end was seen; the last line may lack it. */
  readonly isEnded: boolean;
}

export async function* byteLines(
  chunks: AsyncIterable<Uint8Array>,
  { lineBytesMax }: { readonly lineBytesMax: number },
): AsyncGenerator<ByteLine> {
  let number = 1;
  let kept: Uint8Array[] = [];
  let keptBytes = 0;
  for await (const chunk of chunks) {
    let from = 0;
    while (from < chunk.length) {
      const found = chunk.indexOf(newline, from);
      const end = found === -1 ? chunk.length : found;
      const wasTooLong = keptBytes > lineBytesMax;
      keptBytes += end - from;
      const isTooLong = keptBytes > lineBytesMax;
      if (isTooLong && !wasTooLong) yield { number, bytes: undefined, isEnded: false };
      if (isTooLong) kept = [];
      // Copies the text that is kept beyond this chunk: the source may reuse the buffer for the next one.
      else kept.push(found === -1 ? Uint8Array.prototype.slice.call(chunk, from, end) : chunk.subarray(from, end));
      if (found === -1) break;
      if (!isTooLong) yield { number, bytes: Buffer.concat(kept), isEnded: true };
      number += 1;
      kept = [];
      keptBytes = 0;
      from = found + 1;
    }
  }
  if (keptBytes > 0 && keptBytes <= lineBytesMax) yield { number, bytes: Buffer.concat(kept), isEnded: false };
}

/** Undefined for invalid UTF-8. Only the first line may begin with a byte order mark. */
export function decodeLine({ number, bytes }: Pick<ByteLine, "number" | "bytes">): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: number !== 1 }).decode(bytes);
  } catch {
    return undefined;
  }
}
