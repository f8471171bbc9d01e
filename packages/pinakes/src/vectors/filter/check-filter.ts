/**
 * Rejects a filter that cannot mean what its author intends: a field that no row has, or an operand of a type that the field never has.
 * Both would silently match nothing (or, under `not`, everything).
 */
import { invalid, show } from "../../domain/errors.ts";
import { compileFilter, type Comparison, type Filter } from "../../domain/filter.ts";
import { isJsonObject } from "../../domain/json.ts";
import { nearestWord } from "../../domain/nearest-word.ts";
import { parsePath } from "../../domain/path.ts";
import type { FieldHeader } from "../segment-bytes.ts";
import { fieldName, type FieldType, type Scalar } from "./column-format.ts";

const fieldsShownMax = 20;

type Known = ReadonlyMap<string, ReadonlySet<FieldType>>;

/** `fields`: those of all segments; a path may come up several times, and has the types of all. */
export function checkFilterFields(filter: Filter, fields: readonly FieldHeader[]): void {
  compileFilter(filter);
  const known = new Map<string, Set<FieldType>>();
  for (const { path, types } of fields) {
    const seen = known.get(path) ?? new Set<FieldType>();
    for (const type of types) seen.add(type);
    known.set(path, seen);
  }
  check(filter, known, "filter");
}

function check(filter: Filter, known: Known, where: string): void {
  for (const [key, value] of Object.entries(filter)) {
    if (value === undefined) continue;
    if (key === "and" || key === "or")
      (value as readonly Filter[]).forEach((part, i) => check(part, known, `${where}.${key}[${i}]`));
    else if (key === "not") check(value as Filter, known, `${where}.not`);
    else checkCondition(key, value as Scalar | Comparison, known, `${where}.${key}`);
  }
}

function checkCondition(key: string, condition: Scalar | Comparison, known: Known, where: string): void {
  const types = known.get(fieldName(parsePath(key)));
  if (types === undefined) throw unknownField(key, known, where);
  const comparison = isJsonObject(condition) ? condition : { eq: condition };
  for (const [operator, operand] of Object.entries(comparison)) {
    if (operand === undefined || operator === "exists") continue;
    for (const value of (Array.isArray(operand) ? operand : [operand]) as Scalar[])
      checkOperand(key, types, operator, value, where, known);
  }
}

function checkOperand(
  key: string,
  types: ReadonlySet<FieldType>,
  operator: string,
  operand: Scalar,
  where: string,
  known: Known,
): void {
  const type = operand === null ? "null" : (typeof operand as FieldType);
  const fits =
    operator === "contains"
      ? types.has("array") || (types.has("string") && type === "string")
      : type === "null" || types.has(type);
  if (fits) return;
  const held = types.size === 0 ? "objects" : listed([...types].map((each) => plurals[each]));
  const got = `${operator} got the ${type === "null" ? "value null" : `${type} ${show(operand)}`}`;
  throw invalid(`${where}: ${got}, but field "${key}" only contains ${held}${advice(key, types, operator, known)}.`);
}

const plurals: Readonly<Record<FieldType, string>> = {
  null: "null",
  boolean: "booleans",
  number: "numbers",
  string: "strings",
  array: "arrays",
};

function advice(key: string, types: ReadonlySet<FieldType>, operator: string, known: Known): string {
  if (operator === "contains")
    return types.has("string")
      ? "; contains searches for a substring or an array element"
      : "; contains needs strings or arrays";
  if (types.has("array")) return `; for an element of the array use { "contains": … }`;
  const inner = [...known.keys()].find((path) => path.startsWith(`${key}.`));
  if (types.size === 0 && inner !== undefined) return `; name a property of it, such as "${inner}"`;
  return types.size === 0
    ? ""
    : `; give ${listed([...types].filter((each) => each !== "null").map((each) => `a ${each}`))}`;
}

function listed(words: readonly string[]): string {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} or ${words.at(-1)}`;
}

function unknownField(key: string, known: Known, where: string): Error {
  const paths = [...known.keys()].sort();
  if (paths.length === 0)
    return invalid(`${where}: no row has a field "${key}"; no row of the collection has metadata yet.`);
  const near = nearest(key, paths);
  const hint = near === undefined ? "" : ` Did you mean "${near}"?`;
  const more = paths.length > fieldsShownMax ? ` and ${paths.length - fieldsShownMax} more` : "";
  const shown = paths.slice(0, fieldsShownMax).map((path) => `"${path}"`);
  return invalid(`${where}: no row has a field "${key}".${hint} Known fields: ${shown.join(", ")}${more}.`);
}

/** A field that differs in case only, is nested under another, has the same last name, or differs by at most two letters. */
function nearest(key: string, paths: readonly string[]): string | undefined {
  const lower = key.toLowerCase();
  const last = lower.split(".").at(-1);
  const alike =
    paths.find((path) => path.toLowerCase() === lower) ??
    paths.find((path) => path.toLowerCase().split(".").at(-1) === last);
  return alike ?? nearestWord(key, paths, Math.min(2, Math.floor(key.length / 2)));
}
