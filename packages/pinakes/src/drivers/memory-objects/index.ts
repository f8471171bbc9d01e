import { createObjectStore } from "../../objects/create-object-store.ts";
import { encryptedDriver } from "../../objects/encryption/encrypted-driver.ts";
import type { ObjectKeys } from "../../objects/encryption/object-keys.ts";
import { systemClock, type Clock } from "../../ports/clock.ts";
import type { ObjectStore } from "../../ports/object-store.ts";
import { MemoryObjectDriver } from "./driver.ts";
import { withFaults, type ObjectFaults } from "./faults.ts";

export interface MemoryObjectsOptions {
  readonly clock?: Clock | undefined;
  /** Faults that a test injects before the store (faults.ts). */
  readonly faults?: ObjectFaults | undefined;
  /** Encrypts stored objects (RFC 0019). */
  readonly keys?: ObjectKeys | undefined;
}

/** Objects in memory, lost when the process ends. */
export function openMemoryObjects({ clock = systemClock, faults, keys }: MemoryObjectsOptions = {}): ObjectStore {
  const memory = new MemoryObjectDriver(clock);
  const driver = faults === undefined ? memory : withFaults(memory, faults);
  return createObjectStore(keys === undefined ? driver : encryptedDriver(driver, keys));
}
