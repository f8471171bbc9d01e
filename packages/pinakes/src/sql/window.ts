/** OFFSET, LIMIT and TOP over all pages of a query, and the bounds of one page. */
import type { JsonObject, JsonValue } from "../domain/json.ts";
import { sqlLimits } from "./limits.ts";
import { sizeOf } from "./rows.ts";
import type { Value } from "./expressions/values.ts";

export class Window {
  readonly items: JsonValue[] = [];
  readonly #pageItems: number;
  #skip: number;
  /** Items that may still be given; undefined: any number. */
  #left: number | undefined;
  #chars = 0;

  constructor(pageItems: number, skip: number, left: number | undefined) {
    this.#pageItems = pageItems;
    this.#skip = skip;
    this.#left = left;
  }

  /** As it was when a cursor was made. */
  static resume(pageItems: number, state: JsonObject): Window {
    return new Window(pageItems, state["skip"] as number, state["left"] as number | undefined);
  }

  get state(): JsonObject {
    return { skip: this.#skip, ...(this.#left === undefined ? {} : { left: this.#left }) };
  }

  /** Nothing more is wanted, on this page or any other. */
  get over(): boolean {
    return this.#left === 0;
  }

  get full(): boolean {
    return this.over || this.items.length >= this.#pageItems || this.#chars >= sqlLimits.pageCharsMax;
  }

  /** How many more rows could be used on this page, those to skip included. */
  get wanted(): number {
    return this.#skip + Math.min(this.#pageItems - this.items.length, this.#left ?? Infinity);
  }

  add(value: Value): void {
    if (value === undefined) return;
    if (this.#skip > 0) {
      this.#skip -= 1;
      return;
    }
    this.items.push(value);
    this.#chars += sizeOf(value);
    if (this.#left !== undefined) this.#left -= 1;
  }
}
