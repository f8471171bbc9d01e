/**
 * ItemArchive: everything an item store holds, of all tenants, exactly as stored: for moving to another engine. It is not for features,
 * and nothing else may use the store meanwhile.
 *
 * - `dump` returns every item once, in the engine's own order; a cursor continues after the last returned item, also in another process;
 * - `load` keeps ids, etags, change times and therefore the time to live; it is idempotent.
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

export interface ArchivedContainer extends ContainerDefinition {
  /** Default times to live that tenants have set (ItemStore.setDefaultTtl). */
  readonly tenantTtls?: Readonly<Record<string, readonly [ttl: number | null, changes: number]>> | undefined;
}

export interface ItemArchive {
  /** Ordered by name. */
  containers(): Promise<readonly ArchivedContainer[]>;
  /** Items visible at `now`. */
  dump(
    container: string,
    options: { readonly now: number; readonly cursor?: string | undefined; readonly limit?: number },
  ): Promise<{ readonly items: readonly ArchivedItem[]; readonly cursor?: string | undefined }>;
  /** Creates the container if it is absent. */
  load(container: ArchivedContainer, items: readonly ArchivedItem[]): Promise<void>;
}
