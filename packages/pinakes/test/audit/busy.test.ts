/** While others upload, replace, delete, re-index and end collections, an audit finds nothing, again and again, and repairs nothing. */
import { expect, it } from "vitest";
import type { AuditReport } from "../../src/knowledge/index.ts";
import { upload, type Place } from "../knowledge/support/test-pinakes.ts";
import { Audited } from "./support/audited.ts";

it.each(["memory", "sqlite"] as const)("a busy workspace on %s gives no finding, with and without repairs, and is whole at the end", async (engine) => {
  await using world = await Audited.open(engine, { ingestPlaces: 2 });
  const place = await world.place();
  const { knowledge, caller, repository, collection } = place;
  const stop = { now: false };
  const failures: unknown[] = [];
  const busy = async (work: (i: number) => Promise<unknown>): Promise<void> => {
    for (let i = 0; !stop.now; i += 1) await work(i).catch((error: unknown) => void failures.push(error));
  };
  const workers = [
    busy((i) => upload(place, `a${i % 7}.txt`, `text ${i} `.repeat((i % 40) + 1), { replace: true })),
    busy((i) => upload(place, `b${i % 5}.md`, `# Title ${i}\n\nBody of ${i} is here.`, { replace: true })),
    busy(async () => {
      const { items } = await knowledge.listDocuments(caller, repository, collection, { limit: 20 });
      const victim = items.find(({ name }) => name.startsWith("a") || name.startsWith("b"));
      if (victim !== undefined) await knowledge.deleteDocument(caller, repository, collection, victim.document_id);
      else await new Promise((resolve) => void setTimeout(resolve, 5));
    }),
    busy(async (i) => {
      const id = `short-${i}`;
      await knowledge.createCollection(caller, repository, { collection_id: id });
      const short: Place = { ...place, collection: id };
      await upload(short, "x.txt", "short lived");
      await knowledge.deleteCollection(caller, repository, id, { purge: true, confirm: id });
    }),
  ];
  const reports: AuditReport[] = [];
  for (let round = 0; round < 6; round += 1) {
    if (round === 2) await knowledge.reindexCollection(caller, repository, collection);
    reports.push(await world.fsck({ deep: round % 2 === 0, repair: round >= 4 }));
  }
  stop.now = true;
  await Promise.all(workers);
  for (const report of reports) expect(report.findings).toEqual([]);
  expect(reports.reduce((sum, { checked }) => sum + checked.documents, 0)).toBeGreaterThan(reports.length * 2);
  // What they were refused is what races are refused with.
  for (const error of failures) expect(error).toMatchObject({ code: expect.stringMatching(/^(?:CONFLICT|NOT_FOUND|PRECONDITION_FAILED|UNAVAILABLE)$/) });
  await world.rest(place);
  const last = await world.fsck({ repository, collection, deep: true });
  expect(last.findings).toEqual([]);
  expect(await knowledge.usage(caller, repository, collection)).toMatchObject({ consistent: true });
}, 120_000);
