/**
 * Counts tokens by the words of the model's tokenizer. A cut between two words never changes the tokens of either, so counts add up.
 *
 * Invariants: atoms ascend and do not overlap; none takes more than `size` tokens, unless it is one code point; none begins or ends inside
 * a grapheme cluster that fits `size`. A word that is too long is cut, and its pieces are tokenized again.
 */
import type { Tokenizer } from "../../ports/embedder.ts";
import { characterStart, codePointStart, isSafeCut } from "./graphemes.ts";
import type { Pause } from "./pause.ts";
import type { Ruler } from "./ruler.ts";
import { countBelow, isBlank, type Span } from "./spans.ts";

/**
 * A token covers at most this many characters. Some tokenizers return an overlong word as one "unknown" token, and all of them skip spaces:
 * without this, a base64 file or a million spaces would be one chunk.
 */
const tokenCharsMax = 32;
/** Input of the tokenizer per call; bounds its memory and the time between pauses. */
const blockChars = 262_144;

export async function tokenRuler(text: string, tokenizer: Tokenizer, size: number, pause: Pause): Promise<Ruler> {
  const atoms = new Atoms(text, tokenizer, size);
  for (let start = 0; start < text.length;) {
    const end = blockEnd(text, start, blockChars);
    const { starts, ends, tokens } = tokenizer.words(text.slice(start, end));
    for (let i = 0; i < starts.length; i += 1)
      atoms.add(start + (starts[i] ?? 0), start + (ends[i] ?? 0), tokens[i] ?? 0);
    start = end;
    await pause();
  }
  return atoms.finish();
}

/** End of a block of at most `units` characters that begins at `start`: after a blank, if there is one. */
export function blockEnd(text: string, start: number, units: number): number {
  if (start + units >= text.length) return text.length;
  for (let end = start + units; end > start; end -= 1) if (isBlank(text.charCodeAt(end - 1))) return end;
  const safe = characterStart(text, start + units, start);
  return safe > start ? safe : codePointStart(text, start + units);
}

class Atoms {
  readonly #text: string;
  readonly #tokenizer: Tokenizer;
  readonly #size: number;
  #starts = new Uint32Array(1024);
  #ends = new Uint32Array(1024);
  /** Tokens of all atoms before this one. */
  #sums = new Uint32Array(1025);
  #count = 0;
  #last: (Span & { readonly cost: number }) | undefined;

  constructor(text: string, tokenizer: Tokenizer, size: number) {
    this.#text = text;
    this.#tokenizer = tokenizer;
    this.#size = size;
  }

  add(start: number, end: number, tokens: number): void {
    if (end <= start) return;
    const cost = Math.max(tokens, Math.ceil((end - start) / tokenCharsMax));
    const last = this.#last;
    if (last !== undefined && last.end === start && !isSafeCut(this.#text, start, last.start)) {
      // The tokenizer cuts inside a grapheme cluster; join the pieces.
      this.#last = { start: last.start, end, cost: last.cost + cost };
      return;
    }
    this.#flush();
    this.#addGap(last?.end ?? 0, start);
    this.#last = { start, end, cost };
  }

  finish(): Ruler {
    const end = this.#last?.end ?? 0;
    this.#flush();
    this.#addGap(end, this.#text.length);
    return ruler(
      this.#text,
      this.#starts.subarray(0, this.#count),
      this.#ends.subarray(0, this.#count),
      this.#sums.subarray(0, this.#count + 1),
    );
  }

  #flush(): void {
    const last = this.#last;
    this.#last = undefined;
    if (last === undefined) return;
    if (last.cost <= this.#size) this.#push(last.start, last.end, last.cost);
    else this.#split(last);
  }

  /** Text that the tokenizer skips is free, up to a limit. */
  #addGap(start: number, end: number): void {
    for (let at = start; end - at > tokenCharsMax;) {
      const next = codePointStart(this.#text, at + tokenCharsMax);
      this.#push(at, next, 1);
      at = next;
    }
  }

  /** The longest pieces that fit, each tokenized alone: the tokens of part of a word cannot be derived from those of the word. */
  #split(word: Span & { readonly cost: number }): void {
    const guess = Math.max(1, Math.floor(((word.end - word.start) * this.#size) / word.cost));
    for (let start = word.start; start < word.end;) {
      let units = Math.min(guess, word.end - start);
      for (;;) {
        const end = this.#pieceEnd(start, start + units);
        const cost = this.#countTokens(start, end);
        if (cost <= this.#size || units === 1) {
          this.#push(start, end, cost);
          start = end;
          break;
        }
        units = Math.max(1, Math.floor(units * 0.75));
      }
    }
  }

  #pieceEnd(start: number, end: number): number {
    const safe = characterStart(this.#text, end, start);
    if (safe > start) return safe;
    const point = codePointStart(this.#text, end);
    return point > start ? point : Math.min(end + 1, this.#text.length);
  }

  #countTokens(start: number, end: number): number {
    const tokens = this.#tokenizer.words(this.#text.slice(start, end)).tokens.reduce((sum, n) => sum + n, 0);
    return Math.max(tokens, Math.ceil((end - start) / tokenCharsMax));
  }

  #push(start: number, end: number, cost: number): void {
    if (this.#count === this.#starts.length) {
      this.#starts = grown(this.#starts, this.#count * 2);
      this.#ends = grown(this.#ends, this.#count * 2);
      this.#sums = grown(this.#sums, this.#count * 2 + 1);
    }
    this.#starts[this.#count] = start;
    this.#ends[this.#count] = end;
    this.#sums[this.#count + 1] = (this.#sums[this.#count] ?? 0) + cost;
    this.#count += 1;
  }
}

function grown(numbers: Uint32Array, length: number): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(length);
  larger.set(numbers);
  return larger;
}

function ruler(text: string, starts: Uint32Array, ends: Uint32Array, sums: Uint32Array): Ruler {
  const sum = (i: number) => sums[i] ?? 0;
  /** The first atom that ends after `position`. */
  const atomFrom = (position: number) => {
    const i = countBelow(starts, position);
    return i > 0 && (ends[i - 1] ?? 0) > position ? i - 1 : i;
  };
  return {
    cost: (start, end) => sum(countBelow(starts, end)) - sum(atomFrom(start)),
    reach(start, budget) {
      const i = countBelow(sums, sum(atomFrom(start)) + budget + 1) - 1;
      return starts[i] ?? text.length;
    },
    reachBack(end, budget) {
      const after = countBelow(starts, end);
      const first = countBelow(sums, sum(after) - budget);
      return first >= after ? end : (starts[first] ?? end);
    },
    allows: (position) => (ends[countBelow(starts, position) - 1] ?? 0) <= position,
  };
}
