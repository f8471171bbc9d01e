/** A JSON schema as table rows: name, type, meaning. Nested objects follow their parent, indented by one step. */
import type { JsonSchema } from "./openapi-schemas.ts";

export interface FieldRow {
  readonly name: string;
  readonly depth: number;
  readonly type: string;
  readonly required: boolean;
  readonly description: string;
  /** "default 10", "1–1,000", "≤ 100 characters". */
  readonly constraints: readonly string[];
}

export type Schemas = Readonly<Record<string, JsonSchema>>;

const depthMax = 5;
const prefix = "#/components/schemas/";

export function fieldRows(schema: JsonSchema, schemas: Schemas, depth = 0, above: readonly string[] = []): FieldRow[] {
  const { target, names } = resolve(schema, schemas);
  if (depth > depthMax || names.some((name) => above.includes(name))) return [];
  const inner = [...above, ...names];
  const branches = (target["anyOf"] ?? target["oneOf"] ?? target["allOf"]) as readonly JsonSchema[] | undefined;
  if (branches !== undefined) return unique(branches.flatMap((branch) => fieldRows(branch, schemas, depth, inner)));
  if (target["type"] === "array" && isObject(target["items"])) return fieldRows(target["items"], schemas, depth, inner);
  const required = new Set((target["required"] ?? []) as readonly string[]);
  return Object.entries((target["properties"] ?? {}) as Schemas).flatMap(([name, property]) => [
    row(name, property, schemas, required.has(name), depth),
    ...fieldRows(property, schemas, depth + 1, inner),
  ]);
}

export function typeName(schema: JsonSchema): string {
  const { $ref } = schema;
  // Whether a schema has a separate input form only matters to programs.
  if (typeof $ref === "string") return $ref.slice(prefix.length).replace(/Input$/, "");
  if ("const" in schema) return JSON.stringify(schema["const"]);
  if (Array.isArray(schema["enum"])) return schema["enum"].map((value) => JSON.stringify(value)).join(" | ");
  const branches = (schema["anyOf"] ?? schema["oneOf"]) as readonly JsonSchema[] | undefined;
  if (branches !== undefined) return [...new Set(branches.map((branch) => typeName(branch)))].join(" | ");
  const type = schema["type"];
  if (Array.isArray(type)) return type.join(" | ");
  if (type === "array") return isObject(schema["items"]) ? `list of ${typeName(schema["items"])}` : "list";
  if (type === "string" && schema["format"] === "date-time") return "time";
  if (type === "string" && schema["contentMediaType"] !== undefined) return "file";
  return typeof type === "string" ? type : "any";
}

/** An example value; a string placeholder is its name in capitals, as in the path. */
export function exampleOf(schema: JsonSchema, schemas: Schemas, name = "text", depth = 0): unknown {
  const { target } = resolve(schema, schemas);
  if (Array.isArray(target["examples"]) && target["examples"].length > 0) return target["examples"][0] as unknown;
  if ("default" in target) return target["default"];
  if ("const" in target) return target["const"];
  if (Array.isArray(target["enum"])) return target["enum"][0] as unknown;
  const branches = (target["anyOf"] ?? target["oneOf"]) as readonly JsonSchema[] | undefined;
  if (branches?.[0] !== undefined) return exampleOf(branches[0], schemas, name, depth);
  const type = Array.isArray(target["type"]) ? (target["type"][0] as unknown) : target["type"];
  if (type === "array")
    return depth < depthMax && isObject(target["items"]) ? [exampleOf(target["items"], schemas, name, depth + 1)] : [];
  if (type === "object") return exampleObject(target, schemas, depth);
  if (type === "string") return target["format"] === "date-time" ? "2030-01-01T00:00:00.000Z" : name.toUpperCase();
  if (type === "integer" || type === "number") return target["minimum"] ?? 1;
  return type === "boolean" ? true : null;
}

/** Only required fields: short examples are better. */
function exampleObject(target: JsonSchema, schemas: Schemas, depth: number): unknown {
  if (depth >= depthMax) return {};
  const properties = (target["properties"] ?? {}) as Schemas;
  const required = (target["required"] ?? []) as readonly string[];
  return Object.fromEntries(
    required.flatMap((name) =>
      properties[name] === undefined ? [] : [[name, exampleOf(properties[name], schemas, name, depth + 1)]],
    ),
  );
}

export function constraintsOf(schema: JsonSchema): string[] {
  const { minimum, maximum, minLength, maxLength, minItems, maxItems, pattern, default: fallback } = schema;
  const found = [
    range(minimum, maximum, ""),
    range(minLength, maxLength, " characters"),
    range(minItems, maxItems, " elements"),
  ];
  if (typeof pattern === "string" && pattern.length <= 60) found.push(`matches ${pattern}`);
  if (fallback !== undefined) found.push(`default ${JSON.stringify(fallback)}`);
  return found.filter((text) => text !== undefined);
}

function range(min: unknown, max: unknown, unit: string): string | undefined {
  const show = (value: unknown): string => Number(value).toLocaleString("en-US");
  if (min !== undefined && max !== undefined) return `${min === max ? show(min) : `${show(min)}–${show(max)}`}${unit}`;
  if (max !== undefined) return `≤ ${show(max)}${unit}`;
  return min === undefined || (min === 0 && unit !== "") ? undefined : `≥ ${show(min)}${unit}`;
}

function row(name: string, schema: JsonSchema, schemas: Schemas, required: boolean, depth: number): FieldRow {
  const { target } = resolve(schema, schemas);
  const described = (schema["description"] ?? target["description"] ?? "") as string;
  return {
    name,
    depth,
    type: typeName(schema),
    required,
    description: described,
    constraints: constraintsOf({ ...target, ...schema }),
  };
}

function resolve(schema: JsonSchema, schemas: Schemas): { target: JsonSchema; names: readonly string[] } {
  const names: string[] = [];
  let target = schema;
  while (typeof target["$ref"] === "string" && names.length < depthMax) {
    const name = target["$ref"].slice(prefix.length);
    names.push(name);
    target = schemas[name] ?? {};
  }
  return { target, names };
}

/** The variants of a union share most of their fields; one row per field is enough. */
function unique(rows: readonly FieldRow[]): FieldRow[] {
  const seen = new Set<string>();
  return rows.filter(({ name, depth, type }) => {
    const key = `${depth} ${name} ${type}`;
    return seen.has(key) ? false : Boolean(seen.add(key));
  });
}

function isObject(value: unknown): value is JsonSchema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
