/**
 * A parsed document to passages. Every passage is exactly `text.slice(start, end)`; together they hold every character that is not
 * blank; none takes more than the strategy's size (NONE has none). Sizes count the text alone, not the context told with it.
 */
import type { Chunk, ChunkingStrategy } from "../../domain/chunking.ts";
import type { Tokenizer } from "../../ports/embedder.ts";
import type { ParsedText } from "../../ports/parser.ts";
import { boundaryCutter } from "./boundaries.ts";
import { fixedCutter } from "./fixed.ts";
import { markdownSpans } from "./markdown.ts";
import { pack, type Cutting } from "./pack.ts";
import { pauses, type Pause } from "./pause.ts";
import { recordSpans } from "./records.ts";
import { recursiveCutter } from "./recursive.ts";
import { charRuler } from "./ruler.ts";
import { semanticSpans, type EmbedTexts } from "./semantic.ts";
import { sentenceStarts } from "./sentences.ts";
import { skipBlank, trimEnd, type Span } from "./spans.ts";
import { readChunkingStrategy, separatorsDefault, thresholdDefault } from "./strategy.ts";
import { surroundings } from "./surroundings.ts";
import { tokenRuler } from "./token-ruler.ts";

export interface ChunkingTools {
  /** Of the collection's embedding model. */
  readonly tokenizer: Tokenizer;
  /** SEMANTIC asks it for the vectors of sentences, a few hundred at a time. */
  readonly embed?: EmbedTexts;
  readonly signal?: AbortSignal;
}

const pauseEveryChunks = 1_000;

export async function chunkDocument(parsed: ParsedText, strategy: ChunkingStrategy, tools: ChunkingTools): Promise<readonly Chunk[]> {
  const checked = readChunkingStrategy(strategy);
  const pause = pauses(tools.signal);
  const placeOf = surroundings(parsed);
  const chunks: Chunk[] = [];
  await pause();
  for (const { start, end } of await pagedSpans(parsed, checked, tools, pause)) {
    chunks.push({ index: chunks.length, text: parsed.text.slice(start, end), start, end, ...placeOf({ start, end }) });
    if (chunks.length % pauseEveryChunks === 0) await pause();
  }
  return chunks;
}

/** A passage never goes on over the end of a page: the page that it names is the one it stands on. */
async function pagedSpans(parsed: ParsedText, strategy: ChunkingStrategy, tools: ChunkingTools, pause: Pause): Promise<Iterable<Span>> {
  const { text, pages, sections } = parsed;
  if (pages.length < 2 || strategy.type === "NONE") return spansOf(parsed, strategy, tools, pause);
  const spans: Span[] = [];
  for (const [i, page] of pages.entries()) {
    const from = i === 0 ? 0 : page.start;
    const to = pages[i + 1]?.start ?? text.length;
    const inside = sections.filter(({ start }) => start >= from && start < to).map(({ start, path }) => ({ start: start - from, path }));
    const own = await spansOf({ ...parsed, text: text.slice(from, to), pages: [], sections: inside }, strategy, tools, pause);
    for (const { start, end } of own) spans.push({ start: start + from, end: end + from });
  }
  return spans;
}

async function spansOf(parsed: ParsedText, strategy: ChunkingStrategy, tools: ChunkingTools, pause: Pause): Promise<Iterable<Span>> {
  const { text, rows, sections } = parsed;
  const { type, unit, chunk_size: size, chunk_overlap: overlap, separators = separatorsDefault, threshold = thresholdDefault } = strategy;
  if (type === "NONE") return wholeText(text);
  const ruler = unit === "char" ? charRuler(text) : await tokenRuler(text, tools.tokenizer, size, pause);
  const cutting: Cutting = { text, ruler, size, overlap };
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
    case "SEMANTIC":
      return await semanticSpans(cutting, threshold, tools.embed, pause);
  }
}

function wholeText(text: string): readonly Span[] {
  const start = skipBlank(text, 0, text.length);
  const end = trimEnd(text, start, text.length);
  return start < end ? [{ start, end }] : [];
}
