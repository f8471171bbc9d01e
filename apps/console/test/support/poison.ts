/** Messages that no store understands, put into the queue of a running server: they become dead letters of the workspace `default`. */
import { systemScope } from "../../../../packages/pinakes/src/domain/scope.ts";
import { openSqliteItems } from "../../../../packages/pinakes/src/drivers/sqlite/index.ts";
import { lifecycleTenant } from "../../../../packages/pinakes/src/lifecycle/index.ts";
import { systemClock } from "../../../../packages/pinakes/src/ports/clock.ts";
import { openItemQueue } from "../../../../packages/pinakes/src/queues/item-queue/index.ts";

export async function sendPoison(folder: string, count: number, text: string): Promise<void> {
  await using items = await openSqliteItems({ dir: folder, database: "pinakes", clock: systemClock });
  await using queue = await openItemQueue({ items, clock: systemClock });
  const scope = systemScope("a test sends what nobody understands", () => {}).forTenant(lifecycleTenant);
  for (let number = 0; number < count; number += 1)
    await queue.send(scope, "vector-storage-management", { body: { text, number }, group: "poison" });
}
