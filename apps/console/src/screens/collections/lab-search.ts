/** Initial parameters of the search lab for a collection. */
import { refOf } from "../../api/collection-ref.ts";
import type { CollectionId } from "../../api/collections.ts";

export function labSearch(
  id: CollectionId,
  more: { readonly q?: string | undefined; readonly asof?: string | undefined } = {},
) {
  return { in: [refOf(id)], ...more };
}
