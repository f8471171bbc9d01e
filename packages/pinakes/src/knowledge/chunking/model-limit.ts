/**
 * The input limit of the embedding model bounds every chunk: its text together with the context that is embedded with it (headings, a
 * table's header). The strategy determines where a text is split, the model how large a chunk may be.
 *
 * Context takes at most a quarter of the limit; the text gets what the longest context of the document leaves.
 */
import type { ChunkingStrategy } from "../../domain/chunking.ts";
import type { Tokenizer } from "../../ports/embedder.ts";
import type { ParsedText } from "../../ports/parser.ts";
import { characterStart } from "./graphemes.ts";
import type { Ruler } from "./ruler.ts";
import { isBlank, skipBlank, trimEnd, type Span } from "./spans.ts";
import { chunkingLimits } from "./strategy.ts";
import { headingsOf, tableHeader } from "./surroundings.ts";

/** No tokenizer makes more tokens of one UTF-16 code unit: sizes below the limit at this rate need no counting. */
const tokensPerCharMax = 4;
const contextShare = 1 / 4;
/** For English text; used only for warnings. */
const charsPerToken = 4;

export interface ModelLimit {
  /** Maximum tokens of a chunk's text. */
  readonly textTokensMax: number;
  /** Shortens a context to its share. */
  readonly fit: (context: string) => string;
  readonly count: (text: string) => number;
}

/** Undefined: no chunk of this strategy can exceed the model's limit. */
export function modelLimit(
  parsed: ParsedText,
  strategy: ChunkingStrategy,
  tokenizer: Tokenizer,
  tokensMax: number,
): ModelLimit | undefined {
  const { type, unit, chunk_size } = strategy;
  const charsMax = type === "NONE" ? parsed.text.length : unit === "char" ? chunk_size : Infinity;
  const around = [tableHeader(parsed), ...headingsOf(parsed)].filter((context) => context !== "");
  const longest = around.reduce((most, { length }) => Math.max(most, length), 0);
  if ((charsMax + longest) * tokensPerCharMax <= tokensMax) return undefined;
  const count = (text: string): number => tokenizer.words(text).tokens.reduce((sum, tokens) => sum + tokens, 0);
  const contextTokensMax = Math.floor(tokensMax * contextShare);
  const fit = (context: string): string => beginning(context, tokenizer, contextTokensMax);
  let contextTokens = 0;
  for (const context of around) {
    // A context that cannot take more than a longer one already did needs no counting.
    if (contextTokens >= contextTokensMax) break;
    if (context.length * tokensPerCharMax > contextTokens) contextTokens = Math.max(contextTokens, count(fit(context)));
  }
  return { textTokensMax: Math.max(1, tokensMax - contextTokens), fit, count };
}

/** Sizes in the unit of `ruler`, and never more than `tokensMax` tokens. */
export function boundedRuler(ruler: Ruler, tokens: Ruler, tokensMax: number): Ruler {
  const overlapMax = Math.floor(tokensMax / 2);
  return {
    cost: (start, end) => (tokens.cost(start, end) > tokensMax ? Infinity : ruler.cost(start, end)),
    reach: (start, budget) => Math.min(ruler.reach(start, budget), tokens.reach(start, tokensMax)),
    reachBack: (end, budget) => Math.max(ruler.reachBack(end, budget), tokens.reachBack(end, overlapMax)),
    allows: (position) => tokens.allows(position),
  };
}

/**
 * The span itself if its text is within the limit; else its halves. Part of a word may take more tokens than the word, so text cut inside a
 * word is counted again.
 */
export function* within(text: string, span: Span, limit: ModelLimit): Generator<Span> {
  const { start, end } = span;
  const middle = cutNear(text, start, end);
  if (limit.count(text.slice(start, end)) <= limit.textTokensMax || middle <= start || middle >= end) return yield span;
  yield* within(text, { start, end: trimEnd(text, start, middle) }, limit);
  yield* within(text, { start: skipBlank(text, middle, end), end }, limit);
}

/** After the last blank before the middle, else between two grapheme clusters. */
function cutNear(text: string, start: number, end: number): number {
  const middle = (start + end) >> 1;
  for (let at = middle; at > start; at -= 1) if (isBlank(text.charCodeAt(at - 1))) return at;
  return characterStart(text, middle, start) > start
    ? characterStart(text, middle, start)
    : start + String.fromCodePoint(text.codePointAt(start) ?? 0).length;
}

function beginning(context: string, tokenizer: Tokenizer, tokensMax: number): string {
  const { ends, tokens } = tokenizer.words(context);
  let sum = 0;
  for (let i = 0; i < tokens.length; i += 1) {
    sum += tokens[i] ?? 0;
    if (sum > tokensMax) return context.slice(0, i === 0 ? 0 : ends[i - 1]);
  }
  return context;
}

/** The strategy that a model can carry out: sizes in tokens above its limit are clamped to it, overlaps in proportion. */
export function clampedStrategy(strategy: ChunkingStrategy, tokensMax: number): ChunkingStrategy {
  if (strategy.unit !== "token" || strategy.chunk_size <= tokensMax) return strategy;
  const chunk_size = Math.max(chunkingLimits.sizeTokensMin, tokensMax);
  return {
    ...strategy,
    chunk_size,
    chunk_overlap: Math.floor((strategy.chunk_overlap * chunk_size) / strategy.chunk_size),
  };
}

/** A warning if the strategy and the model do not fit; undefined if they do. */
export function limitWarning(
  strategy: ChunkingStrategy,
  model: { readonly id: string; readonly tokensMax: number },
): string | undefined {
  const { type, unit, chunk_size } = strategy;
  const reads = `the model ${model.id} reads at most ${model.tokensMax} tokens at once`;
  if (unit === "token" && type !== "NONE" && chunk_size > model.tokensMax)
    return `chunking_strategy.chunk_size: ${chunk_size} tokens, but ${reads}. Documents are cut into chunks of at most ${model.tokensMax} tokens.`;
  if (unit === "char" && type !== "NONE" && chunk_size > model.tokensMax * charsPerToken)
    return `chunking_strategy.chunk_size: ${chunk_size} characters usually exceed ${model.tokensMax} tokens, and ${reads}. Chunks that exceed it are cut shorter.`;
  return undefined;
}
