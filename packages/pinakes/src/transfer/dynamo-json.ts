/**
 * DynamoDB's JSON: `{"Item": {"name": {"S": "Legal"}, "private": {"BOOL": false}}}`, as in its exports to S3. Sets ("SS", "NS", "BS") and
 * bytes ("B") become lists and strings in JSON; `types` remembers them, so that they are written back unchanged.
 */
import { invalid, show } from "../domain/errors.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../domain/json.ts";
import { limits } from "../domain/limits.ts";

const lostTypes = ["SS", "NS", "BS", "B"] as const;
type LostType = (typeof lostTypes)[number];
const knownTypes: readonly string[] = ["S", "N", "BOOL", "NULL", "M", "L", ...lostTypes];

/** By path: `/allowedGroups` → "SS". */
export type AttributeTypes = Readonly<Record<string, string>>;

export interface PlainItem {
  readonly item: JsonObject;
  readonly types: AttributeTypes;
}

/** With or without `Item` around it. The keys of a plain item are strings, so the two cannot be confused. */
export function isDynamoItem(value: JsonObject): boolean {
  const item = itemIn(value);
  const attributes = Object.values(item);
  return (
    attributes.length > 0 && attributes.every((attribute) => isJsonObject(attribute) && typeOf(attribute) !== undefined)
  );
}

export function fromDynamo(value: JsonObject): PlainItem {
  const types: [string, LostType][] = [];
  const entries = Object.entries(itemIn(value)).map(([name, attribute]) => [
    name,
    plain(attribute, `/${escape(name)}`, 0, types),
  ]);
  return { item: Object.fromEntries(entries) as JsonObject, types: Object.fromEntries(types) };
}

export function toDynamo(item: JsonObject, types: AttributeTypes = {}): JsonObject {
  return {
    Item: Object.fromEntries(Object.entries(item).flatMap(([name, value]) => typedEntry(name, value, "", types))),
  };
}

/** A number that JSON preserves exactly. Others are refused: an import changes no value. */
export function exactNumber(text: string, where: string): number {
  const value = Number(text);
  const decimal = canonical(text);
  if (decimal !== undefined && Number.isFinite(value) && decimal === canonical(String(value))) return value;
  throw invalid(`${where}: ${show(text)} is not a number that JSON preserves exactly; write it as a string.`);
}

function itemIn(value: JsonObject): JsonObject {
  const item = value["Item"];
  return Object.keys(value).length === 1 && isJsonObject(item) ? item : value;
}

function typeOf(attribute: JsonObject): string | undefined {
  const [type, ...others] = Object.keys(attribute);
  return type !== undefined && others.length === 0 && knownTypes.includes(type) ? type : undefined;
}

function plain(attribute: JsonValue | undefined, path: string, depth: number, types: [string, LostType][]): JsonValue {
  if (depth > limits.documentDepthMax)
    throw invalid(`${path}: is nested deeper than ${limits.documentDepthMax} levels.`);
  const type = isJsonObject(attribute) ? typeOf(attribute) : undefined;
  if (!isJsonObject(attribute) || type === undefined)
    throw invalid(`${path}: ${show(attribute)} is not an attribute such as { "S": "text" }.`);
  const value = attribute[type];
  const wrong = () => invalid(`${path}: ${show(value)} is not the value of a ${type}.`);
  const lost = lostTypes.find((name) => name === type);
  if (lost !== undefined) types.push([path, lost]);
  if (type === "N") return number(value, path);
  if (type === "NULL") return null;
  if (type === "BOOL") {
    if (typeof value !== "boolean") throw wrong();
    return value;
  }
  if (type === "S" || type === "B") {
    if (typeof value !== "string") throw wrong();
    return value;
  }
  if (type === "M") {
    if (!isJsonObject(value)) throw wrong();
    return Object.fromEntries(
      Object.entries(value).map(([name, child]) => [name, plain(child, `${path}/${escape(name)}`, depth + 1, types)]),
    );
  }
  if (!Array.isArray(value)) throw wrong();
  const elements = value as readonly JsonValue[];
  if (type === "L") return elements.map((child, i) => plain(child, `${path}/${i}`, depth + 1, types));
  return elements.map((element) => {
    if (typeof element !== "string") throw wrong();
    return type === "NS" ? exactNumber(element, path) : element;
  });
}

/** DynamoDB writes numbers as strings; other tools as numbers. */
function number(value: JsonValue | undefined, path: string): number {
  if (typeof value === "number") return value;
  if (typeof value !== "string") throw invalid(`${path}: ${show(value)} is not the value of an N.`);
  return exactNumber(value, path);
}

function typedEntry(
  name: string,
  value: JsonValue | undefined,
  above: string,
  types: AttributeTypes,
): [string, JsonValue][] {
  return value === undefined ? [] : [[name, typed(value, `${above}/${escape(name)}`, types)]];
}

function typed(value: JsonValue, path: string, types: AttributeTypes): JsonValue {
  if (value === null) return { NULL: true };
  if (typeof value === "string") return types[path] === "B" ? { B: value } : { S: value };
  if (typeof value === "number") return { N: String(value) };
  if (typeof value === "boolean") return { BOOL: value };
  if (isJsonObject(value))
    return {
      M: Object.fromEntries(Object.entries(value).flatMap(([name, child]) => typedEntry(name, child, path, types))),
    };
  return set(value, types[path]) ?? { L: value.map((child, i) => typed(child, `${path}/${i}`, types)) };
}

/** A set, if it was one and still can be: not empty, no duplicates, all of the type. */
function set(list: readonly JsonValue[], type: string | undefined): JsonObject | undefined {
  if (type !== "SS" && type !== "NS" && type !== "BS") return undefined;
  const fits = list.every((element) => typeof element === (type === "NS" ? "number" : "string"));
  return fits && list.length > 0 && new Set(list).size === list.length ? { [type]: list.map(String) } : undefined;
}

/** Digits and exponent without leading and trailing zeros. */
function canonical(text: string): string | undefined {
  const match = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,6}))?$/.exec(text.trim());
  const [, sign, whole = "", fraction = "", exponent = "0"] = match ?? [];
  if (match === null || whole + fraction === "") return undefined;
  const digits = (whole + fraction).replace(/^0+/, "");
  const short = digits.replace(/0+$/, "");
  if (short === "") return "0";
  return `${sign === "-" ? "-" : ""}${short}e${Number(exponent) - fraction.length + digits.length - short.length}`;
}

function escape(name: string): string {
  return name.replaceAll("~", "~0").replaceAll("/", "~1");
}
