/**
 * Properties that a document keeps one level deeper. Unknown ones stay as they are, so one of these at the top would be kept and do
 * nothing: a timeout that never comes, a session by which nothing is grouped. So it is refused, with its place.
 */
import { invalid } from "../domain/errors.ts";
import { isJsonObject, type JsonObject } from "../domain/json.ts";

/** By the property that holds them. */
export type Fields = Readonly<Record<string, readonly string[]>>;

/** One that is in its place, too, is the writer's own business. */
export function refuseMisplaced(document: JsonObject, parts: Fields): void {
  for (const [part, names] of Object.entries(parts)) {
    for (const name of names) {
      if (document[name] === undefined) continue;
      const inner = document[part];
      if (isJsonObject(inner) && inner[name] !== undefined) continue;
      throw invalid(
        `${name}: belongs into ${part}; write { "${part}": { "${name}": … } }. Here it would be kept and do nothing.`,
      );
    }
  }
}
