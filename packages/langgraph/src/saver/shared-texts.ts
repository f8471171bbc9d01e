/**
 * Long strings inside serialised values are stored once per thread. LangGraph writes the same message several times: as input, as a write
 * of a task, as an element of a list, each with a different wrapper around the same long string.
 *
 * A JSON text is split at its strings without parsing it. In the remaining skeleton, `"\u0001<n>"` stands for the n-th long string. A
 * user's string that starts with U+0001 is prefixed with another one. (In JSON text U+0001 is always written `\u0001`, and a quotation mark
 * that opens a string never follows a backslash, so both are unambiguous.)
 */

/** Shorter ones cost more as separate items than they save. */
export const sharedCharsMin = 384;

export interface Skeleton {
  readonly text: string;
  /** Raw strings, not JSON. */
  readonly shared: readonly string[];
}

/** Undefined when there is nothing to share. */
export function takeApart(json: string): Skeleton | undefined {
  if (json.length < sharedCharsMin) return undefined;
  const shared: string[] = [];
  const pieces: string[] = [];
  let copied = 0;
  for (let open = json.indexOf('"'); open !== -1;) {
    const close = closingQuote(json, open);
    const after = json[close + 1];
    const value = close - open > sharedCharsMin && after !== ":" ? shareable(json.slice(open, close + 1)) : undefined;
    if (value !== undefined) {
      pieces.push(json.slice(copied, open), String.raw`"\u0001${shared.length}"`);
      shared.push(value);
      copied = close + 1;
    } else if (json.startsWith(String.raw`\u0001`, open + 1)) {
      pieces.push(json.slice(copied, open + 1), String.raw`\u0001`);
      copied = open + 1;
    }
    open = json.indexOf('"', close + 1);
  }
  if (shared.length === 0) return undefined;
  pieces.push(json.slice(copied));
  return { text: pieces.join(""), shared };
}

const marks = /(?<!\\)"\\u0001(?:(\d+)"|(?=\\u0001))/g;

export function putTogether(skeleton: string, shared: (place: number) => string): string {
  return skeleton.replaceAll(marks, (_mark, place: string | undefined) =>
    place === undefined ? '"' : JSON.stringify(shared(Number(place))),
  );
}

function closingQuote(json: string, open: number): number {
  for (let at = json.indexOf('"', open + 1); at !== -1; at = json.indexOf('"', at + 1)) {
    let backslashes = 0;
    while (json[at - 1 - backslashes] === "\\") backslashes += 1;
    if (backslashes % 2 === 0) return at;
  }
  throw new Error("The serialiser of the checkpointer says that it writes JSON, but a string in it has no end.");
}

/** Stores accept neither NUL nor unpaired surrogates; such strings stay in place, escaped. */
function shareable(token: string): string | undefined {
  const value = JSON.parse(token) as string;
  return value.includes("\0") || !value.isWellFormed() ? undefined : value;
}
