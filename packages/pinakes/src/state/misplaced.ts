/**
 * Properties that belong one level deeper. Unknown properties are kept, so at the top level one of these would have no
 * effect: a timeout that never fires, a session that groups nothing. So it is rejected, with its correct location.
 */
import { invalid } from "../domain/errors.ts";
import { isJsonObject, type JsonObject } from "../domain/json.ts";

/** By the property that contains them. */
export type Fields = Readonly<Record<string, readonly string[]>>;

/** A property that is also at its correct location is accepted. */
export function refuseMisplaced(document: JsonObject, parts: Fields): void {
  for (const [part, names] of Object.entries(parts)) {
    for (const name of names) {
      if (document[name] === undefined) continue;
      const inner = document[part];
      if (isJsonObject(inner) && inner[name] !== undefined) continue;
      throw invalid(
        `${name}: belongs into ${part}; write { "${part}": { "${name}": … } }. Here it would have no effect.`,
      );
    }
  }
}
