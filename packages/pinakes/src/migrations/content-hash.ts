/**
 * The hash of a set of rows: the sum modulo 2^256 of the SHA-256 of each. Equal sets have equal hashes in any order, and unlike with XOR
 * two equal rows do not cancel out. Always compared together with the count (RFC 0009).
 */
import { hash } from "node:crypto";
import type { JsonValue } from "../domain/json.ts";
import { canonicalPairs } from "../runtime/canonical-json.ts";

export interface Measured {
  readonly count: number;
  readonly hash: string;
}

const words = 8;

export class ContentHash {
  /** Little-endian, 32 bits each; the remaining bits of a double hold the carries. */
  readonly #sum = new Float64Array(words);
  #count = 0;
  #sinceCarry = 0;

  add(text: string): void {
    const digest = hash("sha256", text, "buffer");
    for (let i = 0; i < words; i += 1) (this.#sum[i] as number) += digest.readUInt32BE((words - 1 - i) * 4);
    this.#count += 1;
    // 2^20 sums of 32 bits are exact in 53 bits.
    if ((this.#sinceCarry += 1) === 1_048_576) this.#carry();
  }

  get measured(): Measured {
    this.#carry();
    const text = Array.from(this.#sum, (word) => word.toString(16).padStart(8, "0"))
      .toReversed()
      .join("");
    return { count: this.#count, hash: text };
  }

  #carry(): void {
    let over = 0;
    for (let i = 0; i < words; i += 1) {
      const word = (this.#sum[i] as number) + over;
      over = Math.floor(word / 4_294_967_296);
      this.#sum[i] = word - over * 4_294_967_296;
    }
    this.#sinceCarry = 0;
  }
}

export function isSame(a: Measured, b: Measured): boolean {
  return a.count === b.count && a.hash === b.hash;
}

/** Independent of the order of keys. Objects become lists of pairs: integer-like keys would be reordered. */
export function canonicalText(value: JsonValue | undefined): string {
  return JSON.stringify(canonicalPairs(value));
}
