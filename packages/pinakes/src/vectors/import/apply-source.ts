/** Appends one source to a collection: all of it is validated first, then it is appended part by part, each part once. */
import { hasCode, PinakesError, invalid } from "../../domain/errors.ts";
import type { Scope } from "../../domain/scope.ts";
import type { ObjectStore } from "../../ports/object-store.ts";
import type { AppendInput } from "../log/append.ts";
import type { NewCollection } from "../log/create.ts";
import type { CollectionSettings } from "../segment/collection-settings.ts";
import type { Vectors } from "../vectors.ts";
import { Fingerprint, checkForeignRow } from "./foreign-row.ts";
import { intakeLimits } from "./limits.ts";
import { Ledger } from "./ledger.ts";
import { inParts, type Split } from "./parts.ts";
import type { Source } from "./source.ts";

export interface ImportTarget {
  readonly vectors: Vectors;
  /** The location of the ledger: the object store of Pinakes itself. */
  readonly objects: ObjectStore;
  readonly scope: Scope;
  readonly collection: string;
}

export interface ApplyOptions {
  /** Identifies the source for ever. */
  readonly key: string;
  /** Creates the collection if it is absent; missing settings are read from the source. */
  readonly create?: Partial<NewCollection> | undefined;
  readonly split?: Partial<Split> | undefined;
  readonly signal?: AbortSignal | undefined;
  /** How a part is appended; tests and imports retry here. */
  readonly append?: ((input: AppendInput) => Promise<unknown>) | undefined;
  readonly onPart?:
    | ((progress: { readonly part: number; readonly rowsAppended: number; readonly rows: number }) => void)
    | undefined;
}

export interface Applied {
  readonly rows: number;
  /** Over all runs; the count of this one is lower after a crash, and 0 if all had been appended before. */
  readonly parts: number;
  readonly partsNow: number;
}

export async function applySource(target: ImportTarget, source: Source, options: ApplyOptions): Promise<Applied> {
  const { key, signal } = options;
  const settings = await settingsOf(target, source, options.create);
  // An empty source has no settings for a new collection.
  if (settings === undefined) return { rows: 0, parts: 0, partsNow: 0 };
  const { fingerprint, rows } = await check(source, settings, signal);
  const ledger = new Ledger(target.objects, target.scope, target.collection);
  const known = await ledger.read(key);
  if (known !== undefined && known.fingerprint !== fingerprint) throw changed(key);
  if (known?.done === true) return { rows, parts: known.partsAppended, partsNow: 0 };
  const split = known?.split ?? {
    rows: options.split?.rows ?? intakeLimits.partRowsMax,
    bytes: options.split?.bytes ?? intakeLimits.partBytesMax,
  };
  let entry = known ?? { key, fingerprint, split, rows, partsAppended: 0, done: false };
  if (known === undefined) await ledger.write(entry);
  const append =
    options.append ?? ((input: AppendInput) => target.vectors.append(target.scope, target.collection, input));
  let part = 0;
  let rowsAppended = 0;
  for await (const { changes, rows: partRows } of inParts(source.rows(), split)) {
    signal?.throwIfAborted();
    rowsAppended += partRows;
    if (part >= entry.partsAppended) {
      await append({ ...changes, deltaId: `intake:${Ledger.nameOf(key)}:${part}` });
      entry = { ...entry, partsAppended: part + 1 };
      await ledger.write(entry);
    }
    part += 1;
    options.onPart?.({ part, rowsAppended, rows });
  }
  await ledger.write({ ...entry, done: true });
  return { rows, parts: part, partsNow: part - (known?.partsAppended ?? 0) };
}

/** Every row, before the first one is appended: an invalid source changes nothing. */
async function check(
  source: Source,
  settings: CollectionSettings,
  signal: AbortSignal | undefined,
): Promise<{ fingerprint: string; rows: number }> {
  const fingerprint = new Fingerprint();
  let rows = 0;
  for await (const row of source.rows()) {
    signal?.throwIfAborted();
    fingerprint.add(checkForeignRow(row, settings));
    rows += 1;
  }
  return { fingerprint: fingerprint.end(), rows };
}

async function settingsOf(
  target: ImportTarget,
  source: Source,
  create: Partial<NewCollection> | undefined,
): Promise<CollectionSettings | undefined> {
  const { vectors, scope, collection } = target;
  const there = await vectors.stats(scope, collection).catch((error: unknown) => {
    if (hasCode(error, "NOT_FOUND") && create !== undefined) return undefined;
    throw error;
  });
  if (create === undefined) return there?.settings;
  const dims = create.dims ?? there?.settings.dims ?? (await firstDims(source));
  if (dims === undefined) return undefined;
  const metric = create.metric ?? there?.settings.metric ?? source.metric() ?? "cosine";
  const wanted = { ...there?.settings, ...create, dims, metric };
  await vectors.create(scope, collection, wanted);
  return (await vectors.stats(scope, collection)).settings;
}

async function firstDims(source: Source): Promise<number | undefined> {
  for await (const { op, row, where } of source.rows()) {
    if (op !== "put") continue;
    const { vector } = row;
    if (Array.isArray(vector) || vector instanceof Float32Array) return vector.length;
    throw invalid(`${where}: vector: must be a list of numbers.`);
  }
  for await (const { where } of source.rows())
    throw invalid(`${where}: no row here has a vector, which is needed for the dims; create the collection first.`);
  return undefined;
}

function changed(key: string): PinakesError {
  return new PinakesError(
    "CONFLICT",
    `${key}: was imported before, with other content. Announced content must not change: put the new rows under a new key.`,
  );
}
