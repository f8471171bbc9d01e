/**
 * A zod schema in the form the SDK expects, with its JSON Schema computed once. A server is built for each request, and zod would convert
 * every schema of every tool again each time.
 */
import type { StandardSchemaWithJSON } from "@modelcontextprotocol/server";
import { z } from "zod";

const converted = new WeakMap<z.ZodType, StandardSchemaWithJSON>();

/** `checked: false`: any value passes; the JSON Schema is the same. */
export function standardSchema(schema: z.ZodType, { checked = true } = {}): StandardSchemaWithJSON {
  const known = converted.get(schema);
  if (known !== undefined) return known;
  const convert = (io: "input" | "output"): (() => Record<string, unknown>) => {
    let json: Record<string, unknown> | undefined;
    return () => (json ??= z.toJSONSchema(schema, { target: "draft-2020-12", io, unrepresentable: "any" }));
  };
  const { validate } = schema["~standard"];
  const standard: StandardSchemaWithJSON = {
    "~standard": {
      version: 1,
      vendor: "pinakes",
      validate: (value: unknown) => (checked ? validate(value) : { value }),
      // An output is validated as it is sent, so both directions use the schema's input.
      jsonSchema: { input: convert("input"), output: convert("input") },
    },
  };
  converted.set(schema, standard);
  return standard;
}
