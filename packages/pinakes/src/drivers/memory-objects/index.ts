import { createObjectStore } from "../../objects/create-object-store.ts";
import { systemClock, type Clock } from "../../ports/clock.ts";
import type { ObjectStore } from "../../ports/object-store.ts";
import { MemoryObjectDriver } from "./driver.ts";
import { withFaults, type ObjectFaults } from "./faults.ts";

export interface MemoryObjectsOptions {
  readonly clock?: Clock | undefined;
  /** Faults that a test injects before the store (faults.ts). */
  readonly faults?: ObjectFaults | undefined;
}

/** Objects in memory, gone with the process. */
export function openMemoryObjects({ clock = systemClock, faults }: MemoryObjectsOptions = {}): ObjectStore {
  const driver = new MemoryObjectDriver(clock);
  return createObjectStore(faults === undefined ? driver : withFaults(driver, faults));
}
