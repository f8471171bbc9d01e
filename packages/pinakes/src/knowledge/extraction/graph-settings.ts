/** What goes into a collection's graph: the stored settings, and the ones in effect. */
import { extractModes, type GraphSettings } from "@pinakes/client";
import { invalid, show } from "../../domain/errors.ts";
import { isJsonObject } from "../../domain/json.ts";
import type { ChatModels } from "../../ports/chat-model.ts";
import { extractionLimits } from "./limits.ts";

export type { GraphSettings };

export const graphSettingsDefault: GraphSettings = Object.freeze({ extract: "structured" });
const fields = ["extract", "key", "model", "entity_types"];
const entityTypesMax = 50;
const textCharsMax = 128;

export function readGraphSettings(input: unknown, where = "graph"): GraphSettings {
  if (!isJsonObject(input))
    throw invalid(`${where}: must be an object such as { "extract": "structured" }, or null; got ${show(input)}.`);
  const unknown = Object.keys(input).find((name) => !fields.includes(name));
  if (unknown !== undefined) throw invalid(`${where}.${unknown}: is not known; known fields are ${fields.join(", ")}.`);
  const { extract = "structured", key, model, entity_types: types } = input;
  const mode = extractModes.find((one) => one === extract);
  if (mode === undefined)
    throw invalid(`${where}.extract: must be one of ${extractModes.join(", ")}; got ${show(extract)}.`);
  if (types !== undefined && (!Array.isArray(types) || types.length === 0 || types.length > entityTypesMax))
    throw invalid(`${where}.entity_types: must be a list of 1–${entityTypesMax} strings; got ${show(types)}.`);
  const list = types as readonly unknown[] | undefined;
  return {
    extract: mode,
    ...(key === undefined ? {} : { key: text(key, `${where}.key`, extractionLimits.keyCharsMax) }),
    ...(model === undefined ? {} : { model: text(model, `${where}.model`, textCharsMax) }),
    ...(list === undefined
      ? {}
      : { entity_types: list.map((type, i) => text(type, `${where}.entity_types[${i}]`, textCharsMax)) }),
  };
}

interface HasGraph {
  readonly graph?: GraphSettings | null;
}

/** The collection's own settings, else the repository's, else the default. */
export function effectiveGraph(repository: HasGraph, collection: HasGraph): GraphSettings {
  return collection.graph ?? repository.graph ?? graphSettingsDefault;
}

/** Refuses settings that no document could be read with. */
export function checkChatModel(settings: GraphSettings | null | undefined, chat: ChatModels | undefined): void {
  if (settings?.extract !== "llm") return;
  const known = chat?.models ?? [];
  if (known.length === 0)
    throw invalid(
      'graph.extract: "llm" needs a chat model, and none is configured: set PINAKES_CHAT_MODELS, or the option chatModels.',
    );
  if (settings.model !== undefined && !known.some(({ id }) => id === settings.model))
    throw invalid(
      `graph.model: ${show(settings.model)} is not configured; configured are ${known.map(({ id }) => id).join(", ")}.`,
    );
}

function text(value: unknown, where: string, charsMax: number): string {
  if (typeof value === "string" && value.trim() !== "" && value.length <= charsMax) return value.trim();
  throw invalid(`${where}: must be a string of 1–${charsMax} characters; got ${show(value)}.`);
}
