/** Data and management messages are separate: a backlog of one does not delay the other. */
import { expect, it } from "vitest";
import type { IngestMessage } from "../../src/knowledge/documents/ingest-queue.ts";
import { knowledgeTenant } from "../../src/knowledge/records/work-registry.ts";
import { sharedQueue } from "../../src/knowledge/documents/lanes.ts";
import type { Queue } from "../../src/ports/queue.ts";
import { nothing, system, World } from "../lifecycle/support/world.ts";

const dataMessages = 10_000;
/** The set bound: data messages that may be handled between the request of a purge and the confirmation of every store. */
const handledMeanwhileMax = 100;

it("R-TG-61 with ten thousand data messages in the queue and a worker processing them, a purge ends before a hundred of them are handled", async () => {
  await using world = await World.open();
  const process = await world.process();
  const place = await world.fill(process, world.admin, "papers", { files: 0 });
  const busy = await world.fill(process, world.admin, "busy", { files: 0 });
  const scope = system.forTenant(knowledgeTenant);
  for (let at = 0; at < dataMessages; at += 500)
    await Promise.all(
      Array.from({ length: 500 }, (_, i) => {
        const body: IngestMessage = { tenant: "acme", ...busy, document_id: `d${at + i}`, run: 1 };
        return process.queue.send(scope, sharedQueue, { body: { ...body }, group: `acme:d${at + i}` });
      }),
    );
  // The knowledge feature's scope has only data messages, the lifecycle's only management messages.
  const handled = { data: 0, management: 0 };
  const begun = Promise.withResolvers<void>();
  const queue = process.queue as { done: Queue["done"] };
  const done = queue.done.bind(queue);
  queue.done = async (of, receipt) => {
    await done(of, receipt);
    handled[of.tenant === scope.tenant ? "data" : "management"] += 1;
    if (handled.data === 10) begun.resolve();
  };
  const stop = new AbortController();
  const working = process.opened.work(stop.signal);
  // Data is being handled when the delete arrives, and while it runs. (No timers: in-memory stores never yield to them.)
  await begun.promise;
  const before = handled.data;
  await process.purge(place);
  await process.lifecycle.idle();
  expect(await world.left(place)).toEqual(nothing);
  const after = handled.data;
  expect(handled.management).toBeGreaterThan(0);
  expect(after - before).toBeLessThanOrEqual(handledMeanwhileMax);
  stop.abort();
  await working;
  expect(after).toBeGreaterThan(before);
  expect(handled.data).toBeLessThan(dataMessages);
  await process.close();
});
