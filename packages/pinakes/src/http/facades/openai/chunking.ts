/** Chunking of files, in OpenAI's format. */
import { z } from "zod";
import { invalid } from "../../../domain/errors.ts";
import type { JsonObject } from "../../../domain/json.ts";
import type { AttachedFile } from "../../../knowledge/index.ts";

const sizeMin = 100;
const sizeMax = 4_096;

export const ChunkingInput = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("auto") }),
  z.strictObject({
    type: z.literal("static"),
    static: z.strictObject({
      max_chunk_size_tokens: z.int().min(sizeMin).max(sizeMax),
      chunk_overlap_tokens: z.int().min(0).max(sizeMax),
    }),
  }),
]);

/** `auto` and absent: the collection's setting. */
export function toChunking(input: z.output<typeof ChunkingInput> | null | undefined): {
  readonly chunking_strategy?: JsonObject;
} {
  if (input === null || input === undefined || input.type === "auto") return {};
  const { max_chunk_size_tokens: size, chunk_overlap_tokens: overlap } = input.static;
  if (overlap > size / 2)
    throw invalid(
      `chunking_strategy.static.chunk_overlap_tokens: must be at most ${Math.floor(size / 2)}, half of max_chunk_size_tokens.`,
    );
  return { chunking_strategy: { type: "TOKEN", chunk_size: size, chunk_overlap: overlap } };
}

export const ChunkingView = z.discriminatedUnion("type", [
  z.object({ type: z.literal("other") }),
  z.object({
    type: z.literal("static"),
    static: z.object({ max_chunk_size_tokens: z.number(), chunk_overlap_tokens: z.number() }),
  }),
]);

/** Only chunking by tokens has a name in OpenAI's format. */
export function chunkingView(strategy: AttachedFile["chunking_strategy"]): z.output<typeof ChunkingView> {
  if (strategy?.type !== "TOKEN") return { type: "other" };
  const { chunk_size, chunk_overlap } = strategy;
  return { type: "static", static: { max_chunk_size_tokens: chunk_size, chunk_overlap_tokens: chunk_overlap } };
}
