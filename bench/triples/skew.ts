/**
 * R-TG-90: small collections keep their latency beside a large one. The same questions to the same small collections, before and after a
 * neighbour in the same store was loaded with a million triples.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Quad } from "../../packages/pinakes/src/domain/rdf.ts";
import { tenantScope } from "../../packages/pinakes/src/domain/scope.ts";
import { openSqliteTriples } from "../../packages/pinakes/src/drivers/sqlite/index.ts";
import { quantile, us } from "../lib/measure.ts";
import type { Row } from "../lib/report.ts";
import { triples } from "./data.ts";
import { patternOf, rowsMax, shapes } from "./patterns.ts";

const scope = tenantScope("bench");
const smallSpaces = 20;
const smallQuads = 1_000;
const batchQuads = 50_000;
const rounds = 4;
const askedPerSpace = 25;
/** Up to this factor the difference is noise: an index one level deeper, a cache shared with more pages. */
const slowerMax = 1.5;

export async function skewRows(): Promise<Row[]> {
  const dir = mkdtempSync(join(tmpdir(), "pinakes-bench-"));
  const store = await openSqliteTriples({ dir });
  try {
    // Interleaved through the whole of the data, so that a small collection shares its terms with the large one.
    const small = Array.from({ length: smallSpaces }, (): Quad[] => []);
    let at = 0;
    for (const triple of triples()) {
      const space = small[Math.floor(at / 37) % smallSpaces] as Quad[];
      if (space.length < smallQuads) space.push(triple);
      at += 1;
    }
    const ask = async (): Promise<number[]> => {
      const times: number[] = [];
      for (let round = 0; round < rounds; round += 1)
        for (const [n, quads] of small.entries())
          for (let i = 0; i < askedPerSpace; i += 1)
            for (const shape of shapes) {
              const quad = quads[(i * 39 + round) % quads.length] as Quad;
              const start = performance.now();
              await store.match(scope, `small-${n}`, patternOf(shape, quad), { limit: rowsMax });
              times.push((performance.now() - start) * 1_000);
            }
      return times;
    };
    for (const [n, quads] of small.entries()) {
      await store.open(scope, `small-${n}`);
      await store.write(scope, `small-${n}`, { insert: quads });
    }
    await ask(); // Warms up the JIT.
    const alone = await ask();
    await store.open(scope, "large");
    let batch: Quad[] = [];
    for (const triple of triples()) {
      batch.push(triple);
      if (batch.length < batchQuads) continue;
      await store.write(scope, "large", { insert: batch });
      batch = [];
    }
    if (batch.length > 0) await store.write(scope, "large", { insert: batch });
    const { quads } = await store.usage(scope, "large");
    const beside = await ask();
    return [0.5, 0.95].map((q) => {
      const [before, after] = [quantile(alone, q), quantile(beside, q)];
      const note = `${smallSpaces} collections of ${smallQuads}: ${us(before)} alone, ${us(after)} beside ${quads} triples`;
      return {
        name: `small collections beside a large one, p${q * 100}`,
        value: after / before,
        unit: "×",
        bar: { atMost: slowerMax },
        note,
      };
    });
  } finally {
    await store.close();
    rmSync(dir, { recursive: true, force: true });
  }
}
