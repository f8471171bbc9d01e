/** Opens the data keys of encrypted objects, and decides whether the objects of a store are encrypted (RFC 0019). */
import type { StoresConfig } from "./config-stores.ts";
import { invalid } from "./domain/errors.ts";
import type { Scope } from "./domain/scope.ts";
import { isEncryptedStore, MasterKeys, WorkspaceKeys, workspaceKeysContainer } from "./encryption/index.ts";
import type { Binding } from "./open-binding.ts";
import type { Clock } from "./ports/clock.ts";
import type { ItemStore } from "./ports/item-store.ts";

export async function openKeys(
  { masterKeyFile }: StoresConfig,
  clock: Clock,
  dropBoxes: readonly unknown[] = [],
): Promise<WorkspaceKeys | undefined> {
  if (masterKeyFile !== undefined && dropBoxes.length > 0)
    throw invalid(
      "Drop boxes contain plain files of other programs, so a store with drop boxes cannot be encrypted: remove PINAKES_DROP_BOXES or PINAKES_MASTER_KEY_FILE.",
    );
  return masterKeyFile === undefined ? undefined : new WorkspaceKeys(await MasterKeys.read(masterKeyFile), clock);
}

interface KeyBinding {
  readonly items: ItemStore;
  readonly binding: Pick<Binding, "hasObjects">;
  readonly config: StoresConfig;
  /** Of the tenant `keysTenant`. */
  readonly scope: Scope;
}

/** Before the first object is read: the items say whether the objects are encrypted, and contain the keys. */
export async function bindKeys(
  keys: WorkspaceKeys | undefined,
  { items, binding, config, scope }: KeyBinding,
): Promise<void> {
  if (keys === undefined) {
    await items.openContainer(workspaceKeysContainer);
    if (await isEncryptedStore(items, scope))
      throw invalid(
        "The objects of this store are encrypted: set PINAKES_MASTER_KEY_FILE (option masterKeyFile) to the file with their master key.",
      );
    return;
  }
  if (!items.capabilities.durable && config.objects.driver !== "memory")
    throw invalid("Items in memory would lose the keys of encrypted objects: use durable items, or no master key.");
  await keys.open({ items, scope, hasObjects: await binding.hasObjects() });
}
