/** Metadata of objects, and attributes of files: validation, and their form in a document. */
import { z } from "zod";
import { invalid } from "../../../domain/errors.ts";
import type { JsonObject, JsonValue } from "../../../domain/json.ts";
import { passageFields } from "../../../knowledge/index.ts";

const pairsMax = 16;
const keyCharsMax = 64;
const valueCharsMax = 512;

const key = z.string().min(1).max(keyCharsMax);
const text = z.string().max(valueCharsMax);
const few = (value: object): boolean => Object.keys(value).length <= pairsMax;
const tooMany = { error: `must have at most ${pairsMax} keys` };

/** Strings by name. */
export const Metadata = z.record(key, text).refine(few, tooMany);
export type Metadata = Readonly<Record<string, string>>;
/** Strings, numbers and booleans by name. */
export const Attributes = z.record(key, z.union([text, z.number(), z.boolean()])).refine(few, tooMany);
export type Attributes = Readonly<Record<string, string | number | boolean>>;

/** Names that every chunk has, or that the facade needs itself: attributes with these names are stored one level deeper. */
const inner = "attributes";
const reserved: ReadonlySet<string> = new Set([...passageFields, inner, "file_id"]);

export function toDocumentMetadata(attributes: Attributes | null | undefined, fileId: string): JsonObject {
  const entries = Object.entries(attributes ?? {});
  const deeper = entries.filter(([name]) => reserved.has(name));
  return {
    ...Object.fromEntries(entries.filter(([name]) => !reserved.has(name))),
    ...(deeper.length === 0 ? {} : { [inner]: Object.fromEntries(deeper) }),
    file_id: fileId,
  };
}

export function toAttributes(metadata: JsonObject): Record<string, string | number | boolean> {
  const { [inner]: deeper, file_id: _, ...rest } = metadata;
  const isObject = typeof deeper === "object" && deeper !== null && !Array.isArray(deeper);
  return Object.fromEntries(
    [...Object.entries(rest), ...(isObject ? Object.entries(deeper) : [])].filter(
      (entry): entry is [string, string | number | boolean] => isScalar(entry[1]),
    ),
  );
}

/** The path of an attribute in filters (RFC 6901). */
export function attributePath(name: string): string {
  if (name === "") throw invalid("filters: a key is empty.");
  const escaped = name.replaceAll("~", "~0").replaceAll("/", "~1");
  return reserved.has(name) ? `/${inner}/${escaped}` : `/${escaped}`;
}

function isScalar(value: JsonValue | undefined): boolean {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean";
}
