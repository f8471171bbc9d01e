/**
 * Rows with vectors that callers computed themselves: beside the chunks of documents, in separate vectors, with the same access and
 * lifecycle.
 */
import type { Manifest, NewRow, RowQuery, RowQueryAnswer, RowsWritten, VectorContents } from "@pinakes/client";
import { requireCaller, type Caller } from "../../domain/caller.ts";
import { hasCode, PinakesError, invalid } from "../../domain/errors.ts";
import type { Filter } from "../../domain/filter.ts";
import { tolerate } from "../../runtime/expected-errors.ts";
import type { CompactionResult } from "../../vectors/index.ts";
import { noteLateWrite } from "../records/late-writes.ts";
import { CollectionPartition } from "../records/collection-partition.ts";
import type { Collections } from "../collections/collections.ts";
import { archived, type OpenCollection } from "../access/open-collection.ts";
import { openOrCreate, openToQuery, type OpenOrCreateDependencies } from "../collections/open-or-create.ts";
import type { CollectionRecord } from "../records/records.ts";
import type { Repositories } from "../collections/repositories.ts";
import { requireStillTaking } from "../records/taking.ts";
import { ownVectorsName } from "../records/raw-vectors-name.ts";
import type { KnowledgeDependencies } from "../dependencies.ts";
import { shownCollection } from "../collections/shown-collection.ts";

export type { Manifest };

type Compacted = CompactionResult | { readonly outcome: "empty" };

export class RawVectors {
  readonly #deps: KnowledgeDependencies;
  readonly #collections: Collections;
  readonly #services: OpenOrCreateDependencies;

  constructor(deps: KnowledgeDependencies, collections: Collections, repositories: Repositories) {
    this.#services = { deps, collections, repositories };
    this.#deps = deps;
    this.#collections = collections;
  }

  /** The first rows set the dimension. */
  async upsert(
    caller: Caller,
    repositoryId: string,
    collectionId: string,
    input: { delta_id?: string | undefined; items: readonly NewRow[] },
  ): Promise<RowsWritten> {
    const dims = input.items[0]?.vector.length ?? 0;
    // Invalid rows create no collection; but a missing collection is reported first.
    const opened =
      dims === 0
        ? await this.#writable(caller, repositoryId, collectionId)
        : await openOrCreate(this.#services, caller, repositoryId, collectionId, undefined, "Writing vectors");
    if (opened.collection.status === "ARCHIVED") throw archived(opened.collection);
    if (dims === 0) throw invalid("items: must be a list of rows with vectors.");
    const upsert = input.items.map(({ id, vector, text, metadata }) => ({
      id,
      vector,
      ...(text === undefined ? {} : { text }),
      ...(metadata === undefined ? {} : { metadata }),
    }));
    const delta = { upsert, ...(input.delta_id === undefined ? {} : { deltaId: input.delta_id }) };
    return this.#append(caller, opened, delta, dims);
  }

  async delete(
    caller: Caller,
    repositoryId: string,
    collectionId: string,
    input: { delta_id?: string | undefined; ids: readonly string[] },
  ): Promise<RowsWritten> {
    const opened = await this.#writable(caller, repositoryId, collectionId);
    return this.#append(caller, opened, { delete: input.ids, deltaId: input.delta_id });
  }

  /** Runs in a slot for searches; waits for one at most until the signal aborts. */
  async query(
    caller: Caller,
    repositoryId: string,
    collectionId: string,
    input: RowQuery,
    { signal }: { readonly signal?: AbortSignal } = {},
  ): Promise<RowQueryAnswer> {
    const { tenant } = requireCaller(caller);
    const run = () => this.#query(caller, repositoryId, collectionId, input);
    return this.#deps.places?.searches.within(tenant, run, signal) ?? run();
  }

  async #query(caller: Caller, repositoryId: string, collectionId: string, input: RowQuery): Promise<RowQueryAnswer> {
    const opened = await openToQuery(this.#services, caller, repositoryId, collectionId);
    const { filter, min_score, include_vectors, include_metadata, ...query } = input;
    const found = await this.#found(caller, opened, {
      ...query,
      filter: filter as Filter | undefined,
      minScore: min_score,
      includeVectors: include_vectors,
    });
    if (include_metadata !== true) return found;
    return { ...found, collection: await shownCollection(this.#deps, caller, opened) };
  }

  async #found(
    caller: Caller,
    opened: OpenCollection,
    query: Parameters<KnowledgeDependencies["vectors"]["query"]>[2],
  ): Promise<RowQueryAnswer> {
    try {
      const { hits, mode } = await this.#deps.vectors.query(caller.scope, nameOf(opened), query);
      return {
        hits: hits.map(({ vector, ...hit }) => ({ ...hit, ...(vector === undefined ? {} : { vector: [...vector] }) })),
        mode_used: mode,
      };
    } catch (error) {
      if (isMissing(error)) return { hits: [], mode_used: query.mode ?? "vector" };
      throw error;
    }
  }

  /** The text of a row; undefined if there is no such row or it has no text. */
  async text(caller: Caller, repositoryId: string, collectionId: string, rowId: string): Promise<string | undefined> {
    const opened = await this.#collections.open(caller, repositoryId, collectionId);
    const [row] = await this.#deps.vectors.get(caller.scope, nameOf(opened), [rowId]);
    return row?.text;
  }

  /** The manifests of the chunks of documents, and of callers' own rows. */
  async manifest(caller: Caller, repositoryId: string, collectionId: string): Promise<Manifest> {
    const opened = await this.#collections.open(caller, repositoryId, collectionId);
    const [passages, rows] = await Promise.all([
      this.#contents(caller, await this.#passages(caller, opened)),
      this.#contents(caller, nameOf(opened)),
    ]);
    return { ...(passages ?? rows ?? { stats: null, versions: [] }), passages, rows };
  }

  async #contents(caller: Caller, name: string): Promise<VectorContents | null> {
    const { vectors } = this.#deps;
    try {
      const [stats, versions, count] = await Promise.all([
        vectors.stats(caller.scope, name),
        vectors.history(caller.scope, name),
        vectors.count(caller.scope, name),
      ]);
      return { stats, versions, count };
    } catch (error) {
      if (isMissing(error)) return null;
      throw error;
    }
  }

  /** Compacts both; the answer is that of the chunks if there are any, with that of the rows beside it. */
  async compact(
    caller: Caller,
    repositoryId: string,
    collectionId: string,
  ): Promise<Compacted & { readonly rows?: Compacted }> {
    const opened = await this.#collections.open(caller, repositoryId, collectionId, {
      needed: "ADMIN",
      action: "Compacting",
    });
    const passages = await this.#compacted(caller, await this.#passages(caller, opened));
    const rows = await this.#compacted(caller, nameOf(opened));
    if (rows.outcome === "empty") return passages;
    return passages.outcome === "empty" ? { ...rows, rows } : { ...passages, rows };
  }

  async #compacted(caller: Caller, name: string): Promise<Compacted> {
    try {
      return await this.#deps.vectors.compact(caller.scope, name, { all: true });
    } catch (error) {
      if (isMissing(error)) return { outcome: "empty" };
      throw error;
    }
  }

  /** Live chunks and callers' own rows. The caller has passed the access decision. */
  async count(caller: Caller, collection: CollectionRecord): Promise<number> {
    const partition = new CollectionPartition(this.#deps.items, caller.scope, collection);
    const generation = (await partition.fence())?.record.generation ?? 1;
    let count = 0;
    for (const name of [partition.vectors(generation), ownVectorsName(collection.incarnation)]) {
      count += await this.#deps.vectors.count(caller.scope, name).catch((error: unknown) => {
        if (isMissing(error)) return 0;
        throw error;
      });
    }
    return count;
  }

  async #passages(caller: Caller, { collection }: OpenCollection): Promise<string> {
    const partition = new CollectionPartition(this.#deps.items, caller.scope, collection);
    return partition.vectors((await partition.fence())?.record.generation ?? 1);
  }

  async #writable(caller: Caller, repositoryId: string, collectionId: string): Promise<OpenCollection> {
    const opened = await this.#collections.open(caller, repositoryId, collectionId, {
      needed: "WRITE",
      action: "Writing vectors",
    });
    if (opened.collection.status === "ARCHIVED") throw archived(opened.collection);
    return opened;
  }

  async #append(
    caller: Caller,
    opened: OpenCollection,
    delta: Parameters<KnowledgeDependencies["vectors"]["append"]>[2],
    dims?: number,
  ): Promise<RowsWritten> {
    const name = nameOf(opened);
    const append = async (): Promise<RowsWritten> => {
      const { deltaId, session, repeated, duplicates } = await this.#deps.vectors.append(caller.scope, name, delta);
      return { delta_id: deltaId, session, repeated, duplicates };
    };
    const written = await this.#appended(caller, opened, append, name, dims);
    await requireStillTaking(this.#deps.items, caller.scope, opened.collection);
    return written;
  }

  async #appended(
    caller: Caller,
    opened: OpenCollection,
    append: () => Promise<RowsWritten>,
    name: string,
    dims: number | undefined,
  ): Promise<RowsWritten> {
    try {
      return await append();
    } catch (error) {
      if (!isMissing(error)) throw error;
      if (dims === undefined)
        throw new PinakesError("NOT_FOUND", "This collection has no raw vectors, so there is nothing to delete.", {
          cause: error,
        });
      await this.#create(caller, name, dims);
      await this.#stillTaken(caller, opened);
      return append().catch((cause: unknown) => {
        // Created and removed again: its collection has ended.
        if (isMissing(cause)) noteLateWrite(this.#deps.items);
        throw cause;
      });
    }
  }

  /** The first rows create their vectors, which a concurrent delete did not see: check the fence again, which the delete sets before. */
  async #stillTaken(caller: Caller, { collection }: OpenCollection): Promise<void> {
    const status =
      (await new CollectionPartition(this.#deps.items, caller.scope, collection).fence())?.record.status ?? "ACTIVE";
    if (status === "ACTIVE") return;
    if (status === "ARCHIVED") throw archived(collection);
    noteLateWrite(this.#deps.items);
    throw new PinakesError(
      "CONFLICT",
      `Collection "${collection.collection_id}" does not accept rows: it was deleted concurrently.`,
    );
  }

  async #create(caller: Caller, name: string, dims: number): Promise<void> {
    // Concurrent first rows created it.
    await tolerate(this.#deps.vectors.create(caller.scope, name, { dims }), "CONFLICT");
  }
}

function nameOf({ collection }: OpenCollection): string {
  return ownVectorsName(collection.incarnation);
}

function isMissing(error: unknown): boolean {
  return hasCode(error, "NOT_FOUND");
}
