/** Functions of arrays, sets and objects. */
import type { JsonValue } from "../../domain/json.ts";
import type { SqlFunction } from "./functions.ts";
import { compareByType, equal, finite, isObject, type Value } from "./values.ts";

type Items = readonly JsonValue[];

const ofArray = (of: (items: Items) => Value): SqlFunction => ({
  min: 1,
  max: 1,
  of: ([items]) => (Array.isArray(items) ? of(items as Items) : undefined),
});

/** For numbers only; any other element makes the result undefined. */
const ofNumbers = (of: (numbers: readonly number[]) => Value): SqlFunction =>
  ofArray((items) => (items.every((item) => typeof item === "number") ? of(items) : undefined));

const ofTwoSets = (of: (a: Items, b: Items) => JsonValue): SqlFunction => ({
  min: 2,
  max: 2,
  of: ([a, b]) => (Array.isArray(a) && Array.isArray(b) ? of(a as Items, b as Items) : undefined),
});

const wanted = (test: (items: Items, values: Items) => boolean): SqlFunction => ({
  min: 2,
  max: Infinity,
  of: ([items, ...values]) =>
    Array.isArray(items) && !values.includes(undefined) ? test(items as Items, values as Items) : undefined,
});

const holds = (items: Items, value: JsonValue): boolean => items.some((item) => equal(item, value));

export const arrayFunctions: Readonly<Record<string, SqlFunction>> = {
  ARRAY_CONCAT: {
    min: 2,
    max: Infinity,
    of: (arrays) => (arrays.every(Array.isArray) ? (arrays as unknown as Items[]).flat(1) : undefined),
  },
  ARRAY_SLICE: { min: 2, max: 3, of: slice },
  ARRAY_CONTAINS_ANY: wanted((items, values) => values.some((value) => holds(items, value))),
  ARRAY_CONTAINS_ALL: wanted((items, values) => values.every((value) => holds(items, value))),
  ARRAY_SUM: ofNumbers((numbers) => finite(sum(numbers))),
  ARRAY_AVG: ofNumbers((numbers) => (numbers.length === 0 ? undefined : finite(sum(numbers) / numbers.length))),
  ARRAY_MIN: ofArray((items) => items.toSorted(compareByType)[0]),
  ARRAY_MAX: ofArray((items) => items.toSorted(compareByType).at(-1)),
  ARRAY_MEDIAN: ofNumbers(median),
  SETINTERSECT: ofTwoSets((a, b) => distinct(a).filter((item) => holds(b, item))),
  SETUNION: ofTwoSets((a, b) => distinct([...a, ...b])),
  OBJECTTOARRAY: {
    min: 1,
    max: 1,
    of: ([object]) =>
      isObject(object) ? Object.entries(object).map(([k, v]) => ({ k, v: v as JsonValue })) : undefined,
  },
  CHOOSE: {
    min: 2,
    max: Infinity,
    of: ([place, ...values]) => (Number.isInteger(place) ? values[(place as number) - 1] : undefined),
  },
  IIF: { min: 3, max: 3, of: ([test, whenTrue, otherwise]) => (test === true ? whenTrue : otherwise) },
};

/** A negative start counts from the end. */
function slice([items, start, length]: readonly Value[]): Value {
  if (!Array.isArray(items) || !Number.isInteger(start)) return undefined;
  if (length !== undefined && !Number.isInteger(length)) return undefined;
  const from = (start as number) < 0 ? Math.max(0, items.length + (start as number)) : (start as number);
  return (items as Items).slice(from, length === undefined ? undefined : from + Math.max(0, length as number));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, value) => total + value, 0);
}

function median(numbers: readonly number[]): Value {
  if (numbers.length === 0) return undefined;
  const sorted = numbers.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  if (Number.isInteger(middle)) return finite(((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2);
  return sorted[Math.floor(middle)];
}

function distinct(items: Items): JsonValue[] {
  return items.filter((item, i) => items.findIndex((other) => equal(other, item)) === i);
}
