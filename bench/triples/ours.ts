/** Pinakes' triples in SQLite, through the port. */
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Quad } from "../../packages/pinakes/src/domain/rdf.ts";
import { tenantScope } from "../../packages/pinakes/src/domain/scope.ts";
import { openSqliteTriples } from "../../packages/pinakes/src/drivers/sqlite/index.ts";
import { triples } from "./data.ts";
import { patternOf, rowsMax, type Shape } from "./patterns.ts";
import type { Loaded } from "./loaded.ts";

const scope = tenantScope("bench");
const space = "graph";
const batchQuads = 50_000;

export async function loadOurs(): Promise<Loaded> {
  const dir = mkdtempSync(join(tmpdir(), "pinakes-bench-"));
  const store = await openSqliteTriples({ dir });
  await store.open(scope, space);
  let ms = 0;
  let batch: Quad[] = [];
  const flush = async (): Promise<void> => {
    const start = performance.now();
    await store.write(scope, space, { insert: batch });
    ms += performance.now() - start;
    batch = [];
  };
  for (const triple of triples()) {
    batch.push(triple);
    if (batch.length === batchQuads) await flush();
  }
  if (batch.length > 0) await flush();
  const { quads } = await store.usage(scope, space);
  return {
    quads,
    perSecond: (quads * 1_000) / ms,
    ask: async (shape: Shape, quad: Quad) =>
      (await store.match(scope, space, patternOf(shape, quad), { limit: rowsMax })).quads.length,
    close: async () => {
      await store.close();
      const bytes = statSync(join(dir, "pinakes-triples.sqlite")).size;
      rmSync(dir, { recursive: true, force: true });
      return bytes;
    },
  };
}
