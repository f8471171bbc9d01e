/** How a process of the soak opens the stores. Apart from stack.ts, so that it need not load the servers. */
import { join } from "node:path";
import { systemScope } from "../../../src/domain/scope.ts";
import { open } from "../../../src/open.ts";
import type { ItemStore } from "../../../src/ports/item-store.ts";
import type { ObjectStore } from "../../../src/ports/object-store.ts";
import { openVectors, type OpenedVectors, type VectorPolicy } from "../../../src/vectors/index.ts";

/** What a process needs to open the stores, as JSON. */
export interface StackPlace {
  readonly dir: string;
  readonly items?: string;
  readonly objects?: string;
}

/** Short, so that leases change owners and old versions are removed many times in a few seconds. */
export const soakPolicy = Object.freeze({
  leaseMs: 300,
  retentionMs: 150,
  appliedDeltaMs: 150,
  collectAfterMs: 50,
  sessionWaitMs: 30_000,
});

export interface OpenPlaceOptions {
  readonly skewMs?: number;
  readonly policy?: Partial<VectorPolicy>;
  /** Wraps the object store of the vectors: for tests that stop a process inside of a call. */
  readonly wrap?: (stores: { items: ItemStore; objects: ObjectStore }) => { items: ItemStore; objects: ObjectStore };
}

export interface OpenedPlace extends OpenedVectors {
  readonly items: ItemStore;
  readonly objects: ObjectStore;
}

export async function openPlace(
  place: StackPlace,
  { skewMs = 0, policy = soakPolicy, wrap = (stores) => stores }: OpenPlaceOptions = {},
): Promise<OpenedPlace> {
  const clock = { now: () => Date.now() + skewMs };
  const pinakes = await open({ ...place, clock, background: false, vectors: { threads: 1 } });
  const stores = wrap({ items: pinakes.items, objects: pinakes.objects });
  const opened = await openVectors({
    ...stores,
    clock,
    policy,
    threads: 1,
    system: systemScope("soak", () => {}),
    // All processes of a machine share it, as they do in production.
    cacheDir: place.objects === undefined ? undefined : join(place.dir, "cache"),
  });
  return {
    ...opened,
    items: pinakes.items,
    objects: pinakes.objects,
    close: async () => {
      await opened.close();
      await pinakes.close();
    },
  };
}
