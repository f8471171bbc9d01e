/**
 * Turns a parsed document into chunks. Every chunk is exactly `text.slice(start, end)`; together they hold every non-blank character; none
 * exceeds the strategy's size (NONE has none). Sizes count the text alone, without its context; but text and context together never exceed
 * what the model reads.
 */
import type { Chunk, ChunkingStrategy } from "../../domain/chunking.ts";
import type { Tokenizer } from "../../ports/embedder.ts";
import type { ParsedText } from "../../ports/parser.ts";
import { boundaryCutter } from "./boundaries.ts";
import { fixedCutter } from "./fixed.ts";
import { markdownSpans } from "./markdown.ts";
import { boundedRuler, modelLimit, type ModelLimit, within } from "./model-limit.ts";
import { type Cutting, pack } from "./pack.ts";
import { type Pause, pauses } from "./pause.ts";
import { recursiveCutter } from "./recursive.ts";
import { charRuler } from "./ruler.ts";
import { type EmbedTexts, semanticSpans } from "./semantic.ts";
import { sentenceStarts } from "./sentences.ts";
import { skipBlank, type Span, trimEnd } from "./spans.ts";
import { readChunkingStrategy, separatorsDefault, thresholdDefault } from "./strategy.ts";
import { surroundings } from "./surroundings.ts";
import { tokenRuler } from "./token-ruler.ts";

export interface ChunkingTools {
  /** Of the collection's embedding model. */
  readonly tokenizer: Tokenizer;
  /** Maximum input of that model. */
  readonly tokensMax: number;
  /** SEMANTIC embeds sentences with it, a few hundred at a time. */
  readonly embed?: EmbedTexts;
  readonly signal?: AbortSignal;
}

const pauseEveryChunks = 1_000;
/** Parts end between sentences, so they need a little more than an equal share. */
const partSlack = 1.15;

export async function chunkDocument(
  parsed: ParsedText,
  strategy: ChunkingStrategy,
  tools: ChunkingTools,
): Promise<readonly Chunk[]> {
  const checked = readChunkingStrategy(strategy);
  const pause = pauses(tools.signal);
  const limit = modelLimit(parsed, checked, tools.tokenizer, tools.tokensMax);
  const placeOf = surroundings(parsed, limit?.fit);
  const chunks: Chunk[] = [];
  await pause();
  for (const span of await pagedSpans(parsed, checked, { ...tools, limit }, pause)) {
    for (const { start, end } of limit === undefined ? [span] : within(parsed.text, span, limit)) {
      chunks.push({
        index: chunks.length,
        text: parsed.text.slice(start, end),
        start,
        end,
        ...placeOf({ start, end }),
      });
      if (chunks.length % pauseEveryChunks === 0) await pause();
    }
  }
  return chunks;
}

interface LimitedTools extends ChunkingTools {
  readonly limit: ModelLimit | undefined;
}

/** A chunk never crosses the end of a page, so the page that it names is correct. */
async function pagedSpans(
  parsed: ParsedText,
  strategy: ChunkingStrategy,
  tools: LimitedTools,
  pause: Pause,
): Promise<Iterable<Span>> {
  const { text, pages, sections } = parsed;
  if (pages.length < 2 || strategy.type === "NONE") return spansOf(parsed, strategy, tools, pause);
  const spans: Span[] = [];
  for (const [i, page] of pages.entries()) {
    const from = i === 0 ? 0 : page.start;
    const to = pages[i + 1]?.start ?? text.length;
    const inside = sections
      .filter(({ start }) => start >= from && start < to)
      .map(({ start, path }) => ({ start: start - from, path }));
    const own = await spansOf(
      { ...parsed, text: text.slice(from, to), pages: [], sections: inside },
      strategy,
      tools,
      pause,
    );
    for (const { start, end } of own) spans.push({ start: start + from, end: end + from });
  }
  return spans;
}

async function spansOf(
  parsed: ParsedText,
  strategy: ChunkingStrategy,
  tools: LimitedTools,
  pause: Pause,
): Promise<Iterable<Span>> {
  const { text } = parsed;
  const { type, unit, chunk_size: size, chunk_overlap: overlap } = strategy;
  const { limit, tokenizer } = tools;
  const room = limit?.textTokensMax ?? Infinity;
  if (type === "NONE") return wholeOrParts(parsed, limit, tools, pause);
  if (unit === "token") {
    const fitting = Math.min(size, room);
    const ruler = await tokenRuler(text, tokenizer, fitting, pause);
    return spansBy(
      { text, ruler, size: fitting, overlap: Math.min(overlap, Math.floor(fitting / 2)) },
      parsed,
      strategy,
      tools,
      pause,
    );
  }
  const cutting: Cutting = { text, ruler: charRuler(text), size, overlap };
  if (limit === undefined) return spansBy(cutting, parsed, strategy, tools, pause);
  const tokens = await tokenRuler(text, tokenizer, room, pause);
  // Most texts cut by characters fit the model and are done here. SEMANTIC would have to embed every sentence to find out.
  const spans = type === "SEMANTIC" ? undefined : [...(await spansBy(cutting, parsed, strategy, tools, pause))];
  if (spans?.every(({ start, end }) => tokens.cost(start, end) <= room)) return spans;
  return spansBy({ ...cutting, ruler: boundedRuler(cutting.ruler, tokens, room) }, parsed, strategy, tools, pause);
}

/** NONE: one chunk of the whole text, or the fewest parts of about equal length that the model can read. */
async function wholeOrParts(
  { text, rows }: ParsedText,
  limit: ModelLimit | undefined,
  { tokenizer }: ChunkingTools,
  pause: Pause,
): Promise<Iterable<Span>> {
  const whole = wholeText(text);
  if (limit === undefined) return whole;
  const ruler = await tokenRuler(text, tokenizer, limit.textTokensMax, pause);
  const total = ruler.cost(0, text.length);
  if (total <= limit.textTokensMax) return whole;
  const parts = Math.ceil(total / limit.textTokensMax);
  const size = Math.min(limit.textTokensMax, Math.ceil((total / parts) * partSlack));
  const cutting: Cutting = { text, ruler, size, overlap: 0 };
  return rows.length > 0 ? recordSpans(cutting, rows) : pack(cutting, recursiveCutter(cutting, separatorsDefault));
}

async function spansBy(
  cutting: Cutting,
  parsed: ParsedText,
  strategy: ChunkingStrategy,
  tools: LimitedTools,
  pause: Pause,
): Promise<Iterable<Span>> {
  const { text, rows, sections } = parsed;
  const { type, separators = separatorsDefault, threshold = thresholdDefault } = strategy;
  if (rows.length > 0) return recordSpans(cutting, rows);
  switch (type) {
    case "FIXED":
    case "TOKEN":
      return pack(cutting, fixedCutter(cutting));
    case "RECURSIVE":
      return pack(cutting, recursiveCutter(cutting, separators));
    case "SENTENCE":
      return pack(cutting, boundaryCutter(cutting, await sentenceStarts(text, pause)));
    case "MARKDOWN":
      return markdownSpans(cutting, sections, separators);
    case "NONE":
      return wholeText(text);
    case "SEMANTIC":
      return await semanticSpans(cutting, threshold, tools.embed, pause);
  }
}

function wholeText(text: string): readonly Span[] {
  const start = skipBlank(text, 0, text.length);
  const end = trimEnd(text, start, text.length);
  return start < end ? [{ start, end }] : [];
}

/** Tables: whole records, whatever the strategy, since half a record is meaningless. A record that is longer than the size is cut at words. */
function recordSpans(cutting: Cutting, rows: ParsedText["rows"]): Iterable<Span> {
  return pack(
    cutting,
    boundaryCutter(
      cutting,
      rows.map(({ start }) => start),
    ),
  );
}
