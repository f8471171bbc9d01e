/** Tools for texts that are not stored: chunking and embedding. */
import type { Chunk } from "../../domain/chunking.ts";
import { PinakesError } from "../../domain/errors.ts";
import { chunkDocument, readChunkingStrategy } from "../chunking/index.ts";
import type { KnowledgeDependencies } from "../dependencies.ts";

export interface PreviewInput {
  readonly text: string;
  readonly chunking_strategy: unknown;
  readonly markdown?: boolean | undefined;
}

export interface Embedded {
  readonly model: string;
  readonly vectors: readonly Float32Array[];
  readonly tokens: number;
}

type Tools = Pick<KnowledgeDependencies, "parser" | "embedders">;

const previewBytesMax = 1_048_576;

/** `tenant`: whose share of the parser it uses. */
export async function previewChunks(
  { parser, embedders }: Tools,
  tenant: string,
  input: PreviewInput,
): Promise<readonly Chunk[]> {
  const strategy = readChunkingStrategy(input.chunking_strategy, "chunking_strategy");
  const bytes = Buffer.from(input.text, "utf8");
  if (bytes.length > previewBytesMax)
    throw new PinakesError("LIMIT_EXCEEDED", `text: a preview accepts at most ${previewBytesMax} bytes.`);
  const fileType = strategy.type === "MARKDOWN" || input.markdown === true ? "md" : "txt";
  const parsed = await parser.parse({ bytes, fileType }, { share: tenant });
  const embedder = await embedders.get(embedders.defaultModel);
  const { tokensMax } = embedder.model;
  return chunkDocument(parsed, strategy, {
    tokenizer: await embedder.tokenizer(),
    tokensMax,
    embed: (texts) => embedder.embed(texts),
  });
}

export async function embedTexts(
  { embedders }: Tools,
  texts: readonly string[],
  model = embedders.defaultModel,
): Promise<Embedded> {
  const embedder = await embedders.get(model);
  const counter = await embedder.tokenizer();
  const tokens = texts.reduce((sum, text) => sum + counter.words(text).tokens.reduce((a, b) => a + b, 0), 0);
  return { model: embedder.model.id, vectors: await embedder.embed(texts), tokens };
}
