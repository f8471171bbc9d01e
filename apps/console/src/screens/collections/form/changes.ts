/** Own changes and concurrent changes of a collection. */
import type { Collection, CollectionChange } from "@pinakes/client";
import type { Changeable } from "./form-values.ts";

export type Field = keyof Changeable;
const fields = [
  "name",
  "description",
  "metadata",
  "chunking_strategy",
  "allow_chunking_override",
  "allowed_groups",
  "private",
] as const satisfies Field[];

/** The current values of a collection, as a change. */
export function currentOf(collection: Collection): Changeable {
  const { name, description, own_chunking_strategy, allow_chunking_override, metadata, allowed_groups } = collection;
  return {
    name,
    description,
    chunking_strategy: own_chunking_strategy,
    allow_chunking_override,
    metadata,
    allowed_groups,
    private: collection.private,
  };
}

/** Sends only these, so that others' changes to other fields are kept. */
export function changedFields(before: Changeable, after: Changeable): readonly Field[] {
  return fields.filter((field) => !same(before[field], after[field]));
}

export function only(values: Changeable, wanted: readonly Field[]): CollectionChange {
  return Object.fromEntries(wanted.map((field) => [field, values[field]]));
}

/** Order matters in lists, not in objects. */
function same(a: unknown, b: unknown): boolean {
  return ordered(a) === ordered(b);
}

function ordered(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    typeof part === "object" && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}
