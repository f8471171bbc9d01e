/** During concurrent uploads, replacements, deletes, re-indexes and collection deletes, repeated audits find and repair nothing. */
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import type { AuditReport } from "../../src/knowledge/index.ts";
import { upload, type Place } from "../knowledge/support/test-pinakes.ts";
import { Audited } from "./support/audited.ts";

it.each(["memory", "sqlite"] as const)(
  "audits of a busy workspace on %s find nothing, with and without repairs, and it is intact at the end",
  async (engine) => {
    await using world = await Audited.open(engine, { ingestPlaces: 2 });
    const place = await world.place();
    const { knowledge, caller, repository, collection } = place;
    const failures: unknown[] = [];
    const running = new Set<Promise<void>>();
    const busy = (times: number, work: (i: number) => Promise<unknown>): void => {
      const all = (async () => {
        for (let i = 0; i < times; i += 1) {
          await work(i).catch((error: unknown) => void failures.push(error));
          // Memory stores answer synchronously: yield to the others.
          await sleep(5);
        }
      })().finally(() => running.delete(all));
      running.add(all);
    };
    busy(40, (i) => upload(place, `a${i % 7}.txt`, `text ${i} `.repeat((i % 40) + 1), { replace: true }));
    busy(40, (i) => upload(place, `b${i % 5}.md`, `# Title ${i}\n\nBody of ${i} is here.`, { replace: true }));
    busy(30, async () => {
      const { items } = await knowledge.documents.list(caller, repository, collection, { limit: 20 });
      const victim = items.find(({ name }) => name.startsWith("a") || name.startsWith("b"));
      if (victim !== undefined) await knowledge.documents.delete(caller, repository, collection, victim.document_id);
    });
    busy(8, async (i) => {
      const id = `short-${i}`;
      await knowledge.collections.create(caller, repository, { collection_id: id });
      const short: Place = { ...place, collection: id };
      await upload(short, "x.txt", "short lived");
      await knowledge.collections.delete(caller, repository, id, { purge: true, confirm: id });
    });
    const reports: AuditReport[] = [];
    for (let round = 0; round < 4 || running.size > 0; round += 1) {
      if (round === 1) await knowledge.collections.reindex(caller, repository, collection);
      reports.push(await world.fsck({ deep: round % 2 === 0, repair: round >= 2 }));
    }
    for (const report of reports) expect(report.findings).toEqual([]);
    expect(reports.reduce((sum, { checked }) => sum + checked.documents, 0)).toBeGreaterThan(reports.length * 2);
    // Only errors of lost races.
    for (const error of failures)
      expect(error).toMatchObject({
        code: expect.stringMatching(/^(?:CONFLICT|NOT_FOUND|PRECONDITION_FAILED|UNAVAILABLE)$/),
      });
    await world.rest(place);
    const last = await world.fsck({ repository, collection, deep: true });
    expect(last.findings).toEqual([]);
    expect(await knowledge.collections.usage(caller, repository, collection)).toMatchObject({ consistent: true });
  },
);
