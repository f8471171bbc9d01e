/** Opens the data keys of encrypted objects, and decides whether the objects of a store are encrypted (RFC 0019). */
import type { StoresConfig } from "./config.ts";
import { invalid } from "./domain/errors.ts";
import { systemScope } from "./domain/scope.ts";
import { isEncryptedStore, keysTenant, MasterKeys, WorkspaceKeys, workspaceKeysContainer } from "./encryption/index.ts";
import type { Binding } from "./open-binding.ts";
import type { Clock } from "./ports/clock.ts";
import type { ItemStore } from "./ports/item-store.ts";

export async function openKeys({ masterKeyFile }: StoresConfig, clock: Clock): Promise<WorkspaceKeys | undefined> {
  return masterKeyFile === undefined ? undefined : new WorkspaceKeys(await MasterKeys.read(masterKeyFile), clock);
}

interface KeyBinding {
  readonly items: ItemStore;
  readonly binding: Pick<Binding, "hasObjects">;
  readonly config: StoresConfig;
  readonly logScope: (line: string) => void;
}

/** Before the first object is read: the items say whether the objects are encrypted, and contain the keys. */
export async function bindKeys(
  keys: WorkspaceKeys | undefined,
  { items, binding, config, logScope }: KeyBinding,
): Promise<void> {
  const scope = systemScope("encryption: keeps the data keys of workspaces", logScope).forTenant(keysTenant);
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
