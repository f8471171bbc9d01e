/** Aggregates (18.5.1). `result` is undefined if the aggregate is an error; its variable then stays unbound. */
import { PinakesError } from "../domain/errors.ts";
import { literal, termOf, type TermText } from "../domain/rdf.ts";
import { compareForOrder } from "./expressions/compare.ts";
import { calculate, integer, numericOf, numericText, type Numeric } from "./expressions/numbers.ts";
import { sparqlLimits } from "./limits.ts";

export interface Accumulator {
  /** Undefined stands for a row for which the expression is an error. */
  add(value: TermText | undefined): void;
  result(): TermText | undefined;
}

const zero: Numeric = { kind: "integer", digits: 0n, scale: 0 };

export function accumulatorOf(name: string, separator: string | undefined): Accumulator {
  switch (name) {
    case "count":
      return counting();
    case "sum":
    case "avg":
      return summing(name === "avg");
    case "min":
    case "max":
      return extreme(name === "max" ? 1 : -1);
    case "sample":
      return sampling();
    case "group_concat":
      return concatenating(separator ?? " ");
    default:
      throw new PinakesError("NOT_SUPPORTED", `SPARQL: the aggregate ${name.toUpperCase()} is not supported.`);
  }
}

function counting(): Accumulator {
  let count = 0;
  return {
    add: (value) => {
      if (value !== undefined) count += 1;
    },
    result: () => integer(count),
  };
}

/** A single non-numeric value makes the whole aggregate an error. */
function summing(average: boolean): Accumulator {
  let sum: Numeric | undefined = zero;
  let count = 0n;
  return {
    add: (value) => {
      const number = value === undefined ? undefined : numericOf(value);
      sum = sum === undefined || number === undefined ? undefined : calculate("+", sum, number);
      count += 1n;
    },
    result: () => {
      if (sum === undefined) return undefined;
      const whole = average && count > 0n ? calculate("/", sum, { kind: "integer", digits: count, scale: 0 }) : sum;
      return whole === undefined ? undefined : numericText(whole);
    },
  };
}

/** In the order of ORDER BY; a single error makes the whole aggregate an error. */
function extreme(sign: 1 | -1): Accumulator {
  let best: TermText | undefined;
  let failed = false;
  return {
    add: (value) => {
      if (value === undefined) failed = true;
      else if (best === undefined || compareForOrder(value, best) * sign > 0) best = value;
    },
    result: () => (failed ? undefined : best),
  };
}

function sampling(): Accumulator {
  let sample: TermText | undefined;
  return {
    add: (value) => {
      sample ??= value;
    },
    result: () => sample,
  };
}

function concatenating(separator: string): Accumulator {
  const parts: string[] = [];
  let [chars, failed] = [0, false];
  return {
    add: (value) => {
      const term = value === undefined ? undefined : termOf(value);
      if (term === undefined || term.type === "blank") {
        failed = true;
        return;
      }
      parts.push(term.value);
      chars += term.value.length + separator.length;
      if (chars > sparqlLimits.madeCharsMax + separator.length)
        throw new PinakesError(
          "LIMIT_EXCEEDED",
          `SPARQL: GROUP_CONCAT produces a string of more than ${sparqlLimits.madeCharsMax} characters (madeCharsMax).`,
        );
    },
    result: () => (failed ? undefined : literal(parts.join(separator))),
  };
}
