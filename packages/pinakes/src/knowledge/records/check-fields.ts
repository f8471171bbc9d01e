/** A change names at least one field that may change; fields that never do are refused when they differ (by the caller) or named here. */
import { invalid } from "../../domain/errors.ts";
import { isJsonObject } from "../../domain/json.ts";

export function checkPatchFields<Patch extends object>(
  input: Patch,
  changeable: readonly string[],
  fixed: readonly string[],
): Patch {
  if (!isJsonObject(input)) throw invalid("A change is an object with the fields to change.");
  const given = Object.entries(input).filter(([, value]) => value !== undefined);
  for (const [field] of given) {
    if (changeable.includes(field)) continue;
    if (fixed.includes(field)) throw invalid(`${field}: cannot be changed.`);
    throw invalid(`${field}: is not a field that can be changed; there are ${changeable.join(", ")}.`);
  }
  if (given.length === 0) throw invalid(`There is nothing to change: give one of ${changeable.join(", ")}.`);
  return Object.fromEntries(given) as Patch;
}
