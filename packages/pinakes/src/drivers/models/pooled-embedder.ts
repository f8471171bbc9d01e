/**
 * An embedder for texts of any length, over one that reads `tokensMax` tokens. A longer text is embedded window by window; its vector is
 * the mean of the windows' vectors, weighted by tokens. So every part of a text counts: two texts that differ anywhere that the tokenizer
 * can see have different vectors. The vector of a text that fits is the model's own.
 */
import { setImmediate as tick } from "node:timers/promises";
import { PinakesError } from "../../domain/errors.ts";
import type { Embedder, EmbedOptions, Tokenizer } from "../../ports/embedder.ts";
import { normalize } from "./normalize.ts";

/** A longer text is rejected: half an hour of one core with the local model. */
const windowsMax = 4_096;
/** No known tokenizer produces more tokens per UTF-16 code unit: most are bytes at the finest, and decompositions. */
const tokensPerCharMax = 4;
/** Windows in one call of the embedder below. */
const callWindowsMax = 1_024;
/** Counting yields after this many characters. */
const pauseChars = 262_144;

export function pooledEmbedder(embedder: Embedder): Embedder {
  return new PooledEmbedder(embedder);
}

class PooledEmbedder implements Embedder {
  readonly #embedder: Embedder;

  constructor(embedder: Embedder) {
    this.#embedder = embedder;
  }

  get model(): Embedder["model"] {
    return this.#embedder.model;
  }

  tokenizer(): Promise<Tokenizer> {
    return this.#embedder.tokenizer();
  }

  async embed(texts: readonly string[], options: EmbedOptions = {}): Promise<readonly Float32Array[]> {
    options.signal?.throwIfAborted();
    const { tokensMax } = this.model;
    if (texts.every(({ length }) => length * tokensPerCharMax <= tokensMax))
      return this.#embedder.embed(texts, options);
    const windows = await this.#windows(texts, options.signal);
    if (windows.every(({ length }) => length === 1)) return this.#embedder.embed(texts, options);
    const vectors = await this.#embedAll(
      windows.flat().map(({ text }) => text),
      options,
    );
    let at = 0;
    return windows.map((own) => {
      const first = at;
      at += own.length;
      return own.length === 1 ? (vectors[first] as Float32Array) : this.#mean(own, vectors.slice(first, at));
    });
  }

  close(): Promise<void> {
    return this.#embedder.close();
  }

  async #windows(
    texts: readonly string[],
    signal: AbortSignal | undefined,
  ): Promise<readonly (readonly TextWindow[])[]> {
    const tokenizer = await this.tokenizer();
    const windows: (readonly TextWindow[])[] = [];
    let chars = 0;
    for (const [i, text] of texts.entries()) {
      const own = windowsOf(text, tokenizer, this.model.tokensMax);
      if (own.length > windowsMax)
        throw new PinakesError(
          "LIMIT_EXCEEDED",
          `Text ${i} is too long to be embedded: more than ${windowsMax * this.model.tokensMax} tokens. Split it into chunks.`,
        );
      windows.push(own);
      chars += text.length;
      if (chars < pauseChars) continue;
      chars = 0;
      await tick();
      signal?.throwIfAborted();
    }
    return windows;
  }

  async #embedAll(texts: readonly string[], options: EmbedOptions): Promise<readonly Float32Array[]> {
    const vectors: Float32Array[] = [];
    for (let at = 0; at < texts.length; at += callWindowsMax) {
      for (const vector of await this.#embedder.embed(texts.slice(at, at + callWindowsMax), options))
        vectors.push(vector);
    }
    return vectors;
  }

  #mean(windows: readonly TextWindow[], vectors: readonly Float32Array[]): Float32Array {
    const { dims, metric } = this.model;
    const mean = new Float64Array(dims);
    const total = windows.reduce((counted, { tokens }) => counted + tokens, 0);
    for (const [i, { tokens }] of windows.entries()) {
      for (let d = 0; d < dims; d += 1) mean[d] = (mean[d] as number) + ((vectors[i]?.[d] as number) * tokens) / total;
    }
    const vector = Float32Array.from(mean);
    return metric === "cosine" ? normalize(vector) : vector;
  }
}

/**
 * Splits a text into windows that a model can read. Windows contain whole words and are about equally long, so that none is tiny; a word
 * that alone exceeds the limit is halved until its pieces fit. Nothing but white space is left out.
 */
interface TextWindow {
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
