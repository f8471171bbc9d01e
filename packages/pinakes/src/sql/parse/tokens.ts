/** Splits text into tokens. Each has its position, so that an error can point at it. */
import { invalid, type PinakesError } from "../../domain/errors.ts";
import { sqlLimits } from "../limits.ts";

export type TokenKind = "name" | "parameter" | "number" | "string" | "symbol" | "end";

export interface Token {
  readonly kind: TokenKind;
  /** As written; for a string its value, for a parameter its name without "@". */
  readonly text: string;
  readonly at: number;
}

const symbols = [
  "??",
  "||",
  "<=",
  ">=",
  "<>",
  "!=",
  "=",
  "<",
  ">",
  "+",
  "-",
  "*",
  "/",
  "%",
  "(",
  ")",
  "[",
  "]",
  "{",
  "}",
  ",",
  ".",
  ":",
  "?",
];
const foreignSymbols = ["<<", ">>", "&", "|", "^", "~"];
const word = /[A-Za-z_][A-Za-z0-9_]*/y;
const number = /(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?/y;
const blank = /(?:\s|--[^\n]*)+/y;

export function tokenize(text: string): readonly Token[] {
  if (typeof text !== "string")
    throw invalid("query: must be a string such as SELECT * FROM c WHERE c.status = @status.");
  if (text.length > sqlLimits.textCharsMax)
    throw invalid(
      `query: ${text.length} characters; at most ${sqlLimits.textCharsMax} are allowed. Pass long lists as parameters.`,
    );
  const tokens: Token[] = [];
  let at = 0;
  for (;;) {
    at += match(blank, text, at)?.length ?? 0;
    if (at >= text.length) return [...tokens, { kind: "end", text: "", at }];
    const [token, end] = next(text, at);
    tokens.push(token);
    at = end;
  }
}

function next(text: string, at: number): readonly [Token, number] {
  const first = text[at] as string;
  if (first === "'" || first === '"') return quoted(text, at);
  if (first === "@") {
    const name = match(word, text, at + 1);
    if (name === undefined) throw syntaxError(text, at, 'a parameter is "@" and a name, such as @id');
    return [{ kind: "parameter", text: name, at }, at + 1 + name.length];
  }
  const name = match(word, text, at);
  if (name !== undefined) return [{ kind: "name", text: name, at }, at + name.length];
  const digits = match(number, text, at);
  if (digits !== undefined) return numeric(text, at, digits);
  const symbol = symbols.find((candidate) => text.startsWith(candidate, at));
  const foreign = foreignSymbols.find((candidate) => text.startsWith(candidate, at));
  if (foreign !== undefined && (symbol === undefined || foreign.length >= symbol.length))
    throw unsupported(text, at, `the bitwise operator ${foreign}`);
  if (symbol === undefined)
    throw syntaxError(
      text,
      at,
      `${JSON.stringify(String.fromCodePoint(text.codePointAt(at) as number))} is unexpected here`,
    );
  return [{ kind: "symbol", text: symbol, at }, at + symbol.length];
}

function numeric(text: string, at: number, digits: string): readonly [Token, number] {
  const end = at + digits.length;
  if (match(word, text, end) !== undefined)
    throw syntaxError(text, at, "a number is followed directly by a name; put a space between them");
  if (!Number.isFinite(Number(digits)))
    throw syntaxError(text, at, `${digits.slice(0, 40)} is too large for a JSON number`);
  return [{ kind: "number", text: digits, at }, end];
}

const escapes: Readonly<Record<string, string>> = {
  n: "\n",
  r: "\r",
  t: "\t",
  b: "\b",
  f: "\f",
  "/": "/",
  "\\": "\\",
  "'": "'",
  '"': '"',
};

/** In single or double quotes, with the escapes of JSON. */
function quoted(text: string, at: number): readonly [Token, number] {
  const quote = text[at];
  let value = "";
  for (let i = at + 1; i < text.length; i += 1) {
    const char = text[i] as string;
    if (char === quote) return [{ kind: "string", text: value, at }, i + 1];
    if (char !== "\\") {
      value += char;
      continue;
    }
    i += 1;
    const code = text[i] ?? "";
    const hex = code === "u" ? /^[0-9a-fA-F]{4}$/.exec(text.slice(i + 1, i + 5))?.[0] : undefined;
    if (hex !== undefined) {
      value += String.fromCharCode(Number.parseInt(hex, 16));
      i += 4;
      continue;
    }
    const plain = Object.hasOwn(escapes, code) ? escapes[code] : undefined;
    if (plain === undefined)
      throw syntaxError(text, i - 1, `"\\${code}" is not an escape; write "\\\\" for a backslash`);
    value += plain;
  }
  throw syntaxError(text, at, `the string is not closed; add ${quote}`);
}

function match(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0];
}

export function syntaxError(text: string, at: number, detail: string): PinakesError {
  return invalid(`query: syntax error at ${place(text, at)}: ${detail}.`);
}

/** For syntax that Cosmos DB supports and this subset does not: never ignored, never guessed. */
export function unsupported(text: string, at: number, what: string, instead?: string): PinakesError {
  return invalid(`query: not supported at ${place(text, at)}: ${what}${instead === undefined ? "" : `; ${instead}`}.`);
}

function place(text: string, at: number): string {
  const before = text.slice(0, at).split("\n");
  return `line ${before.length}, column ${(before.at(-1) as string).length + 1}`;
}
