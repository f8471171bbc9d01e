/** Cuts a document's text into chunks within the limit of the embedding model. */
import type { Chunk, ChunkingStrategy } from "../../domain/chunking.ts";
import { invalid } from "../../domain/errors.ts";
import type { ParsedText } from "../../ports/parser.ts";
import { chunkDocument, clampedStrategy } from "../chunking/index.ts";
import type { IndexedVersion } from "../records/records.ts";
import type { KnowledgeDependencies } from "../dependencies.ts";

/** Chunks, and the settings that they were cut with, within the model's limit. */
export interface CutDocument extends Required<Pick<IndexedVersion, "chunking_strategy" | "tokens_max">> {
  readonly chunks: readonly Chunk[];
}

/** Cuts a text into chunks; a document without any cannot be found, and fails. */
export async function cutDocument(
  deps: Pick<KnowledgeDependencies, "embedders">,
  parsed: ParsedText,
  strategy: ChunkingStrategy,
  model: string,
  signal: AbortSignal,
): Promise<CutDocument> {
  const embedder = await deps.embedders.get(model);
  const { tokensMax } = embedder.model;
  const tokenizer = await embedder.tokenizer();
  const chunking_strategy = clampedStrategy(strategy, tokensMax);
  const chunks = await chunkDocument(parsed, chunking_strategy, {
    tokenizer,
    tokensMax,
    embed: (texts) => embedder.embed(texts, { signal }),
    signal,
  });
  if (chunks.length === 0) throw invalid("The document contains no text.");
  return { chunks, chunking_strategy, tokens_max: tokensMax };
}
