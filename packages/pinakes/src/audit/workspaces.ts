/** All workspaces in order: first the registered ones, then those that only have objects, because a program uses them without keys. */
import type { SystemScope } from "../domain/scope.ts";
import type { ObjectStore } from "../ports/object-store.ts";
import type { RoundsOptions } from "./rounds.ts";

interface WorkspaceSources {
  readonly book: {
    /** The first with a greater id; undefined if there is none. */
    readonly after: (id: string) => Promise<string | undefined>;
    readonly has: (id: string) => Promise<boolean>;
  };
  readonly objects: ObjectStore;
  readonly system: SystemScope;
}

const root = "t/";
const bookPlace = "book:";
const objectsPlace = "objects:";
/** The system's own tenants have no collections. */
const systemPrefix = "pinakes.";

export function walkWorkspaces({ book, objects, system }: WorkspaceSources): RoundsOptions["workspaces"] {
  return async (after) => {
    if (after === undefined || after.startsWith(bookPlace)) {
      const tenant = await book.after(after === undefined ? "" : after.slice(bookPlace.length));
      if (tenant !== undefined) return { tenant, position: bookPlace + tenant };
    }
    let behind = after?.startsWith(objectsPlace) === true ? after.slice(objectsPlace.length) : root;
    for (;;) {
      const { keys } = await objects.list(system, root, { limit: 1, after: behind });
      const tenant = keys[0]?.key.slice(root.length).split("/")[0];
      if (tenant === undefined) return undefined;
      // "0" follows "/" directly: after every key of this one, before any other.
      behind = `${root}${tenant}0`;
      if (!tenant.startsWith(systemPrefix) && !(await book.has(tenant)))
        return { tenant, position: objectsPlace + behind };
    }
  };
}
