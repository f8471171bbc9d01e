/**
 * The quarantine of a workspace, for admins: what repairs removed, until it is restored, dropped or expires (RFC 0016). An entry belongs to
 * the tenant of the stores it came from, and is stored in that tenant's objects.
 */
import type { QuarantineEntry } from "@pinakes/client";
import { requireCaller, type Caller } from "../../domain/caller.ts";
import { hasCode, PinakesError, invalid } from "../../domain/errors.ts";
import type { Scope } from "../../domain/scope.ts";
import type { HeldOrphan, Lifecycle } from "../../lifecycle/index.ts";
import { CollectionPartition } from "../../knowledge/records/collection-partition.ts";
import { notFound } from "../../knowledge/access/access.ts";
import { checkAskedId, checkAskedKey } from "../../knowledge/records/names.ts";
import { isoTime } from "../../knowledge/records/times.ts";
import type { ListPage, Paging } from "../../knowledge/records/paging.ts";
import {
  entryView,
  keysOf,
  prefixOf,
  readEntry,
  readId,
  readKey,
  removeEntry,
  writeEntry,
  type StoredEntry,
} from "./entry.ts";
import { retentionOf, type KeepDependencies } from "./keep.ts";
import { quarantineLimits } from "./limits.ts";
import { isEnding, restoreEntry } from "./restore.ts";

export interface QuarantineDependencies extends KeepDependencies {
  readonly lifecycle: Lifecycle;
}

export interface QuarantineQuery extends Paging {
  readonly repository?: string | undefined;
  /** With `repository`: only entries of this collection. */
  readonly collection?: string | undefined;
}

/** Prefix of cursors in the second part of a list: data kept in place. */
const heldMark = "held:";

export class Quarantine {
  readonly #services: QuarantineDependencies;

  constructor(services: QuarantineDependencies) {
    this.#services = services;
  }

  /** Copies first, by collection; then data of unknown collections. */
  async list(
    caller: Caller,
    { repository, collection, limit = quarantineLimits.pageEntriesDefault, cursor }: QuarantineQuery = {},
  ): Promise<ListPage<QuarantineEntry>> {
    const scope = admin(caller);
    if (!Number.isInteger(limit) || limit < 1 || limit > quarantineLimits.pageEntriesMax)
      throw invalid(`limit: must be a whole number from 1 to ${quarantineLimits.pageEntriesMax}.`);
    if ((repository === undefined) !== (collection === undefined))
      throw invalid("collection: repository and collection must be given together.");
    const incarnation =
      repository === undefined ? undefined : await this.#incarnation(scope, repository, collection as string);
    const prefix = prefixOf(incarnation);
    if (cursor?.startsWith(heldMark) === true) return this.#held(scope, limit, cursor.slice(heldMark.length));
    if (cursor !== undefined && (!cursor.startsWith(prefix) || readKey(cursor) === undefined))
      throw invalid("cursor: is not one that this list returned.");
    const items: QuarantineEntry[] = [];
    for (let after = cursor; ;) {
      // Two keys per entry.
      const page = await this.#services.deps.objects.list(scope, prefix, { limit: limit * 2, after });
      for (const { key } of page.keys) {
        const entry = await this.#listed(scope, key);
        if (entry !== undefined) items.push(entryView(entry));
        after = key;
        if (items.length === limit) return { items, next_cursor: key };
      }
      if (page.next === undefined) break;
    }
    if (incarnation !== undefined) return { items, next_cursor: null };
    const held = await this.#held(scope, limit - items.length, "");
    return { items: [...items, ...held.items], next_cursor: held.next_cursor };
  }

  async get(caller: Caller, entryId: string): Promise<QuarantineEntry> {
    const found = await this.#find(admin(caller), entryId);
    return "format" in found ? entryView(found) : this.#heldView(found);
  }

  /** Writes it back to its original location. Idempotent; CONFLICT if something else exists there now. The copy stays until it expires. */
  async restore(caller: Caller, entryId: string): Promise<QuarantineEntry> {
    const scope = admin(caller);
    const found = await this.#find(scope, entryId);
    const restored_at = isoTime(this.#services.deps.clock.now());
    if (!("format" in found)) {
      await this.#services.lifecycle.quarantine.release(scope, found);
      return { ...this.#heldView(found), restored_at };
    }
    await restoreEntry(this.#services, scope, found);
    const entry: StoredEntry = { ...found, restored_at };
    await writeEntry(this.#services.deps.objects, scope, entry);
    await this.#requireNotPurged(scope, entry);
    return entryView(entry);
  }

  /** Removes it permanently, before it expires. */
  async drop(caller: Caller, entryId: string): Promise<void> {
    const scope = admin(caller);
    const found = await this.#find(scope, entryId);
    if (!("format" in found)) return this.#services.lifecycle.quarantine.drop(scope, found);
    const { vectors, objects } = this.#services.deps;
    if (found.kind === "generation" && (await vectors.remains(scope, found.target)).status === "trashed")
      await vectors.purge(scope, found.target);
    await removeEntry(objects, scope, entryId);
  }

  /** Background: one bounded step over the entries of a tenant. Returns the cursor of the next step; undefined at the end. */
  async sweep(scope: Scope, after: string | undefined): Promise<string | undefined> {
    const { objects, clock } = this.#services.deps;
    const now = clock.now();
    if (after?.startsWith(heldMark) === true) return this.#sweepHeld(scope, after.slice(heldMark.length));
    const page = await objects.list(scope, prefixOf(), { limit: quarantineLimits.sweepKeysMax, after });
    for (const { key, modifiedAt } of page.keys) {
      const name = readKey(key);
      if (name === undefined) continue;
      const { entryId } = name;
      if (
        name.part === "entry"
          ? await this.#isOver(scope, entryId, now - modifiedAt)
          : await this.#isUnfinished(scope, entryId, now - modifiedAt)
      )
        await removeEntry(objects, scope, entryId);
    }
    return page.next ?? heldMark;
  }

  async #sweepHeld(scope: Scope, cursor: string): Promise<string | undefined> {
    const { lifecycle, deps } = this.#services;
    const limit = quarantineLimits.pageEntriesMax;
    const page = await lifecycle.quarantine.held(scope, { limit, ...(cursor === "" ? {} : { cursor }) });
    for (const held of page.orphans)
      if (held.quarantinedAt + retentionOf(deps) <= deps.clock.now()) await lifecycle.quarantine.drop(scope, held);
    return page.cursor === undefined ? undefined : heldMark + page.cursor;
  }

  /** Expired, or of a collection purged after the entry was started. Unreadable entries expire by age. */
  async #isOver(scope: Scope, entryId: string, ageMs: number): Promise<boolean> {
    const { deps } = this.#services;
    try {
      const entry = await readEntry(deps.objects, scope, entryId);
      if (entry === undefined) return false;
      if (Date.parse(entry.expires_at) <= deps.clock.now()) return true;
      return (await new CollectionPartition(deps.items, scope, entry).fence())?.record.status === "PURGED";
    } catch (error) {
      if (!hasCode(error, "CORRUPT")) throw error;
      deps.log(`quarantine: ${error.detail}`);
      return ageMs > retentionOf(deps);
    }
  }

  async #isUnfinished(scope: Scope, entryId: string, ageMs: number): Promise<boolean> {
    if (ageMs < quarantineLimits.unfinishedMs) return false;
    return (await this.#services.deps.objects.head(scope, keysOf(entryId).entry)) === undefined;
  }

  /** The collection may have been purged while the entry was rewritten. */
  async #requireNotPurged(scope: Scope, entry: StoredEntry): Promise<void> {
    const { deps, catalog } = this.#services;
    const record = (await catalog.incarnation(scope, entry))?.record;
    if (record !== undefined && !isEnding(record)) return;
    await removeEntry(deps.objects, scope, entry.entry_id);
    throw notFound(`quarantine entry "${entry.entry_id}"`);
  }

  /** An unreadable entry is logged and skipped. */
  async #listed(scope: Scope, key: string): Promise<StoredEntry | undefined> {
    const name = readKey(key);
    if (name?.part !== "entry") return undefined;
    try {
      return await readEntry(this.#services.deps.objects, scope, name.entryId);
    } catch (error) {
      if (!hasCode(error, "CORRUPT", "NOT_SUPPORTED")) throw error;
      this.#services.deps.log(`quarantine: ${error.detail}`);
      return undefined;
    }
  }

  async #find(scope: Scope, entryId: string): Promise<StoredEntry | HeldOrphan> {
    const id = typeof entryId === "string" ? readId(entryId) : undefined;
    const found =
      id === undefined
        ? undefined
        : id.store === undefined
          ? await readEntry(this.#services.deps.objects, scope, entryId)
          : await this.#services.lifecycle.quarantine.heldOne(scope, id.store, id.incarnation);
    if (found === undefined) throw notFound(`quarantine entry "${entryId}"`);
    return found;
  }

  async #held(scope: Scope, limit: number, cursor: string): Promise<ListPage<QuarantineEntry>> {
    const page = await this.#services.lifecycle.quarantine.held(scope, { limit, ...(cursor === "" ? {} : { cursor }) });
    return {
      items: page.orphans.map((one) => this.#heldView(one)),
      next_cursor: page.cursor === undefined ? null : heldMark + page.cursor,
    };
  }

  #heldView({ store, incarnation, repository_id, rows, quarantinedAt }: HeldOrphan): QuarantineEntry {
    return {
      entry_id: `${incarnation}.${store}`,
      kind: "collection",
      store,
      repository_id,
      collection_id: "",
      incarnation,
      document_id: null,
      target: incarnation,
      detail: "Data of a collection that no record names. It stays in place, and is removed when this entry expires.",
      count: rows,
      bytes: 0,
      job_id: null,
      quarantined_at: isoTime(quarantinedAt),
      expires_at: isoTime(quarantinedAt + retentionOf(this.#services.deps)),
      restored_at: null,
    };
  }

  async #incarnation(scope: Scope, repository: string, collection: string): Promise<string> {
    checkAskedKey(repository, "repository");
    checkAskedId(collection, "collection");
    const found = await this.#services.catalog.collection(scope, repository, collection);
    if (found === undefined) throw notFound(`collection "${collection}" in repository "${repository}"`);
    return found.record.incarnation;
  }
}

function admin(caller: Caller): Scope {
  const scope = requireCaller(caller);
  if (caller.role !== "admin") throw new PinakesError("FORBIDDEN", "Only admins can use the quarantine.");
  return scope;
}
