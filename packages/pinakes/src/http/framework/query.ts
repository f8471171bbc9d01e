/** Query strings: converts repeated names and strings to the values of a schema. */
import { z } from "zod";
import { show } from "../../domain/errors.ts";
import { invalidFields, validate, type FieldError } from "./validate.ts";

const queryCharsMax = 16_384;

export function readQuery<Schema extends z.ZodObject>(schema: Schema, search: URLSearchParams): z.output<Schema> {
  if (search.size > 0 && search.toString().length > queryCharsMax) {
    throw invalidFields(
      [{ path: "", message: `is longer than ${queryCharsMax} characters; send long values in the body of a POST` }],
      "query",
    );
  }
  const values: Record<string, unknown> = {};
  const errors: FieldError[] = [];
  for (const name of new Set(search.keys())) {
    const given = search.getAll(name);
    const type = Object.hasOwn(schema.shape, name) ? innerType(schema.shape[name] as z.ZodType) : undefined;
    if (type === "array") define(values, name, given);
    else if (type === "number" && given[0] === "") errors.push({ path: name, message: "is empty; expected a number" });
    else if (type === "number" && given.length === 1 && !Number.isFinite(Number(given[0])))
      errors.push({ path: name, message: `must be a number, got ${show(given[0])}` });
    else if (given.length === 1 || type === undefined) define(values, name, given[0]);
    else errors.push({ path: name, message: "is specified more than once" });
  }
  if (errors.length > 0) throw invalidFields(errors, "query");
  return validate(schema, values, "query");
}

/** ?purge=true. Only "true" and "false": any other value is more likely a mistake than a yes. */
export function queryFlag(): z.ZodType<boolean, "true" | "false"> {
  return z.enum(["true", "false"]).transform((text) => text === "true");
}

/** ?limit=20 */
export function queryInteger({
  min = Number.MIN_SAFE_INTEGER,
  max = Number.MAX_SAFE_INTEGER,
}: { min?: number; max?: number } = {}): z.ZodCoercedNumber {
  return z.coerce.number().int().min(min).max(max);
}

/** A name like __proto__ must become a property, so that it is rejected like any other unknown one. */
function define(values: Record<string, unknown>, name: string, value: unknown): void {
  Object.defineProperty(values, name, { value, enumerable: true, configurable: true, writable: true });
}

function innerType(schema: z.ZodType): string {
  const def = schema.def as { readonly type: string; readonly innerType?: z.ZodType; readonly in?: z.ZodType };
  const inner = def.innerType ?? def.in;
  return inner === undefined ? def.type : innerType(inner);
}
