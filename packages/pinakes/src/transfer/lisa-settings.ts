/** Chunking, metadata and pipelines in the format of the LISA tables. */
import { isDeepStrictEqual } from "node:util";
import type { ChunkingStrategy } from "../domain/chunking.ts";
import { hasCode, invalid, show } from "../domain/errors.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../domain/json.ts";
import { readChunkingStrategy } from "../knowledge/chunking/index.ts";
import { knowledgeLimits } from "../knowledge/limits.ts";
import { checkMetadata, type Metadata } from "../knowledge/records/metadata.ts";
import type { PipelineSettings } from "../knowledge/records/records.ts";
import { readGraphSettings, type GraphSettings } from "../knowledge/extraction/index.ts";
import { pipelineLimits } from "../pipelines/index.ts";
import { optionalFlag, optionalList, optionalMap, optionalText, text } from "./attributes.ts";
import { compact } from "./give-back.ts";

/** `{ type, chunkSize, chunkOverlap, separators }`; the unit only if it is not the type's default. */
export function chunkingToItem(strategy: ChunkingStrategy): JsonObject {
  const { type, unit, chunk_size, chunk_overlap, separators, threshold } = strategy;
  const usual = type === "TOKEN" ? "token" : "char";
  return compact({
    type,
    ...(type === "NONE" ? {} : { chunkSize: chunk_size, chunkOverlap: chunk_overlap }),
    separators,
    threshold,
    unit: unit === usual ? undefined : unit,
  });
}

export function itemToChunking(item: JsonObject, name: string): ChunkingStrategy | null {
  const value = optionalMap(item, name);
  return value === undefined ? null : readChunkingStrategy(value, name);
}

/** Graph settings, which the layout lacks. Null: inherited. */
export function itemToGraph(item: JsonObject): GraphSettings | null {
  const graph = optionalMap(item, "pinakes")?.["graph"] ?? null;
  return graph === null ? null : readGraphSettings(graph, "pinakes.graph");
}

/** Absent if empty. */
export function metadataToItem({ tags, custom_fields }: Metadata): JsonObject | undefined {
  return tags.length === 0 && Object.keys(custom_fields).length === 0
    ? undefined
    : { tags: [...tags], customFields: custom_fields };
}

export function itemToMetadata(value: JsonObject | undefined): Metadata {
  return checkMetadata({ tags: value?.["tags"] ?? [], custom_fields: value?.["customFields"] ?? {} });
}

/** LISA's "daily" runs at midnight. */
const daily = "0 0 * * *";

export function pipelineToItem(pipeline: PipelineSettings): JsonObject {
  const { auto_remove, chunking_strategy, source, trigger, schedule, max_removal_share } = pipeline;
  const location = /^s3:\/\/([^/]+)\/?(.*)$/s.exec(source);
  const item = compact({
    autoRemove: auto_remove,
    chunkOverlap: chunking_strategy?.chunk_overlap,
    chunkSize: chunking_strategy?.chunk_size,
    s3Bucket: location?.[1],
    s3Prefix: location?.[2],
    trigger: trigger === "event" ? "event" : "daily",
  });
  // Settings without an equivalent in the layout.
  if (saysAll(item, pipeline)) return item;
  return {
    ...item,
    pinakes: { source, schedule, max_removal_share, chunking_strategy: chunking_strategy as unknown as JsonValue },
  };
}

type Made = Pick<PipelineSettings, "pipeline_id" | "created_by" | "created_at">;
const nobody: Made = { pipeline_id: "", created_by: "", created_at: "" };

export function itemToPipeline(item: JsonObject, stamp: Made): PipelineSettings {
  const own = optionalMap(item, "pinakes");
  const trigger = text(item, "trigger");
  if (trigger !== "event" && trigger !== "daily")
    throw invalid(`trigger: must be event or daily, got ${show(trigger)}.`);
  const schedule = own === undefined ? (trigger === "daily" ? daily : null) : (optionalText(own, "schedule") ?? null);
  const share = own?.["max_removal_share"] ?? pipelineLimits.removalShareDefault;
  if (typeof share !== "number" || !(share >= 0 && share <= 1))
    throw invalid(`max_removal_share: must be a number from 0 to 1, got ${show(share)}.`);
  return {
    ...stamp,
    trigger: trigger === "event" ? "event" : "schedule",
    source: own === undefined ? bucketSource(item) : text(own, "source"),
    schedule,
    auto_remove: optionalFlag(item, "autoRemove") ?? false,
    chunking_strategy: own === undefined ? sizes(item) : itemToChunking(own, "chunking_strategy"),
    max_removal_share: share,
  };
}

export function itemToPipelines(
  item: JsonObject,
  stamp: { readonly newId: () => string; readonly created_by: string; readonly created_at: string },
): readonly PipelineSettings[] {
  const list = optionalList(item, "pipelines") ?? [];
  if (list.length > knowledgeLimits.pipelinesMax)
    throw invalid(`pipelines: has ${list.length} pipelines; at most ${knowledgeLimits.pipelinesMax} are allowed.`);
  return list.map((pipeline, i) => {
    if (!isJsonObject(pipeline)) throw invalid(`pipelines[${i}]: must be a map, got ${show(pipeline)}.`);
    return itemToPipeline(pipeline, {
      pipeline_id: stamp.newId(),
      created_by: stamp.created_by,
      created_at: stamp.created_at,
    });
  });
}

/** Whether the item alone restores the same pipeline. */
function saysAll(item: JsonObject, pipeline: PipelineSettings): boolean {
  try {
    return isDeepStrictEqual(pinned(itemToPipeline(item, nobody)), pinned(pipeline));
  } catch (error) {
    if (hasCode(error, "INVALID")) return false;
    throw error;
  }
}

function bucketSource(item: JsonObject): string {
  const bucket = text(item, "s3Bucket");
  if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(bucket))
    throw invalid(`s3Bucket: ${show(bucket)} is not a valid bucket name.`);
  return `s3://${bucket}/${optionalText(item, "s3Prefix") ?? ""}`;
}

/** LISA's pipelines chunk only by size. */
function sizes(item: JsonObject): ChunkingStrategy | null {
  const [chunkSize, chunkOverlap] = [item["chunkSize"] ?? undefined, item["chunkOverlap"] ?? undefined];
  if (chunkSize === undefined && chunkOverlap === undefined) return null;
  return readChunkingStrategy(compact({ type: "FIXED", chunkSize, chunkOverlap }), "pipelines");
}

function pinned({ pipeline_id: _, created_by: _by, created_at: _at, ...settings }: PipelineSettings): object {
  return settings;
}
