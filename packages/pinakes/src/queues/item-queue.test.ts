import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openMemoryItems } from "../drivers/memory/index.ts";
import { openSqliteItems } from "../drivers/sqlite/index.ts";
import { queueSuite } from "../testing/queue-suite.ts";
import { openItemQueue } from "./item-queue/index.ts";

queueSuite({
  name: "items on memory",
  async start({ clock }) {
    const items = await openMemoryItems({ clock });
    return { open: (options) => openItemQueue({ items, clock, ...options }), stop: () => items.close() };
  },
  propertyRuns: 150,
});

queueSuite({
  name: "items on sqlite",
  async start({ clock }) {
    const dir = await mkdtemp(join(tmpdir(), "pinakes-queue-"));
    const items = await openSqliteItems({ dir, clock });
    return {
      open: (options) => openItemQueue({ items, clock, ...options }),
      async stop() {
        await items.close();
        await rm(dir, { recursive: true, force: true });
      },
    };
  },
  propertyRuns: 15,
});
