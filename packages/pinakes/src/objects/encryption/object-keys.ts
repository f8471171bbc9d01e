/** Where encrypted objects get their keys from. The implementation, which keeps them wrapped in the items, is `encryption/`. */

export interface DataKey {
  /** 16 bytes. */
  readonly id: Uint8Array;
  /** 32 bytes. */
  readonly key: Uint8Array;
}

export interface ObjectKeys {
  /** The key for new objects of an owner; created on first use. */
  current(owner: string): Promise<DataKey>;
  /** The key of existing objects. Throws NOT_FOUND if it was destroyed. */
  byId(owner: string, id: Uint8Array): Promise<DataKey>;
}

/** Owner of objects outside every tenant's key space. No caller can have this name. */
export const storeOwner = "pinakes.store";

/** Undefined: objects under this key stay plain, because they are read before keys are known. */
export function ownerOf(storedKey: string): string | undefined {
  if (storedKey.startsWith("pinakes/")) return undefined;
  const [, tenant] = /^t\/([^/]+)\//.exec(storedKey) ?? [];
  return tenant ?? storeOwner;
}
