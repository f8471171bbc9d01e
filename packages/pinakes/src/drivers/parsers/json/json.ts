/**
 * JSON: the value, indented, with a section for each key or index of its top level. Several values in a row (JSON lines) stay one per line,
 * and each is a section. Numbers are copied as written, so that long ones lose no digit.
 */
import type { ParsedText } from "../../../ports/parser.ts";
import { JsonTokens } from "./json-tokens.ts";
import { parserLimits } from "../limits.ts";
import { Sections, headingText } from "../sections.ts";
import { tooMuchText } from "../text-builder.ts";

export function parseJson(source: string): ParsedText {
  const tokens = new JsonTokens(source);
  const pretty = new JsonPrinter(tokens, true);
  pretty.printValue();
  const after = tokens.skipBlank();
  if (after.end) return pretty.finish();
  if (!after.newline) throw tokens.wrong("something follows after the end of the value");
  return parseJsonLines(source);
}

function parseJsonLines(source: string): ParsedText {
  const tokens = new JsonTokens(source);
  const printer = new JsonPrinter(tokens, false);
  for (let value = 0; ; value += 1) {
    printer.beginLine(value);
    printer.printValue();
    const after = tokens.skipBlank();
    if (after.end) return printer.finish();
    if (!after.newline) throw tokens.wrong("something follows after the end of the value");
  }
}

/** What may come next: a value; an item or the end of an empty list; a key or the end of an empty object; … */
type Expected = "value" | "firstItem" | "item" | "firstKey" | "key" | "after";

class JsonPrinter {
  readonly #tokens: JsonTokens;
  readonly #pretty: boolean;
  readonly #parts: string[] = [];
  readonly #sections = new Sections();
  readonly #open: ("[" | "{")[] = [];
  #length = 0;
  #topItems = 0;

  constructor(tokens: JsonTokens, pretty: boolean) {
    this.#tokens = tokens;
    this.#pretty = pretty;
  }

  beginLine(value: number): void {
    if (value > 0) this.#put("\n");
    this.#sections.add(this.#length, [`[${value}]`]);
  }

  printValue(): void {
    let expected: Expected = "value";
    do {
      const token = this.#tokens.next();
      if (expected === "after") expected = this.#after(token);
      else if ((expected === "firstKey" && token === "}") || (expected === "firstItem" && token === "]"))
        expected = this.#close(token);
      else if (expected === "firstKey" || expected === "key") expected = this.#key(token);
      else expected = this.#value(token, expected);
    } while (this.#open.length > 0);
  }

  finish(): ParsedText {
    const warnings: string[] = [];
    return { text: this.#parts.join(""), pages: [], sections: this.#sections.finish(warnings), rows: [], warnings };
  }

  #after(token: string): Expected {
    const inObject = this.#open.at(-1) === "{";
    if (token === ",") {
      this.#put(",");
      return inObject ? "key" : "item";
    }
    if (token !== (inObject ? "}" : "]"))
      throw this.#tokens.wrong(`a comma or ${inObject ? "}" : "]"} is missing before this`);
    this.#indent(this.#open.length - 1);
    return this.#close(token);
  }

  #close(token: string): Expected {
    this.#open.pop();
    this.#put(token);
    return "after";
  }

  #key(token: string): Expected {
    if (!token.startsWith('"')) throw this.#tokens.wrong("expected a key in double quotes");
    const key = unescaped(token);
    this.#indent(this.#open.length);
    if (this.#pretty && this.#open.length === 1)
      this.#sections.add(this.#length, [headingText(JSON.parse(token) as string)]);
    if (this.#tokens.next() !== ":") throw this.#tokens.wrong("expected a colon");
    this.#put(this.#pretty ? `${key}: ` : `${key}:`);
    return "value";
  }

  #value(token: string, expected: Expected): Expected {
    if (token === "," || token === ":" || token === "]" || token === "}") throw this.#tokens.wrong("expected a value");
    if (expected !== "value") {
      this.#indent(this.#open.length);
      if (this.#pretty && this.#open.length === 1) this.#sections.add(this.#length, [`[${this.#topItems}]`]);
      if (this.#open.length === 1) this.#topItems += 1;
    }
    this.#put(unescaped(token));
    if (token !== "[" && token !== "{") return "after";
    this.#open.push(token);
    return token === "[" ? "firstItem" : "firstKey";
  }

  #indent(levels: number): void {
    if (this.#pretty) this.#put(`\n${"  ".repeat(Math.min(levels, parserLimits.jsonIndentLevelsMax))}`);
  }

  #put(part: string): void {
    this.#length += part.length;
    if (this.#length > parserLimits.textCharsMax) throw tooMuchText(parserLimits.textCharsMax);
    this.#parts.push(part);
  }
}

/** Letters written as \u00e9 become letters, so that they are found; required escapes stay. */
function unescaped(token: string): string {
  return token.includes("\\") ? JSON.stringify(JSON.parse(token)).replaceAll(String.raw`\u0000`, "") : token;
}
