/**
 * What a run would do: compares the files of the source with the documents that came from it. A file is identified by its URI, so files of
 * the same name in different folders are different documents. Skipped files leave the collection unchanged.
 */
import { PinakesError, invalid } from "../domain/errors.ts";
import type { ItemStore } from "../ports/item-store.ts";
import type { SourceEntry, SourceFile, SourceProblem, SourceReader } from "../ports/source-reader.ts";
import type { CollectionPartition } from "../knowledge/records/collection-partition.ts";
import { typeOf } from "../knowledge/documents/check-upload.ts";
import { knowledgeLimits } from "../knowledge/limits.ts";
import { sourceKey } from "../knowledge/records/ids.ts";
import { checkFileName } from "../knowledge/records/names.ts";
import {
  documentsContainer,
  itemIds,
  type DocumentRecord,
  type PipelineSettings,
  type RepositoryRecord,
} from "../knowledge/records/records.ts";
import { fileOf, isSidecar, sidecarOf, withSidecar } from "./access-sidecar.ts";
import { pipelineLimits } from "./limits.ts";
import { control, filesBegin } from "./source.ts";

export interface PlanDependencies {
  readonly items: ItemStore;
  readonly reader: SourceReader;
  readonly partition: CollectionPartition;
  readonly pipeline: PipelineSettings;
  readonly repository: RepositoryRecord;
  readonly fileBytesMax: number;
  /** The job that executes the plan: it repeats what it left unfinished. */
  readonly jobId?: string | undefined;
  readonly sourceFilesMax?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface Gone {
  readonly uri: string;
  readonly document_id: string;
}

export interface Plan {
  readonly add: readonly SourceFile[];
  readonly replace: readonly SourceFile[];
  /** Documents whose files are gone; removed only if the pipeline removes. */
  readonly gone: readonly Gone[];
  readonly unchanged: number;
  readonly skipped: readonly SourceProblem[];
}

export interface FullPlan extends Plan {
  /** Number of documents of this pipeline. */
  readonly documents: number;
}

/** Plans all files. Reads the partition itself, not an index: a document that an index misses would be added again. */
export async function planAll(deps: PlanDependencies): Promise<FullPlan> {
  const { reader, pipeline, signal, sourceFilesMax = pipelineLimits.sourceFilesMax } = deps;
  const known = new Map<string, DocumentRecord>();
  for await (const record of documentsOf(deps)) known.set(record.source.uri, record);
  const documents = [...known.values()].filter((record) => isOwn(record, pipeline)).length;
  const sorted = new Sorted(deps);
  let files = 0;
  const entries: SourceEntry[] = [];
  const sidecars = new Map<string, SourceFile>();
  for await (const entry of reader.list(signal)) {
    files += 1;
    if (files > sourceFilesMax)
      throw new PinakesError(
        "LIMIT_EXCEEDED",
        `${pipeline.source} has more than ${sourceFilesMax} files. Create several pipelines for its folders.`,
      );
    if (!isSidecar(entry.uri)) entries.push(entry);
    else if (!("reason" in entry)) sidecars.set(entry.uri, entry);
  }
  for (const entry of entries) {
    const file = "reason" in entry ? entry : withSidecar(entry, sidecars.get(sidecarOf(entry.uri)));
    sorted.present(file, known.get(entry.uri));
    known.delete(entry.uri);
  }
  for (const record of known.values()) sorted.absent(record);
  return { ...sorted.plan(), documents };
}

/** Plans some files, which may have been changed, added or removed. */
export async function planSome(deps: PlanDependencies, uris: readonly string[]): Promise<Plan> {
  const sorted = new Sorted(deps);
  const begin = filesBegin(deps.pipeline.source);
  for (const uri of new Set(uris.map(fileOf))) {
    deps.signal?.throwIfAborted();
    if (!uri.startsWith(begin)) continue;
    const [entry, sidecar, known] = await Promise.all([
      deps.reader.stat(uri, deps.signal),
      deps.reader.stat(sidecarOf(uri), deps.signal),
      deps.partition.documentOf(sourceKey(uri)),
    ]);
    const file =
      entry === undefined || "reason" in entry || sidecar === undefined || "reason" in sidecar
        ? entry
        : withSidecar(entry, sidecar);
    if (file !== undefined) sorted.present(file, known?.record);
    else if (known !== undefined) sorted.absent(known.record);
  }
  return sorted.plan();
}

/** Why this many documents may not be removed at once; undefined if they may. A folder that is not mounted must not empty a collection. */
export function removalGuard(pipeline: PipelineSettings, gone: number, documents: number): string | undefined {
  if (
    !pipeline.auto_remove ||
    gone === 0 ||
    documents < pipelineLimits.guardDocumentsMin ||
    gone <= pipeline.max_removal_share * documents
  )
    return undefined;
  return (
    `${gone} of the pipeline's ${documents} documents would be removed, which exceeds its max_removal_share of ${pipeline.max_removal_share}. ` +
    `Nothing was done. Check whether ${pipeline.source} is complete; if these files were deleted on purpose, run the pipeline with force.`
  );
}

/** Whether this many removals could exceed the limit: only then the pipeline's documents must be counted. */
export function mayBeTooMany(pipeline: PipelineSettings, gone: number): boolean {
  return pipeline.auto_remove && gone > 0 && gone > pipeline.max_removal_share * pipelineLimits.guardDocumentsMin;
}

export async function countDocuments(deps: PlanDependencies): Promise<number> {
  let count = 0;
  for await (const record of documentsOf(deps)) if (isOwn(record, deps.pipeline)) count += 1;
  return count;
}

/** Includes those of an earlier pipeline with the same source, which are adopted if their files exist. */
async function* documentsOf({ items, partition, pipeline, signal }: PlanDependencies): AsyncGenerator<DocumentRecord> {
  const begin = filesBegin(pipeline.source);
  const { repository_id, incarnation } = partition.key;
  for (let cursor: string | undefined; ;) {
    signal?.throwIfAborted();
    const page = await items.query(partition.scope, documentsContainer.name, {
      equals: { repository_id, incarnation },
      range: { prefix: itemIds.document("") },
      filter: { "source.type": { in: ["auto", "existing"] } },
      limit: 500,
      cursor,
    });
    for (const { document } of page.items) {
      const record = document as unknown as DocumentRecord;
      if (record.source.uri.startsWith(begin)) yield record;
    }
    cursor = page.cursor;
    if (cursor === undefined) return;
  }
}

class Sorted {
  readonly #deps: PlanDependencies;
  readonly #add: SourceFile[] = [];
  readonly #replace: SourceFile[] = [];
  readonly #gone: Gone[] = [];
  readonly #skipped: SourceProblem[] = [];
  #unchanged = 0;

  constructor(deps: PlanDependencies) {
    this.#deps = deps;
  }

  present(entry: SourceEntry, known: DocumentRecord | undefined): void {
    if ("reason" in entry) return void this.#skipped.push(entry);
    if (known !== undefined && this.#isSame(entry, known)) return void (this.#unchanged += 1);
    const reason = objection(entry, known, this.#deps);
    if (reason !== undefined) this.#skipped.push({ uri: entry.uri, reason });
    else (known === undefined ? this.#add : this.#replace).push(entry);
  }

  /** Documents of another pipeline, or of referenced bytes, stay. */
  absent(record: DocumentRecord): void {
    if (isOwn(record, this.#deps.pipeline))
      this.#gone.push({ uri: record.source.uri, document_id: record.document_id });
  }

  plan(): Plan {
    return {
      add: this.#add,
      replace: this.#replace,
      gone: this.#gone,
      unchanged: this.#unchanged,
      skipped: this.#skipped,
    };
  }

  /** Nothing to read: the bytes are stored, or are being fetched. A parse failure does not fix itself. */
  #isSame(file: SourceFile, known: DocumentRecord): boolean {
    if (known.source.etag !== file.etag || !isOwn(known, this.#deps.pipeline)) return false;
    if (known.status === "uploading") return known.job_id !== this.#deps.jobId;
    return known.status !== "failed" || known.versions[0]?.version === known.version;
  }
}

function isOwn({ source }: DocumentRecord, { pipeline_id }: PipelineSettings): boolean {
  return source.type === "auto" && source.pipeline_id === pipeline_id;
}

/** Why a file is skipped. */
function objection(
  { uri, name, bytes }: SourceFile,
  known: DocumentRecord | undefined,
  { repository, fileBytesMax }: PlanDependencies,
): string | undefined {
  if (known?.source.type === "existing")
    return "is already in the collection, as a document that only references its bytes";
  if (name.startsWith(".")) return "is hidden: its name starts with a dot";
  if (uri.length > knowledgeLimits.sourceCharsMax)
    return `its URI has more than ${knowledgeLimits.sourceCharsMax} characters`;
  if (bytes === 0) return "is empty";
  if (bytes > fileBytesMax) return `has ${bytes} bytes; the limit is ${fileBytesMax}`;
  try {
    if (control.test(uri) || !uri.isWellFormed()) throw invalid("its URI has control characters");
    typeOf(checkFileName(name), repository);
    return undefined;
  } catch (error) {
    if (PinakesError.isInstance(error)) return error.detail;
    throw error;
  }
}
