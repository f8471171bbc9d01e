/** quadstore on classic-level: the JavaScript triple store that keeps its data on disk. Terms are its own objects. */
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ClassicLevel } from "classic-level";
import { DataFactory } from "n3";
import { Quadstore } from "quadstore";
import { termOf, type Quad } from "../../packages/pinakes/src/domain/rdf.ts";
import { triples } from "./data.ts";
import type { Loaded } from "./loaded.ts";
import { rowsMax, type Shape } from "./patterns.ts";

/** It holds several copies of a batch in memory; larger ones are no faster. */
const batchQuads = 1_000;

function term(text: string) {
  const read = termOf(text);
  if (read.type === "iri") return DataFactory.namedNode(read.value);
  if (read.type === "blank") return DataFactory.blankNode(read.value);
  return DataFactory.literal(
    read.value,
    read.language ?? (read.datatype === undefined ? undefined : DataFactory.namedNode(read.datatype)),
  );
}

export async function loadQuadstore(): Promise<Loaded> {
  const dir = mkdtempSync(join(tmpdir(), "quadstore-bench-"));
  const store = new Quadstore({ backend: new ClassicLevel(dir), dataFactory: DataFactory as never });
  await store.open();
  let ms = 0;
  let quads = 0;
  let batch: unknown[] = [];
  const flush = async (): Promise<void> => {
    const start = performance.now();
    await store.multiPut(batch as never);
    ms += performance.now() - start;
    quads += batch.length;
    batch = [];
  };
  for (const { s, p, o } of triples()) {
    batch.push(DataFactory.quad(term(s) as never, term(p) as never, term(o) as never));
    if (batch.length === batchQuads) await flush();
  }
  if (batch.length > 0) await flush();
  return {
    quads,
    perSecond: (quads * 1_000) / ms,
    ask: async (shape: Shape, quad: Quad) => {
      const pattern = {
        ...(shape.s ? { subject: term(quad.s) } : {}),
        ...(shape.p ? { predicate: term(quad.p) } : {}),
        ...(shape.o ? { object: term(quad.o) } : {}),
      };
      const { items } = (await store.get(pattern as never, { limit: rowsMax })) as { items: unknown[] };
      return items.length;
    },
    close: async () => {
      await store.close();
      const bytes = readdirSync(dir).reduce((sum, file) => sum + statSync(join(dir, file)).size, 0);
      rmSync(dir, { recursive: true, force: true });
      return bytes;
    },
  };
}
