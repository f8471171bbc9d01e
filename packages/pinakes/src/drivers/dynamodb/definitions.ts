/**
 * The definitions of containers: stored in the meta table, cached in every process.
 *
 * When a cached definition may be used for writes. A new index must hold every item, including those written by processes that do not know
 * it yet. So a definition is a lease: a process writes with it for at most `maxAgeMs` after it asked for it (by its own monotonic clock,
 * from before the request was sent), and then asks again. A new index is filled from the existing items only `oldWritersMs` after the new
 * version was stored (build.ts): after `maxAgeMs` no process can begin a write with an older version, and the rest is the time a request
 * may be in flight. From then on every write maintains the new index, so items that the filling has not reached yet, or has passed, are
 * complete either way. Processes may be configured with different ages: the largest that ever opened the container is stored with it, and
 * filling waits for that one.
 *
 * Switching a feed on waits in the same way, and so does every process that opens the container meanwhile: `feedSettled`.
 */
import { invariant } from "../../domain/invariant.ts";
import {
  compileContainer,
  forTenant,
  mergeDefinitions,
  type CompiledContainer,
  type NormalDefinition,
} from "../../items/compiled-container.ts";
import type { Attributes, Dynamo } from "./client.ts";
import { errorName } from "./errors.ts";
import { containerTable, createContainerTable, expiryGsi, indexGsi, type TableIndex } from "./schema.ts";
import { backoffMs, monotonicMs, sleep } from "./waiting.ts";

export interface StoredDefinition {
  readonly format: 1;
  readonly version: number;
  readonly definition: NormalDefinition;
  /** The number of each index in the table, and whether it holds every item. */
  readonly indexes: Readonly<Record<string, { readonly id: number; readonly ready: boolean }>>;
  readonly nextId: number;
  readonly expiryReady: boolean;
  /** False until the table's indexes match this definition. */
  readonly settled: boolean;
  /** False while there may be writers that do not know of the feed. */
  readonly feedSettled: boolean;
  readonly maxAgeMs: number;
}

export interface Definition {
  readonly table: string;
  readonly compiled: CompiledContainer;
  /** Aligned with the container's indexes. */
  readonly indexIds: readonly number[];
  readonly stored: StoredDefinition;
  /** Grows with every change of the stored definition, also of an index's state. */
  readonly revision: number;
  readonly readAt: number;
}

/** With the time to live of the tenant. */
export function seenBy(definition: Definition, tenant: string | undefined): Definition {
  const { compiled } = definition;
  return tenant === undefined ? definition : { ...definition, compiled: forTenant(compiled, tenant) };
}

export class Definitions {
  readonly #dynamo: Dynamo;
  readonly #prefix: string;
  readonly #meta: string;
  readonly #maxAgeMs: number;
  readonly #inFlightMsMax: number;
  readonly #known = new Map<string, Definition>();
  readonly #refreshing = new Map<string, Promise<Definition>>();

  constructor(dynamo: Dynamo, prefix: string, meta: string, maxAgeMs: number, inFlightMsMax: number) {
    this.#dynamo = dynamo;
    this.#prefix = prefix;
    this.#meta = meta;
    this.#maxAgeMs = maxAgeMs;
    this.#inFlightMsMax = inFlightMsMax;
  }

  /** How long after a version was stored a write with an older one may still take effect. */
  oldWritersMs({ maxAgeMs }: StoredDefinition): number {
    return maxAgeMs + Math.max(maxAgeMs, this.#inFlightMsMax);
  }

  known(name: string): Definition | undefined {
    return this.#known.get(name);
  }

  /** After closing, no container is open. */
  forget(): void {
    this.#known.clear();
  }

  /** Never older than `maxAgeMs`. Returned synchronously while the cached one is young enough. */
  current(name: string): Definition | Promise<Definition> {
    const known = this.#known.get(name);
    if (known !== undefined && monotonicMs() - known.readAt < this.#maxAgeMs) return known;
    return this.refresh(name);
  }

  /** Reads it again; concurrent calls share one read. */
  async refresh(name: string): Promise<Definition> {
    let refreshing = this.#refreshing.get(name);
    if (refreshing === undefined) {
      refreshing = this.#require(name);
      this.#refreshing.set(name, refreshing);
      const forget = () => this.#refreshing.delete(name);
      refreshing.then(forget, forget);
    }
    return refreshing;
  }

  /** Stores the result of opening `next`. */
  async open(next: NormalDefinition, dropUndeclaredIndexes: boolean, signal: AbortSignal): Promise<Definition> {
    for (;;) {
      const before = await this.#read(next.name);
      if (before === undefined) {
        if (await this.#create(next, signal)) return this.#require(next.name);
        continue;
      }
      const merged = mergeDefinitions(before.stored.definition, next, dropUndeclaredIndexes);
      const wanted = evolve(before.stored, merged, this.#maxAgeMs);
      if (wanted === before.stored) return before;
      if (await this.#replace(before, wanted)) return this.#require(next.name);
    }
  }

  /** Changes the stored state, unless the version has changed. */
  async update(
    name: string,
    version: number,
    change: (stored: StoredDefinition) => StoredDefinition,
  ): Promise<boolean> {
    for (let attempt = 0; ; attempt += 1) {
      const before = await this.#require(name);
      if (before.stored.version !== version) return false;
      if (await this.#replace(before, change(before.stored))) {
        await this.#require(name);
        return true;
      }
      await sleep(backoffMs(attempt));
    }
  }

  tableOf(name: string): string {
    return containerTable(this.#prefix, name);
  }

  /** For every stored container. */
  async all(): Promise<readonly NormalDefinition[]> {
    const found: NormalDefinition[] = [];
    for (let start: Attributes | undefined, first = true; first || start !== undefined; first = false) {
      const page = await this.#dynamo.repeat("list the containers", (api) =>
        api.scan({
          TableName: this.#meta,
          ConsistentRead: true,
          ExclusiveStartKey: start,
        }),
      );
      for (const item of page.Items ?? [])
        if (item["pk"]?.S?.startsWith("container#") === true && item["def"]?.S !== undefined)
          found.push((JSON.parse(item["def"].S) as StoredDefinition).definition);
      start = page.LastEvaluatedKey;
    }
    return found;
  }

  async #require(name: string): Promise<Definition> {
    const found = await this.#read(name);
    invariant(
      found !== undefined,
      "INTERNAL",
      `The definition of container "${name}" no longer exists in the meta table.`,
    );
    return found;
  }

  async #read(name: string): Promise<Definition | undefined> {
    const readAt = monotonicMs();
    const { Item } = await this.#dynamo.repeat(`read the definition of ${name}`, (api) =>
      api.getItem({ TableName: this.#meta, Key: metaKey(name), ConsistentRead: true }),
    );
    if (Item?.["def"]?.S === undefined) return undefined;
    const stored = JSON.parse(Item["def"].S) as StoredDefinition;
    invariant(
      stored.format === 1,
      "CORRUPT",
      `The definition of container "${name}" has format ${String(stored.format)}, which this version of Pinakes does not know.`,
    );
    const compiled = this.#compile(stored);
    const found: Definition = {
      table: containerTable(this.#prefix, name),
      compiled,
      indexIds: compiled.indexes.map((index) => stored.indexes[index.name]?.id as number),
      stored,
      revision: Number(Item["rev"]?.N),
      readAt,
    };
    // An overtaken answer must not replace a newer one.
    const known = this.#known.get(name);
    if (known !== undefined && known.revision > found.revision) return known;
    this.#known.set(name, found);
    return found;
  }

  /** Compiled once per version, so that a container stays the same object while nothing changes. */
  #compile({ definition, version }: StoredDefinition): CompiledContainer {
    const known = this.#known.get(definition.name)?.compiled;
    return known?.version === version ? known : compileContainer(definition, version);
  }

  /** The table first, the definition last: the next opener of the container adopts a table without one. */
  async #create(definition: NormalDefinition, signal: AbortSignal): Promise<boolean> {
    const names = Object.keys(definition.indexes);
    const wanted = names.map((name, i) => indexGsi(name, i + 1));
    const table = containerTable(this.#prefix, definition.name);
    const made = await createContainerTable(
      this.#dynamo,
      table,
      [...wanted, ...(definition.ttl === null ? [] : [expiryGsi])],
      signal,
    );
    const present = new Set((made.GlobalSecondaryIndexes ?? []).map(({ IndexName }) => IndexName));
    // Another process may have created the table for another declaration: missing indexes are built like any later ones.
    const has = ({ gsi }: TableIndex) => present.has(gsi);
    const expiryReady = definition.ttl === null || has(expiryGsi);
    return this.#store(definition.name, undefined, {
      format: 1,
      version: 1,
      definition,
      indexes: Object.fromEntries(names.map((name, i) => [name, { id: i + 1, ready: has(wanted[i] as TableIndex) }])),
      nextId: names.length + 1,
      expiryReady: definition.ttl !== null && expiryReady,
      settled: expiryReady && wanted.every(has) && present.size === wanted.length + (definition.ttl === null ? 0 : 1),
      feedSettled: true,
      maxAgeMs: this.#maxAgeMs,
    });
  }

  #replace({ stored, revision }: Definition, next: StoredDefinition): Promise<boolean> {
    return this.#store(stored.definition.name, revision, next);
  }

  /** False if it lost the race. */
  async #store(name: string, revision: number | undefined, next: StoredDefinition): Promise<boolean> {
    const item = { ...metaKey(name), def: { S: JSON.stringify(next) }, rev: { N: String((revision ?? 0) + 1) } };
    const condition =
      revision === undefined
        ? { ConditionExpression: "attribute_not_exists(pk)" }
        : { ConditionExpression: "rev = :rev", ExpressionAttributeValues: { ":rev": { N: String(revision) } } };
    try {
      // Repeating it after a lost answer may find our own change. The caller reads again and sees that nothing remains to do.
      await this.#dynamo.repeat(`store the definition of ${name}`, (api) =>
        api.putItem({ TableName: this.#meta, Item: item, ...condition }),
      );
      return true;
    } catch (error) {
      if (errorName(error) === "ConditionalCheckFailedException") return false;
      throw error;
    }
  }
}

function metaKey(name: string): { pk: { S: string } } {
  return { pk: { S: `container#${name}` } };
}

/** What is stored after the merge; the same object if nothing changes. */
function evolve(stored: StoredDefinition, merged: NormalDefinition, maxAgeMs: number): StoredDefinition {
  const age = Math.max(stored.maxAgeMs, maxAgeMs);
  if (JSON.stringify(merged) === JSON.stringify(stored.definition))
    return age === stored.maxAgeMs ? stored : { ...stored, maxAgeMs: age };
  let { nextId } = stored;
  const indexes = Object.entries(merged.indexes).map(([name, index]) => {
    const same = JSON.stringify(index) === JSON.stringify(stored.definition.indexes[name]);
    return [
      name,
      same ? (stored.indexes[name] as { id: number; ready: boolean }) : { id: nextId++, ready: false },
    ] as const;
  });
  return {
    format: 1,
    version: stored.version + 1,
    definition: merged,
    indexes: Object.fromEntries(indexes),
    nextId,
    // Kept when ttl is switched off: it may come back, and costs little.
    expiryReady: stored.expiryReady,
    settled:
      stored.settled &&
      indexes.every(([, { ready }]) => ready) &&
      indexes.length === Object.keys(stored.indexes).length &&
      (merged.ttl === null || stored.expiryReady),
    feedSettled: stored.feedSettled && merged.feed === stored.definition.feed,
    maxAgeMs: age,
  };
}
