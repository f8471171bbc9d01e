/** Form values and their conversion to requests. */
import type { ChunkingStrategy, ChunkingType, ChunkUnit, Collection, JsonObject } from "@pinakes/client";
import { collectionFormStrings as s } from "../../../strings/collection-form.ts";
import type { FieldErrors } from "./field-errors.ts";

/** As typed: numbers are strings. */
export interface FormValues {
  /** "": a new repository. */
  readonly repository: string;
  readonly newRepositoryName: string;
  readonly newRepositoryId: string;
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly tags: string;
  readonly fields: string;
  readonly ownChunking: boolean;
  readonly type: ChunkingType;
  readonly unit: ChunkUnit;
  readonly size: string;
  readonly overlap: string;
  readonly separators: string;
  readonly threshold: string;
  readonly allowOverride: boolean;
  readonly model: string;
  readonly private: boolean;
  readonly groups: string;
}

/** Custom settings start with the server's defaults. */
export const emptyValues: FormValues = {
  repository: "me",
  newRepositoryName: "",
  newRepositoryId: "",
  id: "",
  name: "",
  description: "",
  tags: "",
  fields: "{}",
  ownChunking: false,
  type: "RECURSIVE",
  unit: "char",
  size: "1000",
  overlap: "200",
  separators: '["\\n\\n", "\\n", ". ", " "]',
  threshold: "0.6",
  allowOverride: true,
  model: "",
  private: false,
  groups: "",
};

export function valuesOf(collection: Collection): FormValues {
  const { metadata, own_chunking_strategy: own, allowed_groups, description } = collection;
  return {
    ...emptyValues,
    repository: collection.repository_id,
    id: collection.collection_id,
    name: collection.name,
    description,
    tags: metadata.tags.join(", "),
    fields: JSON.stringify(metadata.custom_fields, null, 2),
    ...chunkingValues(collection.chunking_strategy),
    ownChunking: own !== null,
    allowOverride: collection.allow_chunking_override,
    model: collection.embedding_model,
    private: collection.private,
    groups: (allowed_groups ?? []).join("\n"),
  };
}

function chunkingValues({
  type,
  unit,
  chunk_size,
  chunk_overlap,
  separators,
  threshold,
}: ChunkingStrategy): Partial<FormValues> {
  return {
    type,
    unit,
    // NONE has no size: switching to another type starts with the default.
    ...(type === "NONE" ? {} : { size: String(chunk_size), overlap: String(chunk_overlap) }),
    ...(separators === undefined ? {} : { separators: JSON.stringify(separators) }),
    ...(threshold === undefined ? {} : { threshold: String(threshold) }),
  };
}

export type Changeable = Pick<
  Collection,
  "description" | "allow_chunking_override" | "metadata" | "allowed_groups" | "private"
> & { readonly name: string | null; readonly chunking_strategy: ChunkingStrategy | null };

type Read<Value> =
  | { readonly value: Value; readonly errors?: undefined }
  | { readonly errors: FieldErrors; readonly value?: undefined };

/** Only rejects what cannot be serialized; the server validates the rest. */
export function readValues(values: FormValues): Read<Changeable> {
  const fields = readFields(values.fields);
  const chunking: Read<ChunkingStrategy | null> = values.ownChunking ? readChunking(values) : { value: null };
  if (fields.errors !== undefined || chunking.errors !== undefined)
    return { errors: { ...fields.errors, ...chunking.errors } };
  const groups = lines(values.groups);
  return {
    value: {
      name: values.name.trim() === "" ? null : values.name.trim(),
      description: values.description,
      chunking_strategy: chunking.value,
      allow_chunking_override: values.allowOverride,
      metadata: { tags: commas(values.tags), custom_fields: fields.value },
      allowed_groups: groups.length === 0 ? null : groups,
      private: values.private,
    },
  };
}

export function readChunking({ type, unit, size, overlap, separators, threshold }: FormValues): Read<ChunkingStrategy> {
  // As the server stores it, so that it does not count as a change.
  if (type === "NONE") return { value: { type, unit, chunk_size: 0, chunk_overlap: 0 } };
  const sizes = { chunk_size: numberOf(size), chunk_overlap: numberOf(overlap) };
  const errors: Record<string, string> = {};
  for (const [name, value] of Object.entries(sizes))
    if (Number.isNaN(value)) errors[`chunking_strategy.${name}`] = s.notNumber;
  const list = type === "RECURSIVE" ? listOf(separators) : undefined;
  if (type === "RECURSIVE" && list === undefined) errors["chunking_strategy.separators"] = s.notList;
  if (type === "SEMANTIC" && Number.isNaN(numberOf(threshold))) errors["chunking_strategy.threshold"] = s.notNumber;
  if (Object.keys(errors).length > 0) return { errors };
  return {
    value: {
      type,
      unit: type === "TOKEN" ? "token" : unit,
      ...sizes,
      ...(list === undefined ? {} : { separators: list }),
      ...(type === "SEMANTIC" ? { threshold: numberOf(threshold) } : {}),
    },
  };
}

function readFields(text: string): Read<JsonObject> {
  try {
    const value: unknown = JSON.parse(text.trim() === "" ? "{}" : text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return { value: value as JsonObject };
    return { errors: { "metadata.custom_fields": s.notObject } };
  } catch (error) {
    return { errors: { "metadata.custom_fields": s.notJson((error as Error).message) } };
  }
}

function numberOf(text: string): number {
  return text.trim() === "" ? Number.NaN : Number(text);
}

function listOf(text: string): readonly string[] | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) && value.every((one) => typeof one === "string") ? value : undefined;
  } catch {
    return undefined;
  }
}

function commas(text: string): readonly string[] {
  return trimmed(text.split(","));
}

function lines(text: string): readonly string[] {
  return trimmed(text.split("\n"));
}

function trimmed(parts: readonly string[]): readonly string[] {
  return parts.map((part) => part.trim()).filter((part) => part !== "");
}
