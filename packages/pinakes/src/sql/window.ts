/** Applies OFFSET, LIMIT and TOP over all pages of a query, and the limits of one page. */
import type { JsonObject, JsonValue } from "../domain/json.ts";
import { sqlLimits } from "./limits.ts";
import { sizeOf } from "./rows.ts";
import type { Value } from "./expressions/values.ts";

export class Window {
  readonly items: JsonValue[] = [];
  readonly #pageItems: number;
  #skip: number;
  /** Items that may still be returned; undefined means unlimited. */
  #left: number | undefined;
  #chars = 0;

  constructor(pageItems: number, skip: number, left: number | undefined) {
    this.#pageItems = pageItems;
    this.#skip = skip;
    this.#left = left;
  }

  /** The state stored in a cursor. */
  static resume(pageItems: number, state: JsonObject): Window {
    return new Window(pageItems, state["skip"] as number, state["left"] as number | undefined);
  }

  get state(): JsonObject {
    return { skip: this.#skip, ...(this.#left === undefined ? {} : { left: this.#left }) };
  }

  /** No more items are needed, on this page or any other. */
  get over(): boolean {
    return this.#left === 0;
  }

  get full(): boolean {
    return this.over || this.items.length >= this.#pageItems || this.#chars >= sqlLimits.pageCharsMax;
  }

  /** How many more rows this page could use, including those to skip. */
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
