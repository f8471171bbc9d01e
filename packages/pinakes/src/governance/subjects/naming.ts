/** Whether a document names the subject, and the document without that. Pure. */
import type { JsonObject, JsonValue } from "../../domain/json.ts";
import { isJsonObject } from "../../domain/json.ts";
import { namingKeys, namingObjects, type Subject } from "./subject.ts";

/** The placeholder for an id. */
export const erasedText = "erased";
const erasedObject: JsonObject = { erased: true };
/** Lists of ids, from which one disappears. */
const listKeys: ReadonlySet<string> = new Set(["act_as", "allowed_users", "users", "members", "participants"]);
/** Their elements have a fixed shape, so only names in them change. */
const shapedLists: ReadonlySet<string> = new Set(["agents", "versions"]);
const depthMax = 100;

export class Naming {
  readonly subject: Subject;
  readonly #keys: ReadonlySet<string>;
  readonly #paths: readonly (readonly string[])[];

  constructor(subject: Subject) {
    this.subject = subject;
    this.#keys = new Set(namingKeys[subject.type]);
    this.#paths = subject.paths.map((path) => path.split("."));
  }

  /** By one of the paths: the document belongs to the subject. */
  names(document: JsonObject): boolean {
    if (this.#namedIn(document)) return true;
    if (namingObjects.some((name) => this.#namedIn(document[name]))) return true;
    return this.#paths.some((path) => this.#isId(valueAt(document, path)));
  }

  /** Without the objects and strings that name the subject; undefined if none does. */
  redacted(document: JsonObject): JsonObject | undefined {
    const changed = this.#shaped(document, 0);
    return changed === document ? undefined : changed;
  }

  /** By a key of this object itself. */
  namesIn(value: unknown): boolean {
    return this.#namedIn(value);
  }

  #isId(value: unknown): boolean {
    return value === this.subject.id;
  }

  #namedIn(value: unknown): boolean {
    return isJsonObject(value) && [...this.#keys].some((key) => this.#isId(value[key]));
  }

  /** An object whose shape others rely on: its names are replaced one by one. */
  #shaped(value: JsonObject, depth: number): JsonObject {
    return this.#mapped(value, (key, inner) => {
      if (this.#keys.has(key) && this.#isId(inner)) return erasedText;
      if (key === "agents" && Array.isArray(inner)) return this.#list(inner, (one) => this.#agent(one, depth + 1));
      if (shapedLists.has(key) && Array.isArray(inner))
        return this.#list(inner, (one) => (isJsonObject(one) ? this.#shaped(one, depth + 1) : one));
      if ((namingObjects as readonly string[]).includes(key) && isJsonObject(inner))
        return this.#shaped(inner, depth + 1);
      return this.#free(key, inner, depth + 1);
    });
  }

  /** An agent of a workflow; its progress is removed together with its name. */
  #agent(value: JsonValue, depth: number): JsonValue {
    if (!isJsonObject(value)) return value;
    const shaped = this.#shaped(value, depth);
    return this.#namedIn(value) ? { ...shaped, agent_name: erasedText, result: null } : shaped;
  }

  /** A value of any shape: an object that names the subject goes as a whole. */
  #free(key: string, value: JsonValue, depth: number): JsonValue {
    if (depth > depthMax) return value;
    if (Array.isArray(value)) {
      const kept = listKeys.has(key) ? value.filter((one) => !this.#isId(one)) : value;
      const list = this.#list(kept, (one) => this.#free("", one, depth + 1));
      return list.length === value.length && list === kept ? value : list;
    }
    if (!isJsonObject(value)) return this.#keys.has(key) && this.#isId(value) ? erasedText : value;
    if (this.#namedIn(value)) return erasedObject;
    return this.#mapped(value, (name, inner) => this.#free(name, inner, depth + 1));
  }

  #mapped(value: JsonObject, change: (key: string, inner: JsonValue) => JsonValue): JsonObject {
    let changed = false;
    const entries = Object.entries(value).map(([key, inner]) => {
      if (inner === undefined) return [key, inner] as const;
      const next = change(key, inner);
      changed ||= next !== inner;
      return [key, next] as const;
    });
    return changed ? Object.fromEntries(entries) : value;
  }

  #list(value: readonly JsonValue[], change: (one: JsonValue) => JsonValue): readonly JsonValue[] {
    const next = value.map(change);
    return next.some((one, i) => one !== value[i]) ? next : value;
  }
}

function valueAt(document: JsonObject, path: readonly string[]): unknown {
  return path.reduce<unknown>((value, key) => (isJsonObject(value) ? value[key] : undefined), document);
}
