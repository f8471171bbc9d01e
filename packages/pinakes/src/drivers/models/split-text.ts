/**
 * Splits a text into windows that a model can read. Windows contain whole words and are about equally long, so that none is tiny; a word
 * that alone exceeds the limit is halved until its pieces fit. Nothing but white space is left out.
 */
import type { Tokenizer } from "../../ports/embedder.ts";

export interface TextWindow {
  readonly text: string;
  readonly tokens: number;
}

/** One window, the text itself, if it fits. */
export function windowsOf(text: string, tokenizer: Tokenizer, tokensMax: number): readonly TextWindow[] {
  const { starts, ends, tokens } = tokenizer.words(text);
  const total = sum(tokens);
  if (total <= tokensMax) return [{ text, tokens: total }];
  const target = Math.ceil(total / Math.ceil(total / tokensMax));
  const windows: TextWindow[] = [];
  let start = 0;
  let end = 0;
  let count = 0;
  const flush = (): void => {
    if (end > start) windows.push({ text: text.slice(start, end), tokens: count });
    count = 0;
  };
  for (let i = 0; i < starts.length; i += 1) {
    const [from, to, cost] = [starts[i] as number, ends[i] as number, tokens[i] as number];
    if (count > 0 && count + cost > target) {
      flush();
      start = from;
    }
    if (count === 0) start = from;
    end = to;
    count += cost;
    if (count <= tokensMax) continue;
    windows.push(...halves(text.slice(from, to), tokenizer, tokensMax));
    start = to;
    count = 0;
  }
  flush();
  return windows;
}

/** A single code point is not divided, whatever its tokens. */
function halves(word: string, tokenizer: Tokenizer, tokensMax: number): readonly TextWindow[] {
  const tokens = sum(tokenizer.words(word).tokens);
  const points = Array.from(word);
  if (tokens <= tokensMax || points.length < 2) return [{ text: word, tokens }];
  const middle = points.length >> 1;
  return [points.slice(0, middle), points.slice(middle)].flatMap((half) => halves(half.join(""), tokenizer, tokensMax));
}

function sum(numbers: Uint32Array): number {
  return numbers.reduce((total, number) => total + number, 0);
}
