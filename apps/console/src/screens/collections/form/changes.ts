/** What was changed in the form, beside what somebody else changed meanwhile. */
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

/** What a collection has now, in the words of a change. */
export function currentOf(collection: Collection): Changeable {
  const {
    name,
    description = "",
    own_chunking_strategy,
    allow_chunking_override,
    metadata,
    allowed_groups,
  } = collection;
  return {
    name,
    description,
    chunking_strategy: own_chunking_strategy,
    allow_chunking_override,
    metadata: { tags: metadata.tags ?? [], custom_fields: metadata.custom_fields ?? {} },
    allowed_groups,
    private: collection.private,
  };
}

/** Only these are sent, so that what was not touched here stays as others made it. */
export function changedFields(before: Changeable, after: Changeable): readonly Field[] {
  return fields.filter((field) => !same(before[field], after[field]));
}

export function only(values: Changeable, wanted: readonly Field[]): CollectionChange {
  return Object.fromEntries(wanted.map((field) => [field, values[field]]));
}

/** The order of keys says nothing, the order of a list does. */
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
