/** Many collections: 10,000 in 100 repositories, four reads per write (R-LISA-27), and one hot repository (R-LISA-48). */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { open } from "../../packages/pinakes/src/open.ts";
import { quantile } from "../lib/measure.ts";
import type { Row } from "../lib/report.ts";

const repositories = 100;
const perRepository = 100;
const calls = 5_000;
const atOnce = 16;

export async function collectionRows(): Promise<readonly Row[]> {
  const dir = mkdtempSync(join(tmpdir(), "pinakes-bench-"));
  try {
    await using pinakes = await open({ dir, background: false });
    const { knowledge } = pinakes;
    const admin = pinakes.as({ tenant: "bench", userId: "root", role: "admin" });
    const place = (i: number) => ({ repository: `r${Math.floor(i / perRepository)}`, collection: `c${i}` });
    for (let r = 0; r < repositories; r += 1) await knowledge.repositories.create(admin, { repository_id: `r${r}` });
    await parallel(repositories * perRepository, async (i) => {
      const { repository, collection } = place(i);
      await knowledge.collections.create(admin, repository, { collection_id: collection, name: `Collection ${i}` });
    });
    const times: number[] = [];
    await parallel(calls, async (n) => {
      const i = (n * 7919) % (repositories * perRepository);
      const { repository, collection } = place(i);
      const began = performance.now();
      if (n % 5 === 0)
        await knowledge.collections.update(admin, repository, collection, { description: `change ${n}` });
      else if (n % 5 === 1) await knowledge.collections.list(admin, { repositoryId: repository, limit: 20 });
      else await knowledge.collections.get(admin, repository, collection);
      times.push(performance.now() - began);
    });
    const spread = await writes(
      async (n) =>
        void (await knowledge.collections.update(
          admin,
          `r${n % repositories}`,
          `c${(n % repositories) * perRepository + 7}`,
          { description: `spread ${n}` },
        )),
    );
    const hot = await writes(
      async (n) =>
        void (await knowledge.collections.update(admin, "r3", `c${300 + (n % perRepository)}`, {
          description: `hot ${n}`,
        })),
    );
    return [
      {
        name: "10,000 collections, 80:20: average latency",
        value: times.reduce((a, b) => a + b, 0) / times.length,
        unit: "ms",
        bar: { atMost: 100 },
        note: `${atOnce} at once; p50 ${quantile(times, 0.5).toFixed(2)} ms, p99 ${quantile(times, 0.99).toFixed(2)} ms`,
      },
      {
        name: "a hot repository against many: latency",
        value: hot / spread,
        unit: "ratio",
        bar: { atMost: 2 },
        note: `${hot.toFixed(2)} ms against ${spread.toFixed(2)} ms a write`,
      },
    ];
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

async function writes(write: (n: number) => Promise<void>): Promise<number> {
  const times: number[] = [];
  await parallel(2_000, async (n) => {
    const began = performance.now();
    await write(n);
    times.push(performance.now() - began);
  });
  return quantile(times, 0.5);
}

async function parallel(count: number, run: (n: number) => Promise<void>): Promise<void> {
  let next = 0;
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (let n = next++; n < count; n = next++) await run(n);
    }),
  );
}
