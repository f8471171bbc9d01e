/** Aggregates over the rows of a group. Undefined values are not counted. */
import type { AggregateName } from "../ast.ts";
import type { JsonValue } from "../../domain/json.ts";
import { canonical, compareByType, finite, type Value } from "./values.ts";

export interface Accumulator {
  /** Returns by how many characters its memory grew. */
  add(value: Value): number | void;
  result(): Value;
}

export function accumulator(name: AggregateName): Accumulator {
  switch (name) {
    case "COUNT":
      return new Counter();
    case "COUNTIF":
      return new ConditionCounter();
    case "MAKELIST":
    case "MAKESET":
      return new Collector(name);
    case "SUM":
    case "AVG":
      return new Summer(name);
    case "MIN":
    case "MAX":
      return new Extreme(name);
  }
}

class Counter implements Accumulator {
  #count = 0;
  add(value: Value): void {
    if (value !== undefined) this.#count += 1;
  }
  result(): Value {
    return this.#count;
  }
}

class ConditionCounter implements Accumulator {
  #count = 0;
  add(value: Value): void {
    if (value === true) this.#count += 1;
  }
  result(): Value {
    return this.#count;
  }
}

/** In row order; a set contains each value once. */
class Collector implements Accumulator {
  readonly #items: JsonValue[] = [];
  readonly #seen: Set<string> | undefined;

  constructor(name: "MAKELIST" | "MAKESET") {
    this.#seen = name === "MAKESET" ? new Set() : undefined;
  }

  add(value: Value): number {
    if (value === undefined) return 0;
    const text = canonical(value);
    if (this.#seen?.has(text) === true) return 0;
    this.#seen?.add(text);
    this.#items.push(value);
    return text.length;
  }

  result(): Value {
    return this.#items;
  }
}

/** One non-numeric value makes the result undefined, as in Cosmos DB. Without values the sum is 0 and the average undefined. */
class Summer implements Accumulator {
  readonly #name: "SUM" | "AVG";
  #count = 0;
  #sum = 0;
  #broken = false;

  constructor(name: "SUM" | "AVG") {
    this.#name = name;
  }

  add(value: Value): void {
    if (value === undefined) return;
    if (typeof value !== "number") this.#broken = true;
    else {
      this.#count += 1;
      this.#sum += value;
    }
  }

  result(): Value {
    if (this.#broken) return undefined;
    if (this.#name === "SUM") return finite(this.#sum);
    return this.#count === 0 ? undefined : finite(this.#sum / this.#count);
  }
}

/** Ordered by type. Arrays and objects are unordered: one of them makes the result undefined. */
class Extreme implements Accumulator {
  readonly #sign: number;
  #best: Value;
  #broken = false;

  constructor(name: "MIN" | "MAX") {
    this.#sign = name === "MIN" ? 1 : -1;
  }

  add(value: Value): void {
    if (value === undefined) return;
    if (typeof value === "object" && value !== null) this.#broken = true;
    else if (this.#best === undefined || this.#sign * compareByType(value, this.#best) < 0) this.#best = value;
  }

  result(): Value {
    return this.#broken ? undefined : this.#best;
  }
}
