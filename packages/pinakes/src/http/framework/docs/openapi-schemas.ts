/**
 * zod schemas as JSON schemas of one document. A schema with `.meta({ id })` becomes a component; if input and output differ (defaults),
 * the input form gets the suffix "Input".
 */
import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { invariant } from "../../../domain/invariant.ts";

export interface JsonSchema {
  readonly [key: string]: unknown;
}
export type Direction = "input" | "output";

type Definitions = JsonSchema & { readonly $defs?: Readonly<Record<string, JsonSchema>> };

const definitions = "#/$defs/";
const components = "#/components/schemas/";

export class SchemaBook {
  readonly #byDirection: Readonly<Record<Direction, Map<string, JsonSchema>>> = { input: new Map(), output: new Map() };

  /** Names of parts without an id of their own, by their full text: equal parts share one name. */
  readonly #parts = new Map<string, string>();

  /** The schema for use in the document: a reference if it has an id, or refers to itself; then `called` is its name. */
  inline(schema: z.ZodType, direction: Direction, called: string): JsonSchema {
    const { $defs = {}, ...json } = this.#named(schema, direction, called);
    for (const [name, definition] of Object.entries($defs)) this.#add(name, definition, direction);
    return retarget(json, direction) as JsonSchema;
  }

  #named(schema: z.ZodType, direction: Direction, called: string): Definitions {
    const {
      $schema: _schema,
      $defs = {},
      ...json
    } = z.toJSONSchema(schema, {
      target: "draft-2020-12",
      io: direction,
      unrepresentable: "any",
      override: ({ jsonSchema }) => tidy(jsonSchema),
    }) as Definitions;
    const nameless = Object.entries($defs).filter(([name]) => name.startsWith("__"));
    const parts = this.#nameOf(JSON.stringify(nameless), `${called}Part`);
    const names = new Map(
      nameless.map(([name, definition], i) => [
        name,
        isJsonValue(definition, definitions + name) ? jsonValueName : `${parts}${i + 1}`,
      ]),
    );
    if (isJsonValue(json, "#"))
      return { $ref: definitions + jsonValueName, ...described(json), $defs: { [jsonValueName]: jsonValue } };
    const root = this.#nameOf(JSON.stringify(json), called);
    let refersToItself = false;
    const renamed = (value: unknown): unknown =>
      mapReferences(value, (reference) => {
        refersToItself ||= reference === "#";
        if (reference === "#") return definitions + root;
        const name = reference.slice(definitions.length);
        return definitions + (names.get(name) ?? name);
      });
    const all = Object.fromEntries(
      Object.entries($defs).map(([name, definition]) => {
        const own = names.get(name) ?? name;
        return [own, own === jsonValueName ? jsonValue : (renamed(definition) as JsonSchema)];
      }),
    );
    const whole = renamed(json) as JsonSchema;
    return refersToItself ? { $ref: definitions + root, $defs: { ...all, [root]: whole } } : { ...whole, $defs: all };
  }

  #nameOf(text: string, proposed: string): string {
    const name = this.#parts.get(text) ?? proposed;
    this.#parts.set(text, name);
    return name;
  }

  /** To be called after all schemas were added: the components by name. */
  components(): Record<string, JsonSchema> {
    const { input, output } = this.#byDirection;
    const apart = this.#apart();
    const all = new Map([...output].map(([name, schema]) => [name, retarget(schema, "output") as JsonSchema]));
    for (const [name, schema] of input)
      all.set(apart.has(name) ? inputName(name) : name, retarget(schema, "input") as JsonSchema);
    return Object.fromEntries([...all].toSorted(([a], [b]) => (a < b ? -1 : 1)));
  }

  /** Merges names of schemas that are the same in both directions. */
  merged<T>(value: T): T {
    const apart = this.#apart();
    const same = [...this.#byDirection.input.keys()].filter((name) => !apart.has(name));
    const renamed = new Map(same.map((name) => [components + inputName(name), components + name]));
    return mapReferences(value, (reference) => renamed.get(reference) ?? reference) as T;
  }

  /** Names whose two forms differ, directly or through references. */
  #apart(): ReadonlySet<string> {
    const { input, output } = this.#byDirection;
    const apart = new Set(
      [...input]
        .filter(([name, schema]) => output.has(name) && !isDeepStrictEqual(schema, output.get(name)))
        .map(([name]) => name),
    );
    for (let before = -1; before !== apart.size;) {
      before = apart.size;
      for (const [name, schema] of input) {
        mapReferences(schema, (reference) => {
          if (output.has(name) && apart.has(reference.slice(definitions.length))) apart.add(name);
          return reference;
        });
      }
    }
    return apart;
  }

  #add(name: string, definition: JsonSchema, direction: Direction): void {
    invariant(
      /^\w+$/.test(name) && name !== "Problem",
      "INTERNAL",
      `"${name}" cannot be the id of a schema; use letters and digits.`,
    );
    const known = this.#byDirection[direction].get(name);
    invariant(
      known === undefined || isDeepStrictEqual(known, definition),
      "INTERNAL",
      `Two different schemas have the id "${name}".`,
    );
    this.#byDirection[direction].set(name, definition);
  }
}

/**
 * zod writes any JSON value as a union that refers to itself, once per use. Generators cannot create a type for that (`openapi-typescript`:
 * referenced in its own type annotation); a schema without constraints means the same.
 */
const jsonValueName = "JsonValue";
const jsonValue: JsonSchema = { description: "Any JSON value." };

function isJsonValue({ anyOf }: JsonSchema, self: string): boolean {
  const item = { $ref: self };
  const scalars = ["string", "number", "boolean", "null"].map((type) => ({ type }));
  return isDeepStrictEqual(anyOf, [
    ...scalars,
    { type: "array", items: item },
    { type: "object", additionalProperties: item },
  ]);
}

function described({ description }: JsonSchema): JsonSchema {
  return description === undefined ? {} : { description };
}

function inputName(name: string): string {
  return `${name}Input`;
}

function retarget(value: unknown, direction: Direction): unknown {
  return mapReferences(value, (reference) => {
    if (!reference.startsWith(definitions)) return reference;
    const name = reference.slice(definitions.length);
    return components + (direction === "input" ? inputName(name) : name);
  });
}

function mapReferences(value: unknown, change: (reference: string) => string): unknown {
  if (Array.isArray(value)) return value.map((element) => mapReferences(element, change));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, child]) => [
      key,
      key === "$ref" && typeof child === "string" ? change(child) : mapReferences(child, change),
    ]),
  );
}

/** Keywords that zod adds for programs and that are useless to readers. */
function tidy(schema: Record<string, unknown>): void {
  if (schema["maximum"] === Number.MAX_SAFE_INTEGER) delete schema["maximum"];
  if (schema["minimum"] === Number.MIN_SAFE_INTEGER) delete schema["minimum"];
  if (schema["format"] === "date-time" || schema["format"] === "date") delete schema["pattern"];
  if (isDeepStrictEqual(schema["propertyNames"], { type: "string" })) delete schema["propertyNames"];
  delete schema["id"];
}
