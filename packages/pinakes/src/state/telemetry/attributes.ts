/** OTLP attributes as plain values, looked up by name, newest name first. */
import { isJsonObject, type JsonObject, type JsonValue } from "../../domain/json.ts";
import type { AnyValue, KeyValue } from "./otlp-types.ts";

const depthMax = 16;

export class Attributes {
  readonly #values = new Map<string, JsonValue>();

  constructor(...lists: readonly (readonly KeyValue[])[]) {
    for (const { key, value } of lists.flat()) if (typeof key === "string") this.#values.set(key, plain(value, 0));
  }

  get(...names: readonly string[]): JsonValue | undefined {
    for (const name of names) {
      const value = this.#values.get(name);
      if (value !== undefined && value !== null) return value;
    }
    return undefined;
  }

  text(...names: readonly string[]): string | undefined {
    const value = this.get(...names);
    if (typeof value === "string") return value === "" ? undefined : value;
    return typeof value === "number" || typeof value === "boolean" ? String(value) : undefined;
  }

  number(...names: readonly string[]): number | undefined {
    const value = this.get(...names);
    const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
    return typeof number === "number" && Number.isFinite(number) ? number : undefined;
  }

  /** All strings, numbers and booleans, as strings; empty ones are omitted. */
  texts(): readonly (readonly [string, string])[] {
    return [...this.#values.keys()].flatMap((key) => {
      const value = this.text(key);
      return value === undefined ? [] : [[key, value] as const];
    });
  }

  /** Input or output of a tool: an object, or its JSON text, as most senders write it. */
  json(...names: readonly string[]): JsonValue | undefined {
    const value = this.get(...names);
    if (typeof value !== "string") return value;
    try {
      return JSON.parse(value) as JsonValue;
    } catch {
      return value;
    }
  }

  /** A canonical text of a set of attributes. */
  fingerprint(): string {
    return JSON.stringify([...this.#values].toSorted(([a], [b]) => (a < b ? -1 : 1)));
  }
}

export function asObject(value: JsonValue | undefined): JsonObject {
  if (value === undefined || value === null) return {};
  return isJsonObject(value) ? value : { value };
}

function plain(value: AnyValue | null | undefined, depth: number): JsonValue {
  if (typeof value !== "object" || value === null || depth > depthMax) return null;
  const { stringValue, boolValue, intValue, doubleValue, arrayValue, kvlistValue, bytesValue } = value;
  if (typeof stringValue === "string") return stringValue;
  if (typeof boolValue === "boolean") return boolValue;
  if (intValue !== undefined && intValue !== null) return finite(intValue);
  if (doubleValue !== undefined && doubleValue !== null) return finite(doubleValue);
  if (Array.isArray(arrayValue?.values)) return arrayValue.values.map((element: AnyValue) => plain(element, depth + 1));
  if (Array.isArray(kvlistValue?.values)) {
    return Object.fromEntries(
      (kvlistValue.values as readonly KeyValue[]).flatMap(({ key, value: of }) =>
        typeof key === "string" ? [[key, plain(of, depth + 1)]] : [],
      ),
    );
  }
  if (typeof bytesValue === "string") return bytesValue;
  return bytesValue instanceof Uint8Array ? Buffer.from(bytesValue).toString("base64") : null;
}

function finite(value: unknown): number | null {
  const number = Number(value);
  return Number.isFinite(number) ? number : null;
}
