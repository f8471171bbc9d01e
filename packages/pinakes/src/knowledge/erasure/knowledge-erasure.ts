/**
 * What an erasure (RFC 0012) does to collections and documents. It passes access decisions and the fences of archived and deleted
 * collections, because it only removes; the records decide what exists, as in every delete.
 *
 * Invariant: a document's record goes first, with a removal that names the rest; so a crash leaves a removal, which the next attempt and the
 * watchdog execute, and never bytes that nothing names.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { PinakesError } from "../../domain/errors.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { Scope } from "../../domain/scope.ts";
import type { Lifecycle } from "../../lifecycle/index.ts";
import { hasCode } from "../../domain/errors.ts";
import { ifMissing, succeeds, tolerate } from "../../runtime/expected-errors.ts";
import type { KnowledgeDependencies } from "../dependencies.ts";
import type { CollectionDeletion } from "../deletion/delete-collection.ts";
import { removingDocument } from "../documents/documents.ts";
import { removeLeftovers } from "../documents/removals.ts";
import { ownerOf, filesRoot } from "../files/file-records.ts";
import type { CatalogRecords } from "../records/catalog-records.ts";
import { CollectionPartition, type IncarnationKey } from "../records/collection-partition.ts";
import { ownVectorsName } from "../records/raw-vectors-name.ts";
import { pagesOf } from "../../runtime/pages.ts";

const scrubAttemptsMax = 60;
const scrubPauseMs = 500;
const rowsPerDelete = 1_000;
const keysPerPage = 1_000;
const lifecycleRoundsMax = 20;

export interface KnowledgeErasureServices {
  readonly deps: KnowledgeDependencies;
  readonly catalog: CatalogRecords;
  readonly deletion: CollectionDeletion;
  readonly lifecycle: Lifecycle;
}

export interface OwnRow {
  readonly id: string;
  readonly text?: string | undefined;
  readonly metadata: JsonObject;
  readonly vector: Float32Array;
}

export class KnowledgeErasure {
  readonly #services: KnowledgeErasureServices;

  constructor(services: KnowledgeErasureServices) {
    this.#services = services;
  }

  /** False if it no longer exists. Its chunks, files and triples are removed by `settle`. */
  async removeDocument(scope: Scope, key: IncarnationKey, documentId: string): Promise<boolean> {
    const { items, clock } = this.#services.deps;
    const partition = new CollectionPartition(items, scope, key);
    for (;;) {
      const found = await partition.read(documentId);
      if (found === undefined) return false;
      const { generation } = (await partition.fence())?.record ?? { generation: 1 };
      const operations = removingDocument(partition, found.record, {
        generation,
        ifMatch: found.etag,
        now: clock.now(),
      });
      if (await succeeds(partition.clean(operations), "PRECONDITION_FAILED")) return true;
    }
  }

  /**
   * After documents of an incarnation were removed: their chunks, files and triples go, and every segment and version that holds one is
   * rewritten or removed. `ownRows` says which rows that callers embedded themselves belong to the subject. Stores of a collection in the trash
   * are opened for it and closed again; its record stays deleted, so nobody reads it meanwhile.
   */
  async settle(
    scope: Scope,
    key: IncarnationKey,
    ownRows: (metadata: JsonObject) => boolean,
    signal: AbortSignal,
  ): Promise<{ readonly vectors: number }> {
    const { deps, catalog, deletion } = this.#services;
    const partition = new CollectionPartition(deps.items, scope, key);
    const status = (await partition.fence())?.record.status;
    if (status === undefined || status === "PURGED") return { vectors: 0 };
    const trashed = status === "DELETED";
    if (trashed) await this.#openStores(scope, partition);
    let vectors = 0;
    try {
      await removeLeftovers(deps, partition, signal);
      if ((await partition.removals(1)).length > 0)
        throw new PinakesError("UNAVAILABLE", `Collection "${key.collection_id}" still removes what documents left.`);
      const own = ownVectorsName(key.incarnation);
      await ifMissing(this.#removeOwnRows(scope, own, ownRows));
      for (const name of await this.#vectorNames(partition)) vectors += await this.#scrub(scope, name, signal);
    } finally {
      if (trashed && (await catalog.incarnation(scope, key)) !== undefined) await deletion.follow(scope, key);
    }
    return { vectors };
  }

  /** Rows and files that a settled incarnation would still have to remove. */
  async remains(scope: Scope, key: IncarnationKey, ownRows: (metadata: JsonObject) => boolean): Promise<number> {
    const { deps } = this.#services;
    const partition = new CollectionPartition(deps.items, scope, key);
    let count = (await partition.removals(100)).length;
    for (const name of await this.#vectorNames(partition)) {
      const left = await tolerate(deps.vectors.leftovers(scope, name), "NOT_FOUND");
      if (left !== undefined) count += left.rows + left.versions + left.unreadable;
    }
    count += (await this.#ownRows(scope, ownVectorsName(key.incarnation), ownRows)).length;
    return count;
  }

  /** Rows that callers embedded themselves. Those of a collection in the trash are opened to be read, and closed again. */
  async *ownRows(scope: Scope, key: IncarnationKey): AsyncGenerator<OwnRow, void> {
    const { deps, catalog, deletion } = this.#services;
    const name = ownVectorsName(key.incarnation);
    const trashed = (await new CollectionPartition(deps.items, scope, key).fence())?.record.status === "DELETED";
    if (trashed && !(await succeeds(deps.vectors.undelete(scope, name), "NOT_FOUND", "CONFLICT"))) return;
    try {
      yield* deps.vectors.rows(scope, name);
    } catch (error) {
      if (!hasCode(error, "NOT_FOUND")) throw error;
    } finally {
      if (trashed && (await catalog.incarnation(scope, key)) !== undefined) await deletion.follow(scope, key);
    }
  }

  /** The whole collection, from every store; it returns when all of them have confirmed. */
  async purgeCollection(scope: Scope, key: IncarnationKey, createdBy: string): Promise<void> {
    const { catalog, deletion, lifecycle } = this.#services;
    if ((await catalog.incarnation(scope, key)) === undefined) return;
    await deletion.begin(scope, key, { createdBy, withDefault: true });
    for (let round = 0; round < lifecycleRoundsMax; round += 1) {
      await lifecycle.finish(scope, key);
      if ((await catalog.incarnation(scope, key)) === undefined) return;
      await sleep(scrubPauseMs);
    }
    throw new PinakesError(
      "UNAVAILABLE",
      `Collection "${key.collection_id}" is still being purged; GET /v1/operations says which store has not confirmed.`,
    );
  }

  /** The prefix of everything that is a user's own file. */
  filesPrefix(userId: string): string {
    return `${filesRoot}${ownerOf(userId)}/`;
  }

  /** Returns how many there were. */
  async removeObjects(scope: Scope, prefix: string): Promise<number> {
    const { objects } = this.#services.deps;
    for (let removed = 0; ;) {
      const { keys } = await objects.list(scope, prefix, { limit: keysPerPage });
      if (keys.length === 0) return removed;
      const names = keys.map(({ key }) => key);
      await objects.delete(scope, names);
      removed += keys.length;
    }
  }

  async countObjects(scope: Scope, prefix: string): Promise<number> {
    const { objects } = this.#services.deps;
    let count = 0;
    for (let after: string | undefined, first = true; first || after !== undefined; first = false) {
      const page = await objects.list(scope, prefix, { limit: keysPerPage, after });
      count += page.keys.length;
      after = page.next;
    }
    return count;
  }

  /** Of all the tenant's spaces; returns how many rows there were. */
  async purgeTriples(scope: Scope): Promise<number> {
    const { triples } = this.#services.deps;
    let removed = 0;
    for await (const page of pagesOf((cursor) => triples.spaces(scope, { cursor }))) {
      for (const { space } of page.spaces) {
        for (let done = false; !done;) {
          const step = await triples.purge(scope, space);
          removed += step.deleted;
          ({ done } = step);
        }
      }
    }
    return removed;
  }

  async countTriples(scope: Scope): Promise<number> {
    const { triples } = this.#services.deps;
    let count = 0;
    for await (const page of pagesOf((cursor) => triples.spaces(scope, { cursor }))) {
      for (const { space } of page.spaces) {
        const { quads, supports, terms } = await triples.usage(scope, space);
        count += quads + supports + terms;
      }
    }
    return count;
  }

  /** Waits while another process compacts. */
  async #scrub(scope: Scope, name: string, signal: AbortSignal): Promise<number> {
    const { vectors } = this.#services.deps;
    for (let attempt = 1; ; attempt += 1) {
      const result = await tolerate(vectors.scrub(scope, name, { signal }), "NOT_FOUND");
      if (result === undefined) return 0;
      if (result.outcome === "done") return result.objects;
      if (attempt >= scrubAttemptsMax)
        throw new PinakesError("UNAVAILABLE", `The vectors "${name}" are being compacted by another process.`);
      await sleep(scrubPauseMs, undefined, { signal });
    }
  }

  async #removeOwnRows(scope: Scope, name: string, ours: (metadata: JsonObject) => boolean): Promise<void> {
    const ids = await this.#ownRows(scope, name, ours);
    for (let at = 0; at < ids.length; at += rowsPerDelete)
      await this.#services.deps.vectors.append(scope, name, { delete: ids.slice(at, at + rowsPerDelete) });
  }

  async #ownRows(scope: Scope, name: string, ours: (metadata: JsonObject) => boolean): Promise<readonly string[]> {
    const ids: string[] = [];
    try {
      for await (const { id, metadata } of this.#services.deps.vectors.rows(scope, name))
        if (ours(metadata)) ids.push(id);
    } catch (error) {
      if (!hasCode(error, "NOT_FOUND")) throw error;
    }
    return ids;
  }

  async #openStores(scope: Scope, partition: CollectionPartition): Promise<void> {
    const { vectors, triples } = this.#services.deps;
    for (const name of await this.#vectorNames(partition))
      await tolerate(vectors.undelete(scope, name), "NOT_FOUND", "CONFLICT");
    await tolerate(triples.unfence(scope, partition.key.incarnation), "NOT_FOUND", "CONFLICT");
  }

  /** One generation more than the record names: a re-index may have started it. */
  async #vectorNames(partition: CollectionPartition): Promise<readonly string[]> {
    const { generation } = (await partition.fence())?.record ?? { generation: 1 };
    const generations = Array.from({ length: generation + 1 }, (_, i) => partition.vectors(i + 1));
    return [...generations, ownVectorsName(partition.key.incarnation)];
  }
}
