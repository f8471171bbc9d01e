/** The same queue on the other engines, on real servers. Fewer random histories, because each step costs requests. */
import { describe, expect, it } from "vitest";
import { tenantScope } from "../domain/scope.ts";
import { startLagProxy } from "../drivers/dynamodb/lag-proxy.ts";
import { openDynamoItems } from "../drivers/dynamodb/index.ts";
import { startDynamo, testConnection } from "../drivers/dynamodb/test-server.ts";
import { openPostgresItems } from "../drivers/postgres/index.ts";
import { startPostgres } from "../drivers/postgres/test-server.ts";
import { Handle } from "../testing/queue/fixture.ts";
import { queueSuite } from "../testing/queue-suite.ts";
import { openItemQueue } from "./item-queue/index.ts";

queueSuite({
  name: "items on postgres",
  async start({ clock }) {
    const server = await startPostgres();
    const items = await openPostgresItems({ url: server.url, database: "queues", clock });
    return {
      open: (options) => openItemQueue({ items, clock, ...options }),
      async stop() {
        await items.close();
        await server.stop();
      },
    };
  },
  propertyRuns: 5,
});

queueSuite({
  name: "items on dynamodb",
  async start({ clock }) {
    const server = await startDynamo();
    const items = await openDynamoItems({ ...testConnection, endpoint: server.endpoint, prefix: "queues", clock });
    return {
      open: (options) => openItemQueue({ items, clock, ...options }),
      async stop() {
        await items.close();
        await server.stop();
      },
    };
  },
  propertyRuns: 5,
});

describe("queue: items on dynamodb with late indexes", () => {
  it("R-CMP-11: with indexes 400 ms late, four receivers in two processes do everything once and in order", async () => {
    const server = await startLagProxy({ lagMs: 400 });
    const items = await openDynamoItems({ ...testConnection, endpoint: server.endpoint, prefix: "late" });
    const open = async () => new Handle(tenantScope("acme"), await openItemQueue({ items, pollMsMax: 100 }), "work");
    const handles = [await open(), await open()];
    const [groups, messages] = [4, 5];
    const done: [string, unknown][] = [];
    const sending = async (group: number) => {
      for (let n = 0; n < messages; n += 1) await (handles[group % 2] as Handle).send(`g${group}`, n);
    };
    const receiving = async (handle: Handle, owner: string) => {
      while (done.length < groups * messages) {
        for (const message of await handle.receive({ owner, max: 2, leaseMs: 60_000, waitMs: 200 })) {
          done.push([message.group, message.body]);
          await handle.done(message);
        }
      }
    };
    await Promise.all([
      ...Array.from({ length: groups }, (_, group) => sending(group)),
      ...Array.from({ length: 4 }, (_, i) => receiving(handles[i % 2] as Handle, `r${i}`)),
    ]);
    for (let group = 0; group < groups; group += 1) {
      expect(done.filter(([name]) => name === `g${group}`).map(([, body]) => body)).toEqual([0, 1, 2, 3, 4]);
    }
    for (const { queue } of handles) await queue.close();
    await items.close();
    await server.stop();
  });
});
