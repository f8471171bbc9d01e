/** Query parameters and pages in LISA's format: page sizes are clamped, and a page token is an object with LISA's fields. */
import { z } from "zod";
import { invalid, show } from "../../../domain/errors.ts";
import { isJsonObject, type JsonObject } from "../../../domain/json.ts";

const sizeMax = 100;

/** 1–100: values outside are clamped, as in LISA; anything but a number is refused. */
export function pageSize(usual: number) {
  return z
    .string()
    .optional()
    .transform((text) => clamped(text, usual, "pageSize"))
    .describe(`Clamped to 1–${sizeMax}; ${usual} when absent.`);
}

function clamped(text: string | undefined, usual: number, where: string): number {
  if (text === undefined || text === "") return usual;
  return Math.min(sizeMax, Math.max(1, wholeNumber(text, where)));
}

export function wholeNumber(text: string, where: string): number {
  const value = /^\s*[+-]?\d{1,15}\s*$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(value)) throw invalid(`${where}: must be a whole number, got ${show(text)}.`);
  return value;
}

/** JSON in a query parameter. */
export function jsonToken(text: string | undefined, where = "lastEvaluatedKey"): JsonObject | undefined {
  if (text === undefined || text === "" || text === "null") return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw invalid(`${where}: is not the JSON of a page's token.`, { cause });
  }
  // Some clients encode it twice.
  if (typeof value === "string") return jsonToken(value, where);
  if (!isJsonObject(value)) throw invalid(`${where}: is not a page token.`);
  return value;
}

/** The fields of a token, all of them strings. */
export function tokenFields<Name extends string>(
  token: JsonObject,
  names: readonly Name[],
  where = "lastEvaluatedKey",
): Readonly<Record<Name, string>> {
  return Object.fromEntries(
    names.map((name) => {
      const value = token[name];
      if (typeof value !== "string") throw invalid(`${where}: is not a page token; ${name} is missing.`);
      return [name, value];
    }),
  ) as Record<Name, string>;
}

export const repositoryType = z.string().optional().describe("Accepted and ignored.");
