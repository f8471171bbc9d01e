/**
 * Items in memory: the oracle that every other driver is compared with, and a store for tests. Simple on purpose: maps, sorted on every
 * scan, no index structures that could be wrong.
 */
import { randomBytes } from "node:crypto";
import { compareUtf8 } from "../../domain/json.ts";
import { expiresAt, isExpired } from "../../domain/ttl.ts";
import {
  feedTrimmed,
  type CommitOutcome,
  type FeedChange,
  type FeedPage,
  type FeedRequest,
  type ItemEngine,
  type ScanRange,
  type ScanRequest,
  type ScanResult,
  type ScanRow,
  type StoredItem,
  type StoredKey,
  type StoredRawItem,
  type TenantFilter,
} from "../../items/item-engine.ts";
import {
  compileContainer,
  forTenant,
  mergeDefinitions,
  type CompiledContainer,
  type NormalDefinition,
} from "../../items/compiled-container.ts";
import { planBatch, touchedIds, type CommitRequest, type PlannedWrite } from "../../items/plan-batch.ts";
import { prepareDocument, type IndexKey, type PreparedDocument } from "../../items/prepare.ts";
import { settleClaims, uniqueClaims } from "../../items/unique-keys.ts";
import type { ScrubReport } from "../../ports/item-erasure.ts";
import type { IndexStatus, ItemStoreCapabilities, OpenContainerOptions } from "../../ports/item-store.ts";
import { asRawItem } from "../../items/item-engine.ts";

interface Row extends StoredItem {
  readonly keys: readonly (IndexKey | null)[];
  readonly uniques: readonly (string | null)[];
}

interface Container {
  compiled: CompiledContainer;
  readonly partitions: Map<string, Map<string, Row>>;
  /** Entries before `trimmed` were removed; positions count from the first entry ever written. */
  readonly feed: FeedChange[];
  trimmed: number;
}

export class MemoryItemEngine implements ItemEngine {
  readonly capabilities: ItemStoreCapabilities = {
    engine: "memory",
    indexReads: "strong",
    batchOperationsMax: 100,
    durable: false,
  };
  readonly #containers = new Map<string, Container>();
  readonly #key = randomBytes(32);

  async signingKey(): Promise<Uint8Array> {
    return this.#key;
  }

  async definitions(): Promise<readonly NormalDefinition[]> {
    return [...this.#containers.values()].map(({ compiled }) => compiled.definition);
  }

  async dump(
    container: string,
    cursor: string | undefined,
    limit: number,
    tenant?: string,
  ): Promise<{ rows: readonly StoredItem[]; cursor?: string | undefined }> {
    const place = ({ pk, idKey }: StoredKey): string => `${pk}\0${idKey}`;
    const rows = [...(this.#containers.get(container)?.partitions.values() ?? [])]
      .flatMap((partition) => [...partition.values()])
      .filter(({ pk }) => tenant === undefined || (JSON.parse(pk) as [string])[0] === tenant)
      .toSorted((a, b) => compareUtf8(place(a), place(b)))
      .filter((row) => cursor === undefined || compareUtf8(place(row), cursor) > 0)
      .slice(0, limit);
    const last = rows.length < limit ? undefined : rows.at(-1);
    return { rows, cursor: last === undefined ? undefined : place(last) };
  }

  /** Positions count entries: a forgotten entry is kept without names, for no tenant. */
  async forgetFeed(container: CompiledContainer, tenant: string, keys: readonly StoredKey[]): Promise<number> {
    const { feed } = this.#of(container);
    const wanted = new Set(keys.map(({ pk, idKey }) => JSON.stringify([pk, idKey])));
    let forgotten = 0;
    for (const [i, { pk, idKey, at }] of feed.entries()) {
      if ((JSON.parse(pk) as [string])[0] !== tenant || !wanted.has(JSON.stringify([pk, idKey]))) continue;
      feed[i] = { kind: "delete", pk: "[null]", idKey: "", id: "", etag: "", at, expired: false };
      forgotten += 1;
    }
    return forgotten;
  }

  async scrub(): Promise<ScrubReport> {
    return { outcome: "rewritten", bytes: 0 };
  }

  async openContainer(definition: NormalDefinition, options: OpenContainerOptions): Promise<void> {
    const existing = this.#containers.get(definition.name);
    if (existing === undefined) {
      this.#containers.set(definition.name, {
        compiled: compileContainer(definition, 1),
        partitions: new Map(),
        feed: [],
        trimmed: 0,
      });
      return;
    }
    const merged = mergeDefinitions(existing.compiled.definition, definition, options.dropUndeclaredIndexes ?? false);
    if (JSON.stringify(merged) === JSON.stringify(existing.compiled.definition)) return;
    const compiled = compileContainer(merged, existing.compiled.version + 1);
    // All rows first: one that does not fit the new indexes must leave everything unchanged.
    const prepared = [...existing.partitions.values()].flatMap((rows) =>
      [...rows.values()].map((row) => ({ rows, row, ...reprepare(compiled, row) })),
    );
    for (const { rows, row, keys, uniques } of prepared) rows.set(row.idKey, { ...row, keys, uniques });
    existing.compiled = compiled;
  }

  container(name: string): CompiledContainer | undefined {
    return this.#containers.get(name)?.compiled;
  }

  async indexes(container: CompiledContainer): Promise<readonly IndexStatus[]> {
    return container.indexes.map(({ name }) => ({ name, state: "ready", progress: 1 }));
  }

  read(container: CompiledContainer, { pk, idKey }: StoredKey): StoredItem | undefined {
    return this.#of(container).partitions.get(pk)?.get(idKey);
  }

  readRaw(container: CompiledContainer, key: StoredKey): StoredRawItem | undefined {
    return asRawItem(this.read(container, key));
  }

  async readMany(
    container: CompiledContainer,
    keys: readonly StoredKey[],
  ): Promise<readonly (StoredItem | undefined)[]> {
    return keys.map((key) => this.read(container, key));
  }

  async commit({ name }: CompiledContainer, request: CommitRequest): Promise<CommitOutcome> {
    const container = this.#containers.get(name) as Container;
    const rows = container.partitions.get(request.pk) ?? new Map<string, Row>();
    const current = new Map(
      touchedIds(request).flatMap((idKey) => (rows.has(idKey) ? [[idKey, rows.get(idKey) as Row] as const] : [])),
    );
    let plan = planBatch(container.compiled, request, current);
    if (!plan.ok) return plan;
    const claims = uniqueClaims(plan.writes);
    const holders = claims.map(({ key, value }) => [...rows.values()].find((row) => row.uniques[key] === value));
    plan = settleClaims(forTenant(container.compiled, request.tenant), plan, claims, holders, request.now);
    if (!plan.ok) return plan;
    for (const write of plan.writes) apply(rows, request.pk, write);
    container.partitions.set(request.pk, rows);
    if (container.compiled.feed) container.feed.push(...plan.changes.map((change) => ({ ...change, pk: request.pk })));
    return { ok: true, results: plan.results };
  }

  async scan(container: CompiledContainer, { range, reverse, limit, bytesMax, now }: ScanRequest): Promise<ScanResult> {
    const matching = this.#inRange(container, range, now);
    if (reverse) matching.reverse();
    const rows: ScanRow[] = [];
    let bytes = 0;
    for (const row of matching) {
      if (rows.length === limit || bytes >= bytesMax) return { rows, done: false };
      rows.push(row);
      bytes += row.json.length;
    }
    return { rows, done: true };
  }

  async count(container: CompiledContainer, range: ScanRange, now: number): Promise<number> {
    return this.#inRange(container, range, now).length;
  }

  async changes(container: CompiledContainer, { tenant, position, limit }: FeedRequest): Promise<FeedPage> {
    const { feed, trimmed } = this.#of(container);
    const end = trimmed + feed.length;
    let next = position === "now" ? end : Number(position ?? trimmed);
    if (next < trimmed) throw feedTrimmed(container.name);
    const changes: FeedChange[] = [];
    for (; next < end && changes.length < limit; next += 1) {
      const change = feed[next - trimmed] as FeedChange;
      if ((JSON.parse(change.pk) as [string])[0] === tenant) changes.push(change);
    }
    return { changes, position: String(next), more: next < end };
  }

  async trimFeed(container: CompiledContainer, before: number, limit: number): Promise<number> {
    const target = this.#of(container);
    const kept = target.feed.findIndex(({ at }) => at >= before);
    const count = Math.min(limit, kept === -1 ? target.feed.length : kept);
    target.feed.splice(0, count);
    target.trimmed += count;
    return count;
  }

  async expired(
    container: CompiledContainer,
    now: number,
    limit: number,
    tenants?: TenantFilter,
  ): Promise<readonly StoredKey[]> {
    const rows = [...this.#of(container).partitions.values()]
      .flatMap((partition) => [...partition.values()])
      .filter(
        ({ pk }) =>
          tenants === undefined || tenants.list.includes((JSON.parse(pk) as [string])[0]) === tenants.included,
      );
    const due = (row: Row) => expiresAt(container.ttl, row.ttl, row.modifiedAt);
    return rows
      .filter((row) => isExpired(container.ttl, row.ttl, row.modifiedAt, now))
      .toSorted((a, b) => (due(a) ?? 0) - (due(b) ?? 0))
      .slice(0, limit);
  }

  async close(): Promise<void> {
    this.#containers.clear();
  }

  #of({ name }: CompiledContainer): Container {
    return this.#containers.get(name) as Container;
  }

  #inRange(container: CompiledContainer, range: ScanRange, now: number): ScanRow[] {
    const { partitions } = this.#of(container);
    const visible = (row: Row) => !isExpired(container.ttl, row.ttl, row.modifiedAt, now);
    if (range.kind === "partition") {
      return [...(partitions.get(range.pk)?.values() ?? [])]
        .filter(
          (row) =>
            visible(row) &&
            compareUtf8(row.idKey, range.lower) >= 0 &&
            (range.upper === undefined || compareUtf8(row.idKey, range.upper) < 0),
        )
        .sort((a, b) => compareUtf8(a.idKey, b.idKey));
    }
    const position = container.indexes.findIndex(({ name }) => name === range.index);
    return [...partitions.values()]
      .flatMap((partition) => [...partition.values()])
      .flatMap((row) => {
        const key = row.keys[position];
        if (!key || !visible(row) || Buffer.compare(key.partition, range.partition) !== 0) return [];
        const inside = Buffer.compare(key.sort, range.lower) >= 0 && Buffer.compare(key.sort, range.upper) < 0;
        return inside ? [{ row, sort: Buffer.from(key.sort) }] : [];
      })
      .sort((a, b) => Buffer.compare(a.sort, b.sort))
      .map(({ row, sort }) => ({ ...row, sortKey: sort.toString("hex") }));
  }
}

function apply(rows: Map<string, Row>, pk: string, { idKey, put }: PlannedWrite): void {
  if (put === undefined) {
    rows.delete(idKey);
    return;
  }
  const { etag, modifiedAt, ttl, json, keys, uniques } = put;
  rows.set(idKey, { pk, idKey, etag, modifiedAt, ttl, json, keys, uniques });
}

function reprepare(container: CompiledContainer, { pk, json }: StoredItem): PreparedDocument {
  const [tenant] = JSON.parse(pk) as [string];
  return prepareDocument(container, tenant, pk, JSON.parse(json) as never);
}
