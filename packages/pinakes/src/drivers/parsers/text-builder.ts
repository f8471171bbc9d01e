/**
 * Builds the text of a document whose lines we make ourselves (pdf, docx, html, rtf, xml).
 *
 * Invariants: no line ends in spaces; never more than two blank lines in a row; the text begins and ends with something visible. Written
 * text never moves, so a position given to a mark stays right.
 */
import { invalid } from "../../domain/errors.ts";
import { parserLimits } from "./limits.ts";

const newlinesMax = 3;

export class TextBuilder {
  readonly #parts: string[] = [];
  readonly #charsMax: number;
  #length = 0;
  /** Spaces and line ends wait here until visible text follows. */
  #spaces = "";
  #newlines = 0;
  #marks: ((start: number) => void)[] = [];

  constructor(charsMax: number = parserLimits.textCharsMax) {
    this.#charsMax = charsMax;
  }

  get length(): number {
    return this.#length;
  }

  /** Nothing visible on this line yet. */
  get atLineStart(): boolean {
    return this.#length === 0 || this.#newlines > 0;
  }

  /** Called with the position of the next visible text. */
  mark(told: (start: number) => void): void {
    this.#marks.push(told);
  }

  /** Verbatim: spaces and line ends inside are kept. */
  write(text: string): void {
    const lines = visible(text).split("\n");
    for (const [i, line] of lines.entries()) {
      if (i > 0) this.newline();
      this.#append(line);
    }
  }

  /** As running text: white space collapses to one space, and none begins a line. */
  flow(text: string): void {
    const collapsed = visible(text).replaceAll(/[ \t\n\r\f]+/g, " ");
    const joins = this.#spaces !== "" || this.atLineStart;
    this.#append(joins && collapsed.startsWith(" ") ? collapsed.slice(1) : collapsed);
  }

  space(): void {
    if (this.#spaces === "" && !this.atLineStart) this.#spaces = " ";
  }

  /** Between two cells of a row. */
  separateCells(): void {
    this.#spaces = "";
    this.write(this.atLineStart ? "| " : " | ");
  }

  newline(): void {
    this.#newlines += 1;
    this.#spaces = "";
  }

  /** At least this many line ends before the next text: 1 for a new line, 2 for a blank line between. */
  breakLine(newlines: number): void {
    this.#newlines = Math.max(this.#newlines, newlines);
    this.#spaces = "";
  }

  finish(): string {
    return this.#parts.join("");
  }

  #append(line: string): void {
    const body = line.trim();
    if (body === "") {
      this.#spaces += line;
      return;
    }
    const begin = line.indexOf(body);
    const before = this.#length === 0 ? "" : "\n".repeat(Math.min(this.#newlines, newlinesMax));
    const lead = before + this.#spaces + line.slice(0, begin);
    const start = this.#length + lead.length;
    this.#length = start + body.length;
    if (this.#length > this.#charsMax) throw tooMuchText(this.#charsMax);
    this.#parts.push(lead, body);
    this.#newlines = 0;
    this.#spaces = line.slice(begin + body.length);
    if (this.#marks.length === 0) return;
    const marks = this.#marks;
    this.#marks = [];
    for (const told of marks) told(start);
  }
}

export function tooMuchText(charsMax: number): Error {
  return invalid(
    `The file contains more than ${charsMax.toLocaleString("en-US")} characters of text; split it into several files.`,
  );
}

/** Invisible characters that databases reject: control characters, except white space and those of Latin-1. */
const unseen = /[\p{Cc}--[\t\n\f\r\u0080-\u009f]]/gv;

function visible(text: string): string {
  return text
    .replaceAll("\r\n", "\n")
    .replaceAll(/[\r\u2028\u2029\u0085]/g, "\n")
    .replaceAll(unseen, "");
}
