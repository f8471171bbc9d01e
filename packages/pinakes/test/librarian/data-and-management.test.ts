/** Messages of data and of management are apart: the one kind, however much there is of it, does not hold up the other. */
import { expect, it } from "vitest";
import type { IngestMessage } from "../../src/knowledge/documents/ingest-queue.ts";
import { knowledgeTenant } from "../../src/knowledge/records/work-registry.ts";
import { sharedQueue } from "../../src/knowledge/documents/lanes.ts";
import type { Queue } from "../../src/ports/queue.ts";
import { nothing, system, World } from "../lifecycle/support/world.ts";

const dataMessages = 10_000;
/** The set bound: so many messages of data may be handled from the moment a purge is asked for until every store has confirmed it. */
const handledMeanwhileMax = 100;

it("R-TG-61 with ten thousand messages of data in the queue and a worker at them, a purge ends before a hundred of them are handled", async () => {
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
  // The knowledge side's scope has messages of data only, the lifecycle's those of management only.
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
  // Data is handled when the delete comes, and while it runs. (Nothing here waits for a timer: stores in memory give them no turn.)
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
