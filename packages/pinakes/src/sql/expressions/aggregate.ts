/** COUNT, SUM, AVG, MIN and MAX over the rows of a group. Values that are undefined do not count. */
import type { AggregateName } from "../ast.ts";
import { compareByType, finite, type Value } from "./values.ts";

export interface Accumulator {
  add(value: Value): void;
  result(): Value;
}

export function accumulator(name: AggregateName): Accumulator {
  switch (name) {
    case "COUNT":
      return new Counter();
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

/** One value that is not a number makes the whole undefined, as in Cosmos DB. Of no values the sum is 0 and the average undefined. */
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

/** By the order of types. Arrays and objects have no order among themselves: one of them makes the whole undefined. */
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
