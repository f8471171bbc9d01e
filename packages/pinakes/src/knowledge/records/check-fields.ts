/** An update must name at least one changeable field; fixed fields are refused. */
import { invalid } from "../../domain/errors.ts";
import { isJsonObject } from "../../domain/json.ts";

export function checkPatchFields<Patch extends object>(
  input: Patch,
  changeable: readonly string[],
  fixed: readonly string[],
): Patch {
  if (!isJsonObject(input)) throw invalid("An update must be an object with the fields to change.");
  const entries = Object.entries(input).filter(([, value]) => value !== undefined);
  for (const [field] of entries) {
    if (changeable.includes(field)) continue;
    if (fixed.includes(field)) throw invalid(`${field}: cannot be changed.`);
    throw invalid(`${field}: is not a field that can be changed; changeable are ${changeable.join(", ")}.`);
  }
  if (entries.length === 0) throw invalid(`Nothing to change: give at least one of ${changeable.join(", ")}.`);
  return Object.fromEntries(entries) as Patch;
}
