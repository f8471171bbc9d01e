/**
 * Text that is produced while it is sent. Its start is produced before the response begins, so that an early error gets its own status; a
 * later error can only abort the response, which clients notice as a broken transfer, never as a shorter response.
 */

const readAheadCharsMax = 1_048_576;

/** Short text is produced completely. */
export async function readAhead(
  texts: AsyncIterable<string>,
  charsMax: number = readAheadCharsMax,
): Promise<AsyncIterable<Uint8Array>> {
  const iterator = texts[Symbol.asyncIterator]();
  const head: string[] = [];
  let chars = 0;
  let ended = false;
  while (!ended && chars <= charsMax) {
    const next = await iterator.next();
    if (next.done === true) ended = true;
    else {
      head.push(next.value);
      chars += next.value.length;
    }
  }
  return inBytes(head, ended ? undefined : iterator);
}

async function* inBytes(
  head: string[],
  rest: AsyncIterator<string> | undefined,
): AsyncGenerator<Uint8Array, void, void> {
  const encoder = new TextEncoder();
  try {
    for (let text = head.shift(); text !== undefined; text = head.shift()) yield encoder.encode(text);
    for (let next = await rest?.next(); next !== undefined && next.done !== true; next = await rest?.next())
      yield encoder.encode(next.value);
  } finally {
    await rest?.return?.();
  }
}
