/** The parameters of a query, checked once. Their names may be passed with or without "@". */
import { invalid } from "../../domain/errors.ts";
import { checkJson, isJsonObject, type JsonValue } from "../../domain/json.ts";
import type { Count } from "../ast.ts";
import { sqlLimits } from "../limits.ts";

export function readParameters(given: unknown): ReadonlyMap<string, JsonValue> {
  if (given === undefined) return new Map();
  if (!isJsonObject(given))
    throw invalid('parameters: must be an object of values by name, such as { "status": "open" }.');
  const entries = Object.entries(given).filter(([, value]) => value !== undefined);
  if (entries.length > sqlLimits.parametersMax)
    throw invalid(`parameters: ${entries.length} values; at most ${sqlLimits.parametersMax} are allowed.`);
  const parameters = new Map<string, JsonValue>();
  for (const [name, value] of entries) {
    const bare = name.startsWith("@") ? name.slice(1) : name;
    if (parameters.has(bare)) throw invalid(`parameters: @${bare} is specified twice.`);
    checkJson(value, `parameters/${name}`);
    parameters.set(bare, value as JsonValue);
  }
  return parameters;
}

/** The value of TOP, OFFSET or LIMIT. */
export function readCount(
  count: Count | undefined,
  clause: string,
  parameters: ReadonlyMap<string, JsonValue>,
): number | undefined {
  if (count === undefined) return undefined;
  if ("value" in count) return count.value;
  const value = parameters.get(count.parameter);
  if (typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= sqlLimits.offsetMax) return value;
  const got = value === undefined ? "it has no value" : `got ${JSON.stringify(value).slice(0, 60)}`;
  throw invalid(
    `query: ${clause} @${count.parameter} must be a whole number from 0 to ${sqlLimits.offsetMax}; ${got}.`,
  );
}
