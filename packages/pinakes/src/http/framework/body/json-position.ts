/** Finds the position of an error in JSON text, and its nesting depth. The engine's own messages do not always contain the position. */

const plain = String.raw`[^"\\\u0000-\u001f]*`;
const string = String.raw`"${plain}(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})${plain})*"`;
const scalar = String.raw`-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null`;
const tokens = new RegExp(String.raw`[ \t\n\r]*(?:([{}[\],:])|(${string})|(${scalar}))`, "y");

/** Counts brackets outside of strings; fast enough to run before every parse. */
export function deeperThan(text: string, depthMax: number): boolean {
  let depth = 0;
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    if (code === 0x22) i = endOfString(text, i);
    else if (code === 0x7b || code === 0x5b) {
      depth += 1;
      if (depth > depthMax) return true;
    } else if (code === 0x7d || code === 0x5d) depth -= 1;
  }
  return false;
}

function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let first = end;
    while (text.charCodeAt(first - 1) === 0x5c) first -= 1;
    // Preceded by an odd number of backslashes: the quote is part of the string.
    if ((end - first) % 2 === 0) return end;
  }
  return text.length;
}

/** Line and column, from 1, of the first invalid character. */
export function jsonErrorPlace(text: string): { readonly line: number; readonly column: number } {
  const before = text.slice(0, errorIndex(text));
  const line = before.split("\n").length;
  return { line, column: before.length - before.lastIndexOf("\n") };
}

type Expected = "value" | "value or ]" | "name" | "name or }" | "colon" | "comma or end";

function errorIndex(text: string): number {
  const open: ("{" | "[")[] = [];
  let expected: Expected = "value";
  tokens.lastIndex = 0;
  for (;;) {
    const from = tokens.lastIndex;
    const start = skipSpace(text, from);
    if (expected === "comma or end" && open.length === 0) return start;
    tokens.lastIndex = from;
    const found = tokens.exec(text);
    if (found === null) return start;
    const next = after(found, expected, open);
    if (next === undefined) return start;
    expected = next;
  }
}

function after(
  [, mark, text, literal]: RegExpExecArray,
  expected: Expected,
  open: ("{" | "[")[],
): Expected | undefined {
  const value = expected === "value" || expected === "value or ]";
  if (literal !== undefined) return value ? "comma or end" : undefined;
  if (text !== undefined) {
    if (expected === "name" || expected === "name or }") return "colon";
    return value ? "comma or end" : undefined;
  }
  if ((mark === "{" || mark === "[") && value) {
    open.push(mark);
    return mark === "{" ? "name or }" : "value or ]";
  }
  if (mark === ":" && expected === "colon") return "value";
  if (mark === "," && expected === "comma or end") return open.at(-1) === "{" ? "name" : "value";
  const closes = (mark === "}" && open.at(-1) === "{") || (mark === "]" && open.at(-1) === "[");
  if (!closes || !(expected === "comma or end" || expected === (mark === "}" ? "name or }" : "value or ]")))
    return undefined;
  open.pop();
  return "comma or end";
}

function skipSpace(text: string, from: number): number {
  let i = from;
  while (i < text.length && " \t\n\r".includes(text[i] as string)) i += 1;
  return i;
}
