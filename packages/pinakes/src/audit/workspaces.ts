/**
 * The workspaces there are, one after the other: first those that the book of workspaces has, then those that only have objects, because a
 * program acts in them without keys.
 */
import type { SystemScope } from "../domain/scope.ts";
import type { ObjectStore } from "../ports/object-store.ts";
import type { RoundsOptions } from "./rounds.ts";

interface WorkspaceSources {
  readonly book: {
    /** The first whose id is greater; undefined where there is none. */
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
      if (tenant !== undefined) return { tenant, place: bookPlace + tenant };
    }
    let behind = after?.startsWith(objectsPlace) === true ? after.slice(objectsPlace.length) : root;
    for (;;) {
      const { keys } = await objects.list(system, root, { limit: 1, after: behind });
      const tenant = keys[0]?.key.slice(root.length).split("/")[0];
      if (tenant === undefined) return undefined;
      // "0" comes right after "/": behind everything of this one, before any other.
      behind = `${root}${tenant}0`;
      if (!tenant.startsWith(systemPrefix) && !(await book.has(tenant)))
        return { tenant, place: objectsPlace + behind };
    }
  };
}
