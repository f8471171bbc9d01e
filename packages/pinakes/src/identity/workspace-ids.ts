/** The ids of all recorded workspaces, for background work over all of them; callers have a system scope. */
import type { SystemScope } from "../domain/scope.ts";
import type { ItemStore } from "../ports/item-store.ts";
import { identityTenant, workspaceContainer } from "./records.ts";

const kind = "workspace";

export function workspaceIds(items: ItemStore, system: SystemScope) {
  const scope = system.forTenant(identityTenant);
  const { name } = workspaceContainer.definition;
  return {
    /** The first id greater than this one; undefined if there is none. */
    after: async (id: string): Promise<string | undefined> => {
      const { items: found } = await items.query(scope, name, {
        equals: { kind },
        ...(id === "" ? {} : { range: { gt: id } }),
        limit: 1,
      });
      return found[0]?.id;
    },
    has: async (id: string): Promise<boolean> =>
      (await items.read(scope, name, { partition: [kind], id })) !== undefined,
  };
}
