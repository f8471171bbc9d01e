/** The ranges that a container is shown as: one up to 10,000 request units a second, two up to 20,000, four above. All lie in one store. */
import type { JsonObject } from "../../../../domain/json.ts";
import { CosmosError } from "../errors.ts";
import type { KeyDefinition } from "./effective-key.ts";

export interface KeyRange {
  readonly id: string;
  readonly min: string;
  readonly max: string;
}

const oneRangeRuMax = 10_000;
const twoRangesRuMax = 20_000;
/** Quarters of where hashes of each version lie. */
const cuts = { 1: ["05C1D0", "05C1E0", "05C1E8"], 2: ["0F", "1F", "2F"] } as const;
const goneSubstatus = 1002;

const oneRange: readonly KeyRange[] = [{ id: "0", min: "", max: "FF" }];

export function rangesOf(key: KeyDefinition, ru: number): readonly KeyRange[] {
  if (ru <= oneRangeRuMax) return oneRange;
  const [first, second, third] = cuts[key.version].map((cut) => (key.version === 2 ? cut.padEnd(32, "F") : cut));
  const chosen = ru <= twoRangesRuMax ? [second] : [first, second, third];
  const bounds = ["", ...chosen, "FF"] as string[];
  return bounds.slice(0, -1).map((min, i) => ({ id: String(i), min, max: bounds[i + 1] as string }));
}

export function rangeById(ranges: readonly KeyRange[], id: string): KeyRange {
  const found = ranges.find((range) => range.id === id);
  if (found !== undefined) return found;
  throw new CosmosError(410, `There is no partition key range "${id}" any more; read the ranges again.`, {
    substatus: goneSubstatus,
  });
}

export function rangeView({ id, min, max }: KeyRange, rid: string, count: number): JsonObject {
  return {
    _rid: rid,
    id,
    _etag: `"${id}-${count}"`,
    minInclusive: min,
    maxExclusive: max,
    ridPrefix: Number(id),
    throughputFraction: 1 / count,
    status: "online",
    parents: [],
  };
}

export function within({ min, max }: Pick<KeyRange, "min" | "max">, key: string): boolean {
  return key >= min && key < max;
}
