/**
 * Copies the contents of an incarnation into another one, store by store, the records last. Each step is idempotent: objects and records
 * are overwritten with the same, rows and quads are sets. The fence of the new incarnation stops an overtaken copier.
 */
import { PinakesError } from "../../domain/errors.ts";
import type { Quad } from "../../domain/rdf.ts";
import type { Scope } from "../../domain/scope.ts";
import type { Operation } from "../../ports/item-store.ts";
import type { Incarnation } from "../../lifecycle/index.ts";
import { CollectionPartition } from "../../knowledge/records/collection-partition.ts";
import { itemIds, type CollectionRecord } from "../../knowledge/records/records.ts";
import { appendCompacting } from "../../knowledge/raw-vectors/append-compacting.ts";
import { openRestricted, restrictedOperations } from "../../knowledge/records/restricted-rows.ts";
import { ownVectorsName } from "../../knowledge/records/raw-vectors-name.ts";
import { alive, incarnationItems, settingsOfVectors, type Beat, type IncarnationStores } from "./incarnation-rows.ts";
import type { MovedNames } from "./moved-names.ts";

const phases = ["objects", "passages", "rows", "triples", "items"] as const;
type Phase = (typeof phases)[number];

/** Progress of a copy: all earlier phases, and this one up to a phase-specific cursor. */
export interface CopyProgress {
  readonly phase: Phase | "done";
  readonly after?: string;
  readonly copied: number;
}

export interface IncarnationToCopy {
  readonly scope: Scope;
  readonly from: CollectionRecord;
  readonly to: Incarnation;
  readonly names: MovedNames;
  /** Unique for the migration. */
  readonly label: string;
  readonly signal: AbortSignal;
  readonly beat?: Beat | undefined;
}

const objectsPerStep = 100;
const rowsPerStep = 500;
const quadsPerStep = 1_000;
/** One less than the batch limit of every engine, for the check of the fence. */
const itemsPerBatch = 20;

/** Without a cursor: the last one of its phase. */
type Step = { readonly after?: string | undefined; readonly copied: number };

export async function* copyIncarnation(
  parts: IncarnationStores,
  work: IncarnationToCopy,
  from: CopyProgress = { phase: "objects", copied: 0 },
): AsyncGenerator<CopyProgress> {
  let { copied } = from;
  if (from.phase !== "done") await copyRestricted(parts, work);
  const steps: Readonly<Record<Phase, (after: string | undefined) => AsyncGenerator<Step>>> = {
    objects: (after) => copyObjects(parts, work, after),
    passages: (after) => copyPassages(parts, work, after),
    rows: (after) =>
      copyVectors(
        parts,
        work,
        { from: ownVectorsName(work.from.incarnation), to: ownVectorsName(work.to.incarnation), phase: "rows" },
        after,
      ),
    triples: (after) => copyQuads(parts, work, after),
    items: (after) => copyItems(parts, work, after),
  };
  for (const [i, phase] of phases.entries()) {
    if (from.phase === "done" || i < phases.indexOf(from.phase)) continue;
    for await (const step of steps[phase](phase === from.phase ? from.after : undefined)) {
      work.signal.throwIfAborted();
      copied += step.copied;
      if (step.after !== undefined) yield { phase, after: step.after, copied };
    }
    yield { phase: phases[i + 1] ?? "done", copied };
  }
}

/** Before anything of a document that not everybody may see. */
async function copyRestricted(
  { items }: IncarnationStores,
  { scope, from, to, signal }: IncarnationToCopy,
): Promise<void> {
  if (from.restricted !== true) return;
  const target = new CollectionPartition(items, scope, to);
  await openRestricted(items, target, {});
  for (const row of await new CollectionPartition(items, scope, from).restricted()) {
    signal.throwIfAborted();
    await target.write(restrictedOperations(target, undefined, row));
  }
}

async function* copyObjects(
  { items, objects }: IncarnationStores,
  { scope, from, to, signal, beat }: IncarnationToCopy,
  begin: string | undefined,
): AsyncGenerator<Step> {
  const [source, target] = [
    new CollectionPartition(items, scope, from).prefix,
    new CollectionPartition(items, scope, to).prefix,
  ];
  for (let after = begin; ;) {
    const page = await objects.list(scope, source, { limit: objectsPerStep, signal, after });
    for (const { key } of page.keys) {
      const body = await objects.stream(scope, key, { signal });
      if (body === undefined)
        throw new PinakesError("CONFLICT", `The object ${key} was deleted while it was copied; copy again.`);
      await objects.put(scope, target + key.slice(source.length), alive(body, beat), { signal });
    }
    after = page.next;
    yield { after, copied: page.keys.length };
    if (after === undefined) return;
  }
}

async function* copyPassages(
  parts: IncarnationStores,
  work: IncarnationToCopy,
  after: string | undefined,
): AsyncGenerator<Step> {
  const [source, target] = [
    new CollectionPartition(parts.items, work.scope, work.from),
    new CollectionPartition(parts.items, work.scope, work.to),
  ];
  const generation = (await source.fence())?.record.generation ?? 1;
  yield* copyVectors(
    parts,
    work,
    { from: source.vectors(generation), to: target.vectors(generation), phase: "passages" },
    after,
  );
}

/** Ordered by id: rows have no stable order. */
async function* copyVectors(
  parts: IncarnationStores,
  { scope, names, label, signal, beat }: IncarnationToCopy,
  { from, to, phase }: { readonly from: string; readonly to: string; readonly phase: "passages" | "rows" },
  after: string | undefined,
): AsyncGenerator<Step> {
  const settings = await settingsOfVectors(parts, scope, from);
  if (settings === undefined) return;
  const ids: string[] = [];
  for await (const { id } of alive(parts.vectors.rows(scope, from), beat)) {
    if (ids.push(id) % rowsPerStep === 0) signal.throwIfAborted();
  }
  ids.sort();
  for (let step = after === undefined ? 0 : Number(after); step * rowsPerStep < ids.length; step += 1) {
    signal.throwIfAborted();
    const some = ids.slice(step * rowsPerStep, (step + 1) * rowsPerStep);
    const rows = (await parts.vectors.get(scope, from, some)).flatMap((row) => (row === undefined ? [] : [row]));
    const upsert = phase === "rows" ? rows : rows.map((row) => ({ ...row, metadata: names.passage(row.metadata) }));
    await parts.vectors.create(scope, to, settings);
    await appendCompacting(parts, scope, to, { deltaId: `${label}.${phase}.${step}`, upsert }, { signal, beat });
    yield { after: String(step + 1), copied: upsert.length };
  }
}

async function* copyQuads(
  { triples }: IncarnationStores,
  { scope, from, to, names, signal }: IncarnationToCopy,
  begin: string | undefined,
): AsyncGenerator<Step> {
  for (let cursor = begin; ;) {
    signal.throwIfAborted();
    const page = await triples.match(scope, from.incarnation, {}, { limit: quadsPerStep, cursor });
    if (page.quads.length > 0) {
      const supports = await triples.supports(scope, from.incarnation, page.quads);
      await triples.open(scope, to.incarnation);
      const moved = page.quads.map((quad) => names.quad(quad));
      // Asserted quads with supports are asserted in the target, too: they outlive their supports.
      const alone = await triples.asserted(scope, from.incarnation, page.quads);
      const asserted = moved.filter((_, i) => alone[i] === true);
      if (asserted.length > 0) await triples.write(scope, to.incarnation, { insert: asserted });
      const found = moved.flatMap((quad, i) => (supports[i] ?? []).map((support) => ({ quad, support })));
      for (const group of Map.groupBy(found, ({ support }) =>
        JSON.stringify([support.source, support.part]),
      ).values()) {
        const [first] = group;
        const insert: readonly Quad[] = group.map(({ quad }) => quad);
        if (first !== undefined) await triples.write(scope, to.incarnation, { insert, source: first.support });
      }
    }
    cursor = page.cursor;
    yield { after: cursor, copied: page.quads.length };
    if (cursor === undefined) return;
  }
}

async function* copyItems(
  parts: IncarnationStores,
  { scope, from, to, names, signal }: IncarnationToCopy,
  after: string | undefined,
): AsyncGenerator<Step> {
  const partition = new CollectionPartition(parts.items, scope, to);
  let waiting: Operation[] = [];
  let last = "";
  const flush = async (): Promise<number> => {
    const copied = waiting.length;
    if (copied > 0) await partition.write(waiting);
    waiting = [];
    return copied;
  };
  for await (const { id, document } of incarnationItems(parts, { scope, record: from, signal }, after)) {
    waiting.push({ op: "upsert", document: names.item(document) });
    last = id;
    if (waiting.length === itemsPerBatch) yield { after: last, copied: await flush() };
  }
  yield { copied: await flush() };
  const stats = (await new CollectionPartition(parts.items, scope, from).stats())?.record;
  if (stats !== undefined)
    await partition.write([
      { op: "upsert", document: { ...partition.document(itemIds.stats, { ...stats, ...shelfPlace(to) }) } },
    ]);
}

function shelfPlace({ repository_id, incarnation }: Incarnation): {
  readonly repository_id: string;
  readonly incarnation: string;
} {
  return { repository_id, incarnation };
}
