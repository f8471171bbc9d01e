/**
 * Imports the output of another pipeline: `snapshot/latest/` first, then each `delta/…` in the order of the names (R-CMP-41). Importing it
 * again, or after a crash, continues where it stopped; appended parts are never appended again, also after newer writes.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { PinakesError } from "../../domain/errors.ts";
import { compareUtf8 } from "../../domain/json.ts";
import type { Scope } from "../../domain/scope.ts";
import type { ObjectStore } from "../../ports/object-store.ts";
import type { AppendInput } from "../log/append.ts";
import type { NewCollection } from "../log/create.ts";
import type { Vectors } from "../vectors.ts";
import { applySource, type Applied, type ImportTarget } from "./apply-source.ts";
import { intakeLimits } from "./limits.ts";
import { isNdjson } from "./ndjson.ts";
import { objectsReader, type SourceReader } from "./reader.ts";
import { openSource } from "./source.ts";

export interface ImportOptions {
  /** The path before `snapshot/` and `delta/`: "" or a folder that ends in "/". */
  readonly prefix: string;
  readonly collection: string;
  /** Creates the collection; dims and metric are read from the data if absent. Without it the collection must exist. */
  readonly create?: Partial<NewCollection> | undefined;
  /** Where the files are: the tenant's space of the object store when absent; a folder with `folderReader`. */
  readonly from?: SourceReader | undefined;
  /** Distinguishes imports from several locations whose keys are the same. */
  readonly label?: string | undefined;
  /** The collection inside Chroma, where a directory has several. */
  readonly chromaCollection?: string | undefined;
  /** False: only the deltas, for a snapshot that has changed since it was imported. */
  readonly snapshot?: boolean | undefined;
  readonly partRowsMax?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: (progress: ImportProgress) => void;
}

export interface ImportProgress {
  readonly key: string;
  /** Of the sources of this import, counting from 1. */
  readonly source: number;
  readonly sources: number;
  readonly rowsAppended: number;
  readonly rows: number;
}

export interface ImportResult {
  readonly sources: readonly (Applied & { readonly key: string })[];
  /** Of all sources, and how many deltas this run has appended: 0 if all had been imported before. */
  readonly rows: number;
  readonly partsNow: number;
  /** Files that are neither rows nor part of a Chroma directory. */
  readonly ignored: readonly string[];
}

/**
 * @example
 * await importLayout(pinakes.vectors, pinakes.objects, scope, { prefix: "", collection: "papers", create: {} });
 * await importLayout(pinakes.vectors, pinakes.objects, scope, { prefix: "", collection: "papers", from: folderReader("./old"), create: { metric: "cosine" } });
 */
export async function importLayout(
  vectors: Vectors,
  objects: ObjectStore,
  scope: Scope,
  options: ImportOptions,
): Promise<ImportResult> {
  const { collection, label = "", signal, onProgress, partRowsMax } = options;
  const reader = options.from ?? objectsReader(objects, scope);
  const target = { vectors, objects, scope, collection };
  const { keys, ignored } = await layoutOf(reader, options);
  const sources: (Applied & { key: string })[] = [];
  for (const [i, key] of keys.entries()) {
    await using source = await openSource(
      reader,
      key,
      { collection: options.chromaCollection, preferred: collection },
      signal,
    );
    const applied = await applySource(target, source, {
      key: label + key,
      create: options.create,
      split: partRowsMax === undefined ? undefined : { rows: partRowsMax },
      signal,
      append: (input) => appendPatiently(target, input, signal),
      onPart: ({ rowsAppended, rows }) =>
        onProgress?.({ key, source: i + 1, sources: keys.length, rowsAppended, rows }),
    });
    ignored.push(...source.ignored);
    sources.push({ key, ...applied });
  }
  const sum = (field: "rows" | "partsNow") => sources.reduce((total, source) => total + source[field], 0);
  return { sources, rows: sum("rows"), partsNow: sum("partsNow"), ignored };
}

async function layoutOf(
  reader: SourceReader,
  { prefix, snapshot = true, signal }: ImportOptions,
): Promise<{ keys: string[]; ignored: string[] }> {
  const latest = `${prefix}snapshot/latest/`;
  const folder = `${prefix}delta/`;
  const keys: string[] = [];
  const ignored: string[] = [];
  if (snapshot)
    for await (const _ of reader.list(latest, signal)) {
      keys.push(latest);
      break;
    }
  const deltas = new Set<string>();
  for await (const { key } of reader.list(folder, signal)) {
    const [name = "", ...rest] = key.slice(folder.length).split("/");
    if (rest.length > 0) deltas.add(`${folder}${name}/`);
    else if (isNdjson(name) || name.endsWith(".parquet")) deltas.add(key);
    else ignored.push(key);
  }
  keys.push(...[...deltas].toSorted(compareUtf8));
  if (keys.length === 0)
    throw new PinakesError("NOT_FOUND", `There is neither ${latest} nor anything in ${folder}; check the prefix.`);
  return { keys, ignored };
}

/** A full collection is compacted here and now: an import must not depend on another process's background work. */
async function appendPatiently(
  { vectors, scope, collection }: ImportTarget,
  input: AppendInput,
  signal: AbortSignal | undefined,
): Promise<void> {
  const deadline = performance.now() + intakeLimits.waitMsMax;
  for (let pauseMs: number = intakeLimits.pauseMsFirst; ; pauseMs = Math.min(pauseMs * 2, intakeLimits.pauseMsMax)) {
    try {
      await vectors.append(scope, collection, input);
      return;
    } catch (error) {
      if (!PinakesError.isInstance(error) || !error.retryable || performance.now() > deadline) throw error;
      if (error.code === "THROTTLED") await vectors.compact(scope, collection, signal === undefined ? {} : { signal });
      await sleep(pauseMs, undefined, signal === undefined ? {} : { signal });
    }
  }
}
