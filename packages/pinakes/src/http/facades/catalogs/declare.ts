/** Common parts of the routes of the facade: parameters, descriptions of the tools, and the error format. */
import { z } from "zod";
import { catalogErrorOf, catalogTools, errorEnvelope } from "../../../catalogs/index.ts";
import type { PinakesError } from "../../../domain/errors.ts";
import { errors } from "./answers.ts";

export const cid = z.string().describe("The id of a catalog.");
export const did = z.string().describe("The id of a document.");
export const sid = z.string().describe("A name of the client's choice for its session, 1–256 characters.");

/** Properties of every route of the facade. */
export const common = {
  tag: "catalogs",
  auth: "caller",
  errors,
  errorBody: (error: PinakesError) => errorEnvelope(catalogErrorOf(error)),
} as const;

/** The description of the tool. */
export function described(name: string, summary?: string): { readonly summary: string; readonly description?: string } {
  const tool = catalogTools.find((one) => one.name === name);
  return { summary: summary ?? tool?.title ?? name, ...(tool === undefined ? {} : { description: tool.description }) };
}

/** For documentation; the tool validates it. */
export function bodyOf(name: string, ...inPath: readonly string[]): z.ZodType {
  const { input } = catalogTools.find((one) => one.name === name) ?? { input: z.object({}) };
  const { $schema: _, ...schema } = z.toJSONSchema(input, { io: "input" });
  const properties = Object.entries(schema.properties ?? {}).filter(([field]) => !inPath.includes(field));
  const required = (schema.required ?? []).filter((field) => !inPath.includes(field));
  return z.unknown().meta({ ...schema, properties: Object.fromEntries(properties), required });
}
