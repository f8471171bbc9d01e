/**
 * Order-independent sums over rows (RFC 0001, "Manifest"): four lanes of 32 bits, each the sum of a mix of the row's hash and seq. Equal
 * sums mean equal sets of rows, except with a probability of 2^-128.
 */
export type RowSum = readonly [number, number, number, number];

export const zeroSum: RowSum = [0, 0, 0, 0];

export function addSums(a: RowSum, b: RowSum): RowSum {
  return [(a[0] + b[0]) >>> 0, (a[1] + b[1]) >>> 0, (a[2] + b[2]) >>> 0, (a[3] + b[3]) >>> 0];
}

export function subtractSums(a: RowSum, b: RowSum): RowSum {
  return [(a[0] - b[0]) >>> 0, (a[1] - b[1]) >>> 0, (a[2] - b[2]) >>> 0, (a[3] - b[3]) >>> 0];
}

export function formatSum(sum: RowSum): string {
  return sum.map((lane) => lane.toString(16).padStart(8, "0")).join("");
}

export function parseSum(text: string): RowSum {
  const lane = (i: number): number => Number.parseInt(text.slice(i * 8, i * 8 + 8), 16);
  return [lane(0), lane(1), lane(2), lane(3)];
}

/** `hashes`: four 32-bit words per row. */
export class RowSummer {
  #lanes = new Uint32Array(4);

  add(hashes: Uint32Array, row: number, seq: number): void {
    const low = seq >>> 0;
    const high = Math.floor(seq / 2 ** 32);
    for (let lane = 0; lane < 4; lane += 1) {
      let h = (hashes[row * 4 + lane] as number) ^ Math.imul(low + lane, 0x9e3779b1) ^ Math.imul(high, 0x85ebca6b);
      h = Math.imul(h ^ (h >>> 16), 0x7feb352d);
      h = Math.imul(h ^ (h >>> 15), 0x846ca68b);
      this.#lanes[lane] = (this.#lanes[lane] as number) + (h ^ (h >>> 16));
    }
  }

  sum(): RowSum {
    return [this.#lanes[0] as number, this.#lanes[1] as number, this.#lanes[2] as number, this.#lanes[3] as number];
  }
}
