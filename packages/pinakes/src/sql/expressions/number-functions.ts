/** Numeric functions. A result that is not a finite number is undefined. */
import type { SqlFunction } from "./functions.ts";
import { finite } from "./values.ts";

const one = (of: (value: number) => number): SqlFunction => ({
  min: 1,
  max: 1,
  of: ([value]) => (typeof value === "number" ? finite(of(value)) : undefined),
});

const two = (of: (a: number, b: number) => number): SqlFunction => ({
  min: 2,
  max: 2,
  of: ([a, b]) => (typeof a === "number" && typeof b === "number" ? finite(of(a, b)) : undefined),
});

export const numberFunctions: Readonly<Record<string, SqlFunction>> = {
  ACOS: one(Math.acos),
  ASIN: one(Math.asin),
  ATAN: one(Math.atan),
  ATN2: two(Math.atan2),
  COS: one(Math.cos),
  COT: one((value) => 1 / Math.tan(value)),
  DEGREES: one((value) => (value * 180) / Math.PI),
  EXP: one(Math.exp),
  LOG: {
    min: 1,
    max: 2,
    of: ([value, base]) =>
      typeof value === "number" && (base === undefined || typeof base === "number")
        ? finite(base === undefined ? Math.log(value) : Math.log(value) / Math.log(base))
        : undefined,
  },
  LOG10: one(Math.log10),
  PI: { min: 0, max: 0, of: () => Math.PI },
  POWER: two((value, exponent) => value ** exponent),
  RADIANS: one((value) => (value * Math.PI) / 180),
  SIGN: one(Math.sign),
  SIN: one(Math.sin),
  SQRT: one(Math.sqrt),
  SQUARE: one((value) => value * value),
  TAN: one(Math.tan),
  TRUNC: one(Math.trunc),
  IS_FINITE_NUMBER: { min: 1, max: 1, of: ([value]) => typeof value === "number" },
  IS_INTEGER: { min: 1, max: 1, of: ([value]) => Number.isInteger(value) },
  IS_PRIMITIVE: {
    min: 1,
    max: 1,
    of: ([value]) => value === null || (value !== undefined && typeof value !== "object"),
  },
};
