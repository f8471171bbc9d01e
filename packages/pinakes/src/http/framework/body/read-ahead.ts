/**
 * A text that is made while it is sent. Its beginning is made before the answer begins, so that what goes wrong there is a problem with its
 * own status; what goes wrong later can only cut the answer, which clients notice as a broken transfer, never as a shorter answer.
 */

const readAheadCharsMax = 1_048_576;

/** What is short is made whole. */
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
