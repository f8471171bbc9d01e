/** A strict JSON tokenizer that reports the position of errors. Loops only, so neither depth nor length can exhaust the stack. */
import { invalid } from "../../../domain/errors.ts";

const word = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null|[[\]{},:]/y;

export class JsonTokens {
  readonly #source: string;
  #at = 0;
  #begin = 0;

  constructor(source: string) {
    this.#source = source;
  }

  next(): string {
    this.skipBlank();
    this.#begin = this.#at;
    if (this.#source[this.#at] === '"') this.#at = this.#stringEnd();
    else {
      word.lastIndex = this.#at;
      if (!word.test(this.#source))
        throw this.wrong(this.#at >= this.#source.length ? "it ends too early" : "invalid JSON value");
      this.#at = word.lastIndex;
    }
    return this.#source.slice(this.#begin, this.#at);
  }

  /** Advances to the next token, or the end; returns whether a line ended on the way. */
  skipBlank(): { readonly newline: boolean; readonly end: boolean } {
    let newline = false;
    for (; this.#at < this.#source.length; this.#at += 1) {
      const char = this.#source[this.#at];
      if (char === "\n") newline = true;
      else if (char !== " " && char !== "\t" && char !== "\r") break;
    }
    this.#begin = this.#at;
    return { newline, end: this.#at === this.#source.length };
  }

  /** An error at the position of the last token. */
  wrong(what: string): Error {
    const before = this.#source.slice(0, this.#begin);
    const line = before.split("\n").length;
    const column = this.#begin - before.lastIndexOf("\n");
    const found = this.#source.slice(this.#begin, this.#begin + 20).split("\n")[0];
    const near = found === undefined || found === "" ? "" : ` near ${JSON.stringify(found)}`;
    return invalid(
      `The file is not valid JSON: line ${line}, column ${column}${near}: ${what}. Correct it, or upload the file as .txt.`,
    );
  }

  #stringEnd(): number {
    for (let at = this.#at + 1; at < this.#source.length; at += 1) {
      const code = this.#source.charCodeAt(at);
      if (code === 0x22) return at + 1;
      if (code < 0x20) break;
      if (code !== 0x5c) continue;
      at += 1;
      if (this.#source[at] === "u" && /^[0-9a-fA-F]{4}$/.test(this.#source.slice(at + 1, at + 5))) at += 4;
      else if (!'"\\/bfnrt'.includes(this.#source[at] ?? "x"))
        throw this.wrong("this string contains an invalid escape");
    }
    throw this.wrong("this string is not closed on its line");
  }
}
