/**
 * The words of a text and how many tokens of the local model each has.
 *
 * Words are separated by white space; every CJK ideograph is a word of its own, and a long run (a line of base64, minified code) is split
 * at its punctuation, so that a chunk can always break somewhere.
 *
 * Invariant: the counts of the words add up to what the model's own tokenizer counts for the whole text. This holds because splits are made
 * only where that tokenizer splits as well, whatever is on either side. Words of ASCII letters and digits, nearly all of them, are counted
 * here with a cache; everything else goes to the real tokenizer.
 */
import { Tokenizer as RealTokenizer } from "@huggingface/tokenizers";
import { PinakesError } from "../../../domain/errors.ts";
import type { Tokenizer, TokenWords } from "../../../ports/embedder.ts";
import { modelFolder, readTokenizerFiles, type TokenizerFiles } from "./model-folder.ts";

/** About 10 MB of words and counts. Beyond that the cache is cleared. */
const memoWordsMax = 131_072;
const memoWordCharsMax = 64;
/** A longer run is split at its punctuation. */
const runCharsMax = 64;
const arrayWordsMin = 16;

/** Loads the vocabulary, 30 ms; nothing is loaded before the first call. */
export async function openLocalTokenizer(dir?: string): Promise<Tokenizer> {
  const files = await readTokenizerFiles(modelFolder(dir));
  return new WordTokenizer(realTokenizer(files));
}

/** Only BERT tokenizers: the rules above about splits apply to them. */
export function realTokenizer({ tokenizer, config }: TokenizerFiles): RealTokenizer {
  const {
    model,
    normalizer,
    pre_tokenizer: cutter,
  } = tokenizer as Readonly<Record<string, Readonly<Record<string, unknown>> | null | undefined>>;
  const cleans =
    normalizer?.["type"] === "BertNormalizer" &&
    normalizer["clean_text"] === true &&
    normalizer["handle_chinese_chars"] === true;
  if (!cleans || cutter?.["type"] !== "BertPreTokenizer" || (model?.["type"] ?? "WordPiece") !== "WordPiece") {
    throw new PinakesError(
      "NOT_SUPPORTED",
      "The tokenizer of this model is not of BERT's kind (WordPiece). Run the model with Ollama or another server and use the provider ollama or openai.",
    );
  }
  return new RealTokenizer(tokenizer, config);
}

export class WordTokenizer implements Tokenizer {
  readonly #real: RealTokenizer;
  readonly #memo = new Map<string, number>();
  /** Literal special tokens such as "[SEP]" in a text; each is one token, and splits its surroundings. */
  readonly #marks: RegExp;

  constructor(real: RealTokenizer) {
    this.#real = real;
    const marks = [...real.get_added_tokens_decoder().values()].map(({ content }) =>
      content.replaceAll(/[^\w]/g, String.raw`\$&`),
    );
    this.#marks = new RegExp(`(${marks.join("|")})`);
  }

  words(text: string): TokenWords {
    const words = new WordList(Math.max(arrayWordsMin, text.length >> 2));
    this.#scan(text, words);
    return words.done();
  }

  #scan(text: string, words: WordList): void {
    let at = 0;
    while (at < text.length) {
      let code = text.charCodeAt(at);
      if (isSpace(code)) {
        at += 1;
        continue;
      }
      if (isIdeograph(code)) {
        words.push(at, at + 1, this.#count(text.slice(at, at + 1)));
        at += 1;
        continue;
      }
      const start = at;
      let plain = true;
      while (at < text.length) {
        code = text.charCodeAt(at);
        if (isSpace(code) || isIdeograph(code)) break;
        // Control characters vanish and "[" may begin a special token: both are for the real tokenizer.
        if (code >= 0x7f || code < 0x20 || code === 0x5b) plain = false;
        at += 1;
      }
      if (at - start > runCharsMax) this.#pushLong(text, start, at, words);
      else words.push(start, at, plain ? this.#countPlain(text, start, at) : this.#count(text.slice(start, at)));
    }
  }

  /** Printable ASCII: runs of letters and digits are looked up, and every other character is one token. */
  #countPlain(text: string, start: number, end: number): number {
    let tokens = 0;
    let begin = start;
    for (let i = start; i < end; i += 1) {
      if (isAlphanumeric(text.charCodeAt(i))) continue;
      if (i > begin) tokens += this.#count(text.slice(begin, i));
      tokens += 1;
      begin = i + 1;
    }
    return end > begin ? tokens + this.#count(text.slice(begin, end)) : tokens;
  }

  #pushLong(text: string, start: number, end: number, words: WordList): void {
    let at = start;
    for (const section of text.slice(start, end).split(this.#marks)) {
      // A capital sigma is lowered depending on what follows, even behind a full stop: such a section stays whole.
      const pieces = this.#marks.test(section) || section.includes("Σ") ? [section] : section.split(punctuation);
      for (const piece of pieces) {
        if (piece.length > 0) words.push(at, at + piece.length, this.#count(piece));
        at += piece.length;
      }
    }
  }

  #count(word: string): number {
    const known = this.#memo.get(word);
    if (known !== undefined) return known;
    const tokens = this.#real.tokenize(word).length;
    if (word.length > memoWordCharsMax) return tokens;
    if (this.#memo.size >= memoWordsMax) this.#memo.clear();
    // A copy: a slice would keep the whole source text in memory.
    this.#memo.set(Buffer.from(word, "utf16le").toString("utf16le"), tokens);
    return tokens;
  }
}

/** Between any two characters of which one is punctuation, as in the model's tokenizer. */
const punctuation = /(?<=[\p{P}!-/:-@[-`{-~])|(?=[\p{P}!-/:-@[-`{-~])/u;

class WordList {
  #count = 0;
  #starts: Uint32Array;
  #ends: Uint32Array;
  #tokens: Uint32Array;

  constructor(words: number) {
    this.#starts = new Uint32Array(words);
    this.#ends = new Uint32Array(words);
    this.#tokens = new Uint32Array(words);
  }

  /** Characters that the model ignores, such as a lone zero-width space, are not words. */
  push(start: number, end: number, tokens: number): void {
    if (tokens === 0) return;
    if (this.#count === this.#starts.length) this.#grow();
    this.#starts[this.#count] = start;
    this.#ends[this.#count] = end;
    this.#tokens[this.#count] = tokens;
    this.#count += 1;
  }

  done(): TokenWords {
    return {
      starts: this.#starts.slice(0, this.#count),
      ends: this.#ends.slice(0, this.#count),
      tokens: this.#tokens.slice(0, this.#count),
    };
  }

  #grow(): void {
    const words = this.#count * 2;
    this.#starts = grown(this.#starts, words);
    this.#ends = grown(this.#ends, words);
    this.#tokens = grown(this.#tokens, words);
  }
}

function grown(array: Uint32Array, length: number): Uint32Array {
  const larger = new Uint32Array(length);
  larger.set(array);
  return larger;
}

/** What the model treats as a space. Form feeds and byte-order marks are not: they vanish, and join their surroundings. */
function isSpace(code: number): boolean {
  if (code < 0x80) return code === 0x20 || code === 0x0a || code === 0x09 || code === 0x0d;
  if (code < 0x1680) return code === 0xa0;
  if (code > 0x3000) return false;
  return (code >= 0x2000 && code <= 0x200a) || [0x1680, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000].includes(code);
}

/** The ideographs that the model's tokenizer puts spaces around. It does not recognise those beyond U+FFFF. */
function isIdeograph(code: number): boolean {
  return code >= 0x3400 && ((code >= 0x4e00 && code <= 0x9fff) || code <= 0x4dbf || (code >= 0xf900 && code <= 0xfaff));
}

function isAlphanumeric(code: number): boolean {
  return (code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a) || (code >= 0x30 && code <= 0x39);
}
