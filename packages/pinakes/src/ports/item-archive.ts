/**
 * ItemArchive: everything that an item store holds, of all tenants, exactly as it is stored: for moving to another engine. It is not for
 * features, and nothing may use the store meanwhile.
 *
 * - `dump` gives every item once, in an order of the engine's own; a cursor goes on after what was given, also in another process;
 * - `load` keeps ids, etags, times of change and with them the time to live; an item twice is an item once.
 */
import type { ContainerDefinition } from "./item-store.ts";

export interface ArchivedItem {
  readonly tenant: string;
  /** JSON text of [tenant, ...partition values]. */
  readonly pk: string;
  readonly id: string;
  readonly etag: string;
  /** Epoch milliseconds. */
  readonly modifiedAt: number;
  readonly json: string;
}

export interface ItemArchive {
  /** In the order of their names. */
  containers(): Promise<readonly ContainerDefinition[]>;
  /** Those that are visible at `now`. */
  dump(
    container: string,
    options: { readonly now: number; readonly cursor?: string | undefined; readonly limit?: number },
  ): Promise<{ readonly items: readonly ArchivedItem[]; readonly cursor?: string | undefined }>;
  /** The container is made where it is not there. */
  load(container: ContainerDefinition, items: readonly ArchivedItem[]): Promise<void>;
}
