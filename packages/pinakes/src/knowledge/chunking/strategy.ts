/**
 * The settings of chunking, parsed once at the boundary. Several JSON shapes are accepted:
 *
 *   { "type": "RECURSIVE", "unit": "char", "chunk_size": 1000, "chunk_overlap": 200, "separators": ["\n\n"] }   canonical, as stored
 *   { "type": "RECURSIVE", "chunkSize": 1000, "chunkOverlap": 200, "separators": ["\n\n"] }
 *   { "type": "recursive", "parameters": { "chunkSize": 1000, "chunkOverlap": 200 } }
 *   { "type": "fixed", "size": 1000, "overlap": 200 }
 *
 * Missing fields get their default, which is stored, so a change of the defaults never changes an existing collection.
 */
import { chunkingTypes } from "@pinakes/client";
import type { ChunkingStrategy, ChunkingType } from "../../domain/chunking.ts";
import { invalid, show } from "../../domain/errors.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../domain/json.ts";

export const chunkingLimits = Object.freeze({
  sizeCharsMin: 100,
  sizeCharsMax: 10_000,
  sizeTokensMin: 10,
  /** No supported embedding model reads more at once. */
  sizeTokensMax: 8_192,
  separatorsMax: 20,
  separatorCharsMax: 50,
});

export const separatorsDefault: readonly string[] = Object.freeze(["\n\n", "\n", ". ", " "]);
export const thresholdDefault = 0.6;

/** The system default, for a collection when neither it, its pipeline nor its repository sets a strategy. */
export const systemChunking: ChunkingStrategy = Object.freeze({
  type: "RECURSIVE",
  unit: "char",
  chunk_size: 1000,
  chunk_overlap: 200,
  separators: separatorsDefault,
});

/** The default of catalogs. */
export const catalogChunking: ChunkingStrategy = Object.freeze({
  type: "TOKEN",
  unit: "token",
  chunk_size: 300,
  chunk_overlap: 30,
});

/** Parses one of the shapes above; INVALID names the wrong field and its allowed values. */
export function readChunkingStrategy(input: unknown, where = "chunkingStrategy"): ChunkingStrategy {
  if (!isJsonObject(input))
    throw invalid(
      `${where}: must be an object such as { "type": "RECURSIVE", "chunk_size": 1000, "chunk_overlap": 200 }.`,
    );
  const type = readType(input["type"], where);
  const quantities = gather(input, where);
  const unit = readUnit(quantities.get("unit"), type, where);
  const separators = quantities.get("separators");
  const threshold = quantities.get("threshold");
  if (separators !== undefined && type !== "RECURSIVE")
    throw invalid(`${where}.separators: only RECURSIVE uses them; leave them out for ${type}.`);
  if (threshold !== undefined && type !== "SEMANTIC")
    throw invalid(`${where}.threshold: only SEMANTIC uses it; omit it for ${type}.`);
  // One chunk of the whole text has no size; zeros keep the stored shape the same for every type.
  if (type === "NONE") return { type, unit, chunk_size: 0, chunk_overlap: 0 };
  const sizes = readSizes(quantities, unit, where);
  if (type === "RECURSIVE") return { type, unit, ...sizes, separators: readSeparators(separators, where) };
  if (type === "SEMANTIC") return { type, unit, ...sizes, threshold: readThreshold(threshold, where) };
  return { type, unit, ...sizes };
}

type Quantity = "unit" | "chunk_size" | "chunk_overlap" | "separators" | "threshold";

/** Accepted fields and their meaning. */
const meaningOf: ReadonlyMap<string, Quantity> = new Map([
  ["unit", "unit"],
  ["chunk_size", "chunk_size"],
  ["chunkSize", "chunk_size"],
  ["size", "chunk_size"],
  ["chunk_overlap", "chunk_overlap"],
  ["chunkOverlap", "chunk_overlap"],
  ["overlap", "chunk_overlap"],
  ["separators", "separators"],
  ["threshold", "threshold"],
]);

/** One value per quantity, whatever the shape. Equal duplicates are accepted, contradictions refused. Null counts as absent. */
function gather(input: JsonObject, where: string): ReadonlyMap<Quantity, JsonValue> {
  const { type: _, parameters, ...flat } = input;
  if (parameters !== undefined && parameters !== null && !isJsonObject(parameters)) {
    throw invalid(`${where}.parameters: must be an object such as { "chunkSize": 1000, "chunkOverlap": 200 }.`);
  }
  const fields = [
    ...Object.entries(flat).map(([name, value]) => ({ name, path: `${where}.${name}`, value })),
    ...Object.entries(parameters ?? {}).map(([name, value]) => ({ name, path: `${where}.parameters.${name}`, value })),
  ];
  const quantities = new Map<Quantity, { readonly value: JsonValue; readonly path: string }>();
  for (const { name, path, value } of fields) {
    const quantity = meaningOf.get(name);
    if (quantity === undefined)
      throw invalid(`${path}: unknown field; use type, unit, chunk_size, chunk_overlap, separators, threshold.`);
    if (value === undefined || value === null) continue;
    const former = quantities.get(quantity);
    if (former !== undefined && JSON.stringify(former.value) !== JSON.stringify(value)) {
      throw invalid(
        `${path} is ${show(value)} but ${former.path} is ${show(former.value)}; both set ${quantity}, so give it once.`,
      );
    }
    quantities.set(quantity, { value, path });
  }
  return new Map([...quantities].map(([quantity, { value }]) => [quantity, value]));
}

function readType(value: JsonValue | undefined, where: string): ChunkingType {
  const upper = typeof value === "string" ? value.toUpperCase() : undefined;
  const type = chunkingTypes.find((known) => known === upper);
  if (type === undefined)
    throw invalid(`${where}.type: ${show(value)} is not supported; use one of ${chunkingTypes.join(", ")}.`);
  return type;
}

function readUnit(value: JsonValue | undefined, type: ChunkingType, where: string): ChunkingStrategy["unit"] {
  if (value === undefined) return type === "TOKEN" ? "token" : "char";
  if (value !== "char" && value !== "token")
    throw invalid(`${where}.unit: ${show(value)} is not a unit; use "char" or "token".`);
  if (type === "TOKEN" && value === "char")
    throw invalid(`${where}.unit: TOKEN counts tokens; leave unit out, or use FIXED to count characters.`);
  return value;
}

function readSizes(quantities: ReadonlyMap<Quantity, JsonValue>, unit: ChunkingStrategy["unit"], where: string) {
  const [min, max, byDefault, words] =
    unit === "char"
      ? ([chunkingLimits.sizeCharsMin, chunkingLimits.sizeCharsMax, systemChunking, "characters"] as const)
      : ([chunkingLimits.sizeTokensMin, chunkingLimits.sizeTokensMax, catalogChunking, "tokens"] as const);
  const size = quantities.get("chunk_size") ?? byDefault.chunk_size;
  if (!isWhole(size) || size < min || size > max) {
    throw invalid(`${where}.chunk_size: ${show(size)} must be a whole number of ${words} from ${min} to ${max}.`);
  }
  // The default's share of the size, so that a small size alone is never refused for its default overlap.
  const overlap =
    quantities.get("chunk_overlap") ?? Math.floor((size * byDefault.chunk_overlap) / byDefault.chunk_size);
  if (!isWhole(overlap) || overlap < 0 || overlap > size / 2) {
    throw invalid(
      `${where}.chunk_overlap: ${show(overlap)} must be a whole number from 0 to ${Math.floor(size / 2)}, half of chunk_size.`,
    );
  }
  return { chunk_size: size, chunk_overlap: overlap };
}

function readSeparators(value: JsonValue | undefined, where: string): readonly string[] {
  if (value === undefined) return separatorsDefault;
  const { separatorsMax, separatorCharsMax } = chunkingLimits;
  if (!Array.isArray(value) || value.length === 0 || value.length > separatorsMax) {
    throw invalid(
      `${where}.separators: must be a list of 1 to ${separatorsMax} strings, tried in order; omit it for the default.`,
    );
  }
  return value.map((separator: JsonValue, i) => {
    if (typeof separator === "string" && separator.length > 0 && separator.length <= separatorCharsMax)
      return separator;
    throw invalid(
      `${where}.separators[${i}]: ${show(separator)} must be a string of 1 to ${separatorCharsMax} characters.`,
    );
  });
}

function readThreshold(value: JsonValue | undefined, where: string): number {
  if (value === undefined) return thresholdDefault;
  if (typeof value !== "number" || !(value >= 0 && value <= 1))
    throw invalid(`${where}.threshold: ${show(value)} must be a number from 0 to 1.`);
  return value;
}

function isWhole(value: JsonValue): value is number {
  return Number.isSafeInteger(value);
}
