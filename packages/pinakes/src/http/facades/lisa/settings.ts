/** Chunking, metadata and pipelines: converts LISA's names of settings to ours and back. */
import type { ChunkingStrategy, Metadata, Pipeline } from "@pinakes/client";
import { z } from "zod";
import { jsonObject } from "../../../contract/index.ts";
import { invalid } from "../../../domain/errors.ts";
import { isJsonObject, type JsonObject } from "../../../domain/json.ts";
import { knowledgeLimits, type NewPipeline } from "../../../knowledge/index.ts";

/** Validated where it is stored; every format that LISA ever had is accepted. */
export const ChunkingInput = jsonObject().describe(
  '`{ "type": "fixed", "size": 512, "overlap": 51 }`, `{ "type": "none" }`, or another type of this server.',
);

/** `fixed` and `none` are LISA's own types; for other types, the names of its first version are added. */
export function chunkingView(strategy: ChunkingStrategy | null): JsonObject | null {
  if (strategy === null) return null;
  const { type, unit, chunk_size: size, chunk_overlap: overlap, separators, threshold } = strategy;
  if (type === "NONE") return { type: "none" };
  const usual = type === "TOKEN" ? "token" : "char";
  const more = {
    ...(separators === undefined ? {} : { separators: [...separators] }),
    ...(threshold === undefined ? {} : { threshold }),
    ...(unit === usual ? {} : { unit }),
  };
  if (type === "FIXED") return { type: "fixed", size, overlap, ...more };
  return { type, chunkSize: size, chunkOverlap: overlap, size, overlap, ...more };
}

export const MetadataInput = z.object({
  tags: z.array(z.string()).nullish(),
  customFields: jsonObject().nullish(),
});

/** The custom field of a repository for settings without a field of their own: its type and the settings of that type. */
export const ownField = "lisa";

/** `own`: settings stored beside the caller's fields. */
export function toMetadata(input: z.output<typeof MetadataInput>, own?: JsonObject): Partial<Metadata> {
  const fields = input.customFields ?? {};
  if (Object.hasOwn(fields, ownField))
    throw invalid(`metadata.customFields.${ownField}: is reserved for the settings of the repository's type.`);
  return {
    tags: input.tags ?? [],
    custom_fields: { ...fields, ...(own === undefined ? {} : { [ownField]: own }) },
  };
}

export const MetadataView = z.object({ tags: z.array(z.string()), customFields: jsonObject() });

export function metadataView({ tags, custom_fields }: Metadata): { tags: readonly string[]; customFields: JsonObject } {
  const { [ownField]: _, ...customFields } = custom_fields;
  return { tags, customFields };
}

export function ownSettings({ custom_fields }: Metadata): JsonObject {
  const own = custom_fields[ownField];
  return isJsonObject(own) ? own : {};
}

export const PipelineInput = z.object({
  s3Bucket: z.string(),
  s3Prefix: z.string().nullish(),
  trigger: z.enum(["event", "schedule", "daily"]).nullish().describe("Default event; schedule and daily are synonyms."),
  autoRemove: z.boolean().nullish().describe("Default true."),
  collectionId: z.string().nullish(),
  metadata: MetadataInput.nullish(),
  chunkingStrategy: ChunkingInput.nullish(),
  chunkSize: z.number().nullish(),
  chunkOverlap: z.number().nullish(),
});
export type PipelineInput = z.output<typeof PipelineInput>;
export const PipelinesInput = z.array(PipelineInput).max(knowledgeLimits.pipelinesMax);

export function toPipeline(input: PipelineInput, where: string): NewPipeline {
  const { trigger, autoRemove, metadata, chunkingStrategy, chunkSize, chunkOverlap } = input;
  if ((metadata?.tags ?? []).length > 0)
    throw invalid(
      `${where}.metadata.tags: pipelines cannot add tags to documents here; add the tags to the collection or the repository.`,
    );
  const sized = typeof chunkSize === "number" || typeof chunkOverlap === "number";
  const chunking = chunkingStrategy ?? (sized ? { type: "fixed", size: chunkSize, overlap: chunkOverlap } : undefined);
  const scheduled = trigger === "schedule" || trigger === "daily";
  return {
    trigger: scheduled ? "schedule" : "event",
    source: sourceOf(input),
    auto_remove: autoRemove ?? true,
    ...(scheduled ? { schedule: "daily" } : {}),
    ...(chunking === undefined ? {} : { chunking_strategy: chunking }),
  };
}

/** A prefix is a folder, with or without slashes around it. */
export function sourceOf({ s3Bucket, s3Prefix }: Pick<PipelineInput, "s3Bucket" | "s3Prefix">): string {
  const folder = (s3Prefix ?? "").replace(/^\/+/, "");
  return `s3://${s3Bucket}/${folder === "" || folder.endsWith("/") ? folder : `${folder}/`}`;
}

export const PipelineView = z
  .object({
    s3Bucket: z.string(),
    s3Prefix: z.string(),
    trigger: z.enum(["event", "daily"]),
    autoRemove: z.boolean(),
    collectionId: z.string(),
    metadata: MetadataView,
    chunkingStrategy: jsonObject().nullable(),
    chunkSize: z.number().optional(),
    chunkOverlap: z.number().optional(),
  })
  .meta({ id: "LisaPipeline" });

/** Undefined for a pipeline on a folder, which LISA does not support. */
export function pipelineView(pipeline: Pipeline, collectionId: string): z.output<typeof PipelineView> | undefined {
  const [, s3Bucket, s3Prefix = ""] = /^s3:\/\/([^/]+)\/?(.*)$/s.exec(pipeline.source) ?? [];
  if (s3Bucket === undefined) return undefined;
  const { chunking_strategy: chunking } = pipeline;
  const sized = chunking !== null && chunking.type !== "NONE";
  return {
    s3Bucket,
    s3Prefix,
    trigger: pipeline.trigger === "event" ? "event" : "daily",
    autoRemove: pipeline.auto_remove,
    collectionId,
    metadata: { tags: [], customFields: {} },
    chunkingStrategy: chunkingView(chunking),
    ...(sized ? { chunkSize: chunking.chunk_size, chunkOverlap: chunking.chunk_overlap } : {}),
  };
}

/** The immutable settings of a pipeline: its source and its trigger. */
export function requireSame(existing: Pipeline, wanted: NewPipeline, where: string): void {
  const same = existing.trigger === wanted.trigger && existing.auto_remove === wanted.auto_remove;
  if (!same)
    throw invalid(
      `${where}: source, trigger, collectionId and autoRemove of a pipeline cannot be changed; remove it in one request, and add the new one in another.`,
    );
}
