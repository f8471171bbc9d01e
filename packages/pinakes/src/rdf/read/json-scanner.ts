/**
 * Splits a JSON document into parts as it arrives: the elements of the outermost array, or the members of the outermost object, where the
 * elements of some members' arrays are parts as well. It implements the full JSON grammar, so a part can always be parsed, and errors have
 * a line. Invariant: at most one part is in memory.
 */
import { invalid, show } from "../../domain/errors.ts";

export interface JsonPart {
  readonly kind: "element" | "member";
  /** Key in the outermost object; "" in an array. */
  readonly key: string;
  readonly text: string;
  readonly line: number;
}

export interface JsonScannerOptions {
  /** Members of the outermost object whose elements are separate parts. */
  readonly streamed: ReadonlySet<string>;
  readonly nestingLevelsMax: number;
  readonly stringCharsMax: number;
  readonly partCharsMax: number;
}

type Expected = "value" | "value or ]" | "key" | "key or }" | ":" | ", or end" | "end";

const wordPattern = /^(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)$/;
const wordCharacter = /[0-9A-Za-z+.-]/;

export class JsonScanner {
  /** Line of the current character, from 1. */
  line = 1;
  private readonly options: JsonScannerOptions;
  private readonly stack: ("{" | "[")[] = [];
  private expected: Expected = "value";
  private string: string | undefined;
  private word = "";
  private key = "";
  /** Levels around the current part: 1, or 2 inside a streamed member. */
  private partDepth = 1;
  private part: { text: string; readonly line: number } | undefined;
  private parts: JsonPart[] = [];

  constructor(options: JsonScannerOptions) {
    this.options = options;
  }

  /** The parts that are complete after this text. */
  write(text: string): readonly JsonPart[] {
    let from = 0;
    for (let at = 0; at < text.length;) {
      if (this.string !== undefined) {
        at = this.inString(text, at);
        if (this.string === undefined) from = this.ended(text, from, at);
        continue;
      }
      const character = text[at] as string;
      if (this.word !== "") {
        if (wordCharacter.test(character)) {
          this.addToWord(character);
          at++;
          continue;
        }
        this.endWord();
        from = this.ended(text, from, at);
      }
      if (character === "\n") this.line++;
      else if (character !== " " && character !== "\t" && character !== "\r") {
        from = this.structure(text, from, at, character);
      }
      at++;
    }
    if (this.part !== undefined) this.grow(text.slice(from));
    const { parts } = this;
    this.parts = [];
    return parts;
  }

  end(): void {
    if (this.word !== "" && this.stack.length === 0) this.endWord();
    if (this.expected !== "end" || this.string !== undefined)
      throw invalid("The JSON ends before it is complete; send all of it.");
  }

  private structure(text: string, from: number, at: number, character: string): number {
    switch (character) {
      case "{":
      case "[":
        from = this.begin(from, at, character);
        this.open(character);
        return from;
      case "}":
      case "]":
        this.close(character);
        return this.ended(text, from, at + 1);
      case ":":
        this.need(":", character);
        this.expected = "value";
        return from;
      case ",":
        this.need(", or end", character);
        this.expected = this.stack.at(-1) === "{" ? "key" : "value";
        return from;
      case '"':
        if (this.expected !== "key" && this.expected !== "key or }") from = this.begin(from, at, character);
        this.string = '"';
        return from;
      default:
        from = this.begin(from, at, character);
        if (!wordCharacter.test(character)) throw unexpected(character, this.expected);
        this.word = character;
        return from;
    }
  }

  /** Start of a value: of a part, or inside one. */
  private begin(from: number, at: number, character: string): number {
    if (this.expected !== "value" && this.expected !== "value or ]") throw unexpected(character, this.expected);
    if (this.stack.length === 0 && character !== "{" && character !== "[")
      throw invalid("The JSON must be an object or an array.");
    const streams =
      character === "[" && this.stack.length === 1 && this.stack[0] === "{" && this.options.streamed.has(this.key);
    if (streams) this.partDepth = 2;
    if (this.part !== undefined || this.stack.length !== this.partDepth) return from;
    this.part = { text: "", line: this.line };
    return at;
  }

  private open(bracket: "{" | "["): void {
    if (this.stack.length >= this.options.nestingLevelsMax)
      throw invalid(`More than ${this.options.nestingLevelsMax} levels are nested here; reduce the nesting.`);
    this.stack.push(bracket);
    this.expected = bracket === "{" ? "key or }" : "value or ]";
  }

  private close(bracket: "}" | "]"): void {
    const empty = bracket === "}" ? "key or }" : "value or ]";
    const opened = this.stack.at(-1);
    if ((this.expected !== ", or end" && this.expected !== empty) || opened !== (bracket === "}" ? "{" : "["))
      throw unexpected(bracket, this.expected);
    this.stack.pop();
    this.expected = this.stack.length === 0 ? "end" : ", or end";
  }

  /** A value has ended before `at`; if it is a part, it is emitted. Returns where the text of the next part can start. */
  private ended(text: string, from: number, at: number): number {
    if (this.expected === ":") return from;
    if (this.part === undefined) {
      // The array of a streamed member ends: its elements were the parts.
      if (this.partDepth === 2 && this.stack.length === 1) this.partDepth = 1;
      return from;
    }
    if (this.stack.length !== this.partDepth) return from;
    this.grow(text.slice(from, at));
    const kind = this.partDepth === 2 || this.stack[0] === "[" ? "element" : "member";
    this.parts.push({ kind, key: this.key, text: this.part.text, line: this.part.line });
    this.part = undefined;
    return at;
  }

  private grow(text: string): void {
    if (this.part === undefined) return;
    this.part.text += text;
    if (this.part.text.length > this.options.partCharsMax)
      throw invalid(`One node here is longer than ${this.options.partCharsMax} characters; split it into several.`);
  }

  /** Skips to the end of the string, or of the text. */
  private inString(text: string, start: number): number {
    let at = start;
    for (; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (code === 0x22 && !this.escaped(text, start, at)) break;
      if (code < 0x20)
        throw invalid(
          "A string is not closed in its line, or contains a control character; write it as an escape (\\n).",
        );
    }
    this.string += text.slice(start, at);
    if ((this.string as string).length > this.options.stringCharsMax)
      throw invalid(
        `A string here does not end within ${this.options.stringCharsMax} characters: a quote may be missing, or it is too long.`,
      );
    if (at === text.length) return at;
    this.endString(`${this.string}"`);
    return at + 1;
  }

  /** Whether an odd number of backslashes precedes a quote, even across two pieces of text. */
  private escaped(text: string, start: number, at: number): boolean {
    let count = 0;
    let before = at - 1;
    while (before >= start && text[before] === "\\") {
      count++;
      before--;
    }
    if (before < start) {
      const held = this.string as string;
      for (let back = held.length - 1; back > 0 && held[back] === "\\"; back--) count++;
    }
    return count % 2 === 1;
  }

  private endString(raw: string): void {
    this.string = undefined;
    const isKey = this.expected === "key" || this.expected === "key or }";
    const value = unescape(raw);
    if (isKey && this.stack.length === 1) this.key = value;
    this.expected = isKey ? ":" : ", or end";
  }

  private addToWord(character: string): void {
    this.word += character;
    if (this.word.length > this.options.stringCharsMax) throw invalid("A number here is too long.");
  }

  private endWord(): void {
    const { word } = this;
    this.word = "";
    if (!wordPattern.test(word)) throw invalid(`${show(word)} is not valid JSON; strings must be in quotes.`);
    this.expected = ", or end";
  }

  private need(expected: Expected, character: string): void {
    if (this.expected !== expected) throw unexpected(character, this.expected);
  }
}

function unescape(raw: string): string {
  if (!raw.includes("\\")) return raw.slice(1, -1);
  let value: string;
  try {
    value = JSON.parse(raw) as string;
  } catch (error) {
    throw invalid(`The string ${show(raw.slice(0, 60))} has an invalid escape.`, { cause: error });
  }
  if (!value.isWellFormed())
    throw invalid(`The string ${show(raw.slice(0, 60))} contains an unpaired surrogate; write the whole character.`);
  return value;
}

function unexpected(character: string, expected: Expected): Error {
  return invalid(
    `Unexpected ${show(character)} in the JSON, where ${expected === "end" ? "nothing more" : expected} was expected.`,
  );
}
