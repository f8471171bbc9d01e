/** The stores that the tests of containers run on. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openMemoryItems } from "../../src/drivers/memory/index.ts";
import { openSqliteItems } from "../../src/drivers/sqlite/index.ts";
import type { ItemStore } from "../../src/ports/item-store.ts";
import { ManualClock } from "../../src/testing/item-store/fixture.ts";

export interface OpenedEngine extends AsyncDisposable {
  readonly clock: ManualClock;
  readonly items: ItemStore;
}

export const nearEngines = ["memory", "sqlite"] as const;

export async function openNearEngine(engine: (typeof nearEngines)[number]): Promise<OpenedEngine> {
  const clock = new ManualClock();
  if (engine === "memory") {
    const items = await openMemoryItems({ clock });
    return { clock, items, [Symbol.asyncDispose]: () => items.close() };
  }
  const dir = await mkdtemp(join(tmpdir(), "pinakes-containers-"));
  const items = await openSqliteItems({ dir, clock });
  return {
    clock,
    items,
    [Symbol.asyncDispose]: async () => {
      await items.close();
      await rm(dir, { recursive: true, force: true });
    },
  };
}
