/** Checks the sources of an incarnation's triples: each document and run exists, or is about to be removed. */
import type { Quad } from "../domain/rdf.ts";
import { tolerate } from "../runtime/expected-errors.ts";
import { sourceMark } from "../knowledge/documents/graph-support.ts";
import { readSource } from "../knowledge/records/graph-source.ts";
import { keepTriples } from "./quarantine/index.ts";
import { found, keeping, mayRepair, type IncarnationRun } from "./audit-run.ts";
import { auditLimits } from "./limits.ts";
import { namesSource, readNamed } from "./named.ts";

export async function checkTriples(run: IncarnationRun): Promise<void> {
  // Deleted concurrently: the purge removes everything.
  await tolerate(walk(run), "CONFLICT");
}

async function walk(run: IncarnationRun): Promise<void> {
  const { deps, scope, signal, findings, partition } = run;
  const space = partition.key.incarnation;
  const seen = new Set<string>();
  for (let cursor: string | undefined; ;) {
    signal.throwIfAborted();
    const page = await deps.triples.match(scope, space, {}, { limit: auditLimits.pageQuadsMax, cursor });
    findings.checked.triples += page.quads.length;
    const supports = await deps.triples.supports(scope, space, page.quads);
    for (const [i, list] of supports.entries()) {
      for (const { source } of list) {
        if (seen.has(source)) continue;
        seen.add(source);
        await checkSource(run, source, page.quads[i] as Quad);
      }
    }
    cursor = page.cursor;
    if (cursor === undefined) return;
  }
}

async function checkSource(run: IncarnationRun, source: string, quad: Quad): Promise<void> {
  const { deps, scope, partition, suspects } = run;
  const read = readSource(source);
  // A source that is not a document's.
  if (read === undefined) return;
  const record = (await partition.read(read.documentId))?.record;
  const mark = sourceMark(read);
  if (namesSource({ record, removals: [], kept: false }, mark)) return;
  const quiet = await suspects.isQuiet(scope.tenant);
  if (namesSource(await readNamed(deps.items, partition, read.documentId), mark)) return;
  // A re-index in progress handles its own generation.
  if ((await partition.fence())?.record.next?.generation === read.generation) return;
  const { incarnation } = partition.key;
  const [still] = await deps.triples.supports(scope, incarnation, [quad]);
  if (!(still ?? []).some((one) => one.source === source)) return;
  if (!quiet && !(await suspects.isOld(scope.tenant, "triples_without_support_source", `${incarnation} ${source}`)))
    return run.findings.wait();
  const detail = `Triples of run ${read.run}, which no record names.`;
  const repaired =
    mayRepair(run, "triples_without_support_source") &&
    (await keepTriples(run, keeping(run, read.documentId, detail), source));
  if (repaired) {
    await deps.triples.removeSource(scope, incarnation, source);
    run.findings.quarantine();
  }
  await found(run, {
    kind: "triples_without_support_source",
    store: "triples",
    document_id: read.documentId,
    key: source,
    detail,
    repaired,
  });
}
