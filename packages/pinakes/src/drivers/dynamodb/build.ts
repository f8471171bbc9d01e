/**
 * Brings a table in line with its definition while it is in use: drops undeclared indexes, adds missing ones and fills them from the
 * existing items. A job's record in the meta table has its owner (a lease), its progress and its error. Any process that has the container
 * open continues where another stopped. Two concurrent builders only duplicate work: every step is conditional. Order matters twice.
 * Writers first: filling starts only when every writer knows the new version (definitions.ts). And table first: the table's indexes are
 * listed before the definition is read, and a definition names an index before it is created, so a listed index that the definition does
 * not name is unused.
 */
import { randomUUID } from "node:crypto";
import { PinakesError } from "../../domain/errors.ts";
import type { JsonObject } from "../../domain/json.ts";
import { prepareDocument, type IndexKey } from "../../items/prepare.ts";
import { keyOf, toKey, type Attributes, type Dynamo } from "./client.ts";
import type { Definition, Definitions } from "./definitions.ts";
import { errorName } from "./errors.ts";
import { indexInTable, type BuildState } from "./index-state.ts";
import { BuildJobs, type BuildJob } from "./build-jobs.ts";
import { notShown } from "./index-wait.ts";
import { indexPlace, storedKeyOf } from "./rows.ts";
import { addIndex, describeTable, expiryGsi, indexGsi, removeIndex, whenActive, type TableIndex } from "./schema.ts";
import type { Documents } from "./spill.ts";
import { backoffMs, idle, mapLimited, monotonicMs } from "./waiting.ts";

const pageItemsMax = 100;
const updatesInParallel = 8;
const pollMs = 50;
/** While another process builds. */
const standByMs = 2_000;

interface Building {
  readonly position: number;
  readonly id: number;
  readonly name: string;
}

export class IndexBuilder {
  readonly #dynamo: Dynamo;
  readonly #definitions: Definitions;
  readonly #documents: Documents;
  readonly #jobs: BuildJobs;
  readonly #running = new Map<string, Promise<void>>();
  readonly #wanted = new Set<string>();
  readonly #stop = new AbortController();

  constructor(dynamo: Dynamo, meta: string, definitions: Definitions, documents: Documents) {
    this.#dynamo = dynamo;
    this.#definitions = definitions;
    this.#documents = documents;
    this.#jobs = new BuildJobs(dynamo, meta, randomUUID());
  }

  /** Continues in the background until the container is settled or the store is closed. */
  start(name: string): void {
    // Requested again while the work ends: it checks once more.
    this.#wanted.add(name);
    if (this.#running.has(name)) return;
    this.#running.set(name, this.#run(name));
  }

  state({ compiled, stored }: Definition): Promise<BuildState> {
    return this.#jobs.state(compiled.name, stored.version);
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await Promise.allSettled(this.#running.values());
  }

  async #run(name: string): Promise<void> {
    do {
      await this.#untilDone(name);
      // If this fails, the lease expires.
      await this.#jobs.release(name).catch(() => undefined);
      // Requested again meanwhile: no other process would handle it. Checking and leaving are one synchronous step; otherwise the next
      // request would be missed.
    } while (this.#wanted.has(name) && !this.#stop.signal.aborted);
    this.#running.delete(name);
  }

  async #untilDone(name: string): Promise<void> {
    for (let attempt = 0; this.#wanted.has(name) && !this.#stop.signal.aborted; attempt += 1) {
      this.#wanted.delete(name);
      try {
        if (!(await this.#step(name))) this.#wanted.add(name);
      } catch (error) {
        if (this.#stop.signal.aborted || (await this.#onRecord(name, error))) continue;
        this.#wanted.add(name);
        await idle(100 + 10 * backoffMs(attempt), this.#stop.signal);
      }
    }
  }

  /** True when nothing remains to do. */
  async #step(name: string): Promise<boolean> {
    const definition = await this.#definitions.refresh(name);
    if (definition.stored.settled) return true;
    const job = await this.#jobs.take(name, definition.stored.version);
    if (job === undefined) await idle(standByMs, this.#stop.signal);
    else await this.#settle(definition, job);
    return false;
  }

  /** Transient errors are retried. Anything else is recorded, for readers of the index; the next process to open the container retries. */
  async #onRecord(name: string, error: unknown): Promise<boolean> {
    if (PinakesError.isInstance(error) && error.retryable) return false;
    try {
      // A concurrent change of the definition may have caused it: check again first.
      const { stored } = await this.#definitions.refresh(name);
      return await this.#jobs.fail(name, stored.version, error);
    } catch {
      return false;
    }
  }

  async #settle(seen: Definition, taken: BuildJob): Promise<void> {
    const { name } = seen.compiled;
    const { version } = seen.stored;
    let job = taken;
    if (job.phase === "prepare") {
      const since = monotonicMs();
      await this.#alignIndexes(seen);
      const wait = since + this.#definitions.oldWritersMs(seen.stored) - monotonicMs();
      if (building(seen).length > 0 && wait > 0 && !(await idle(wait, this.#stop.signal))) return;
      const total = (await describeTable(this.#dynamo, seen.table))?.ItemCount ?? 0;
      job = { ...job, phase: "fill", total };
      if (!(await this.#jobs.save(name, job))) return;
    }
    if (building(seen).length > 0 && !(await this.#fill(seen, job))) return;
    const ids = new Set(building(seen).map(({ id }) => id));
    await this.#definitions.update(name, version, (stored) => ({
      ...stored,
      indexes: Object.fromEntries(
        Object.entries(stored.indexes).map(([index, state]) => [
          index,
          ids.has(state.id) ? { ...state, ready: true } : state,
        ]),
      ),
      expiryReady: stored.expiryReady || stored.definition.ttl !== null,
      settled: true,
    }));
    await this.#jobs.release(name);
  }

  async #alignIndexes({ table, compiled }: Definition): Promise<void> {
    for (;;) {
      const present = await this.#indexesOf(table);
      const { stored } = await this.#definitions.refresh(compiled.name);
      const wanted: TableIndex[] = Object.entries(stored.indexes).map(([index, { id }]) => indexGsi(index, id));
      if (stored.definition.ttl !== null || present.includes(expiryGsi.gsi)) wanted.push(expiryGsi);
      const obsolete = present.find((gsi) => !wanted.some((index) => index.gsi === gsi));
      const missing = wanted.find(({ gsi }) => !present.includes(gsi));
      if (obsolete === undefined && missing === undefined) return;
      try {
        if (obsolete !== undefined) await removeIndex(this.#dynamo, table, obsolete, this.#stop.signal);
        else if (missing !== undefined) await addIndex(this.#dynamo, table, missing, this.#stop.signal);
      } catch (error) {
        // Another process made the same change first: the next check shows it.
        if (
          !["ValidationException", "ResourceNotFoundException"].includes(errorName(error)) ||
          JSON.stringify(await this.#indexesOf(table)) === JSON.stringify(present)
        )
          throw error;
      }
    }
  }

  /** Resolves when no index is being created or removed. */
  async #indexesOf(table: string): Promise<string[]> {
    const { GlobalSecondaryIndexes = [] } = await whenActive(this.#dynamo, table, this.#stop.signal);
    return GlobalSecondaryIndexes.map(({ IndexName }) => IndexName as string).toSorted();
  }

  /** Scans the table page by page. False if the job is no longer ours, or for an outdated version. */
  async #fill(definition: Definition, from: BuildJob): Promise<boolean> {
    let job = from;
    for (let done = false; !done;) {
      const { stored } = await this.#definitions.current(definition.compiled.name);
      if (this.#stop.signal.aborted || stored.version !== job.version) return false;
      const start = job.at;
      const page = await this.#dynamo.repeat("read items to fill an index", (api) =>
        api.scan({
          TableName: definition.table,
          Limit: pageItemsMax,
          ConsistentRead: true,
          ExclusiveStartKey: start,
        }),
      );
      const items = (page.Items ?? []).filter((item) => item["sk"]?.S?.startsWith("i") === true);
      const placed = await mapLimited(items, updatesInParallel, (item) => this.#place(definition, item));
      await this.#untilShown(
        definition,
        placed.findLast((item) => item !== undefined),
      );
      done = page.LastEvaluatedKey === undefined;
      const { at: _at, ...rest } = job;
      job = {
        ...rest,
        done: job.done + (page.ScannedCount ?? 0),
        ...(page.LastEvaluatedKey === undefined ? {} : { at: page.LastEvaluatedKey }),
      };
      if (!done && !(await this.#jobs.save(definition.compiled.name, job))) return false;
    }
    return true;
  }

  /** Adds an item to the new indexes. Returns it if anything had to be written. */
  async #place(definition: Definition, item: Attributes): Promise<Attributes | undefined> {
    const places = await this.#placesOf(definition, item);
    if (places === undefined || places.every(([id, key]) => inPlace(item, id, key))) return undefined;
    try {
      await this.#dynamo.repeat("fill an index", (api) =>
        api.updateItem({
          TableName: definition.table,
          Key: toKey(keyOf(item)),
          ...placeUpdate(item, places, outdated(definition, item)),
        }),
      );
      return item;
    } catch (error) {
      // Written or deleted since it was read, by a writer that knows the new version.
      if (errorName(error) === "ConditionalCheckFailedException") return undefined;
      throw error;
    }
  }

  async #placesOf(
    definition: Definition,
    item: Attributes,
  ): Promise<(readonly [number, IndexKey | null])[] | undefined> {
    const { compiled, table } = definition;
    const loaded = await this.#documents.load(table, item);
    if (loaded?.item !== item) return undefined;
    const { pk, idKey } = storedKeyOf(item);
    const [tenant] = JSON.parse(pk) as [string];
    try {
      const { keys } = prepareDocument(compiled, tenant, pk, JSON.parse(loaded.stored.json) as JsonObject);
      return building(definition).map(({ id, position }) => [id, keys[position] ?? null] as const);
    } catch (error) {
      throw new PinakesError(
        "INVALID",
        `item "${idKey}" of partition ${pk} does not fit: ${(error as Error).message}`,
        { cause: error },
      );
    }
  }

  /** A freshly filled index should not start out late. */
  async #untilShown(definition: Definition, item: Attributes | undefined): Promise<void> {
    if (item === undefined) return;
    for (const { id, name } of building(definition)) {
      // Time 0: nothing has expired, whatever the container's ttl.
      while ((await notShown(this.#dynamo, definition, indexInTable(name, id), [storedKeyOf(item)], 0)).length > 0) {
        if (!(await idle(pollMs, this.#stop.signal))) return;
      }
    }
  }
}

function building({ compiled, indexIds, stored }: Definition): Building[] {
  return compiled.indexes.flatMap(({ name }, position) =>
    stored.indexes[name]?.ready === true ? [] : [{ position, id: indexIds[position] as number, name }],
  );
}

function inPlace(item: Attributes, id: number, key: IndexKey | null): boolean {
  const [partition, sort] = [item[`p${id}`]?.B, item[`s${id}`]?.B];
  if (key === null || partition === undefined || sort === undefined) return key === null && partition === undefined;
  return Buffer.compare(partition, key.partition) === 0 && Buffer.compare(sort, key.sort) === 0;
}

type Update = Omit<Parameters<Dynamo["api"]["updateItem"]>[0], "TableName" | "Key">;

/** Attributes of removed indexes: numbers are never reused, so those below the next that are not in use never come back. */
function outdated({ indexIds, stored }: Definition, item: Attributes): string[] {
  return Object.keys(item).filter((name) => {
    const id = /^[ps](\d+)$/.exec(name)?.[1];
    return id !== undefined && Number(id) < stored.nextId && !indexIds.includes(Number(id));
  });
}

function placeUpdate(
  item: Attributes,
  places: readonly (readonly [number, IndexKey | null])[],
  gone: readonly string[],
): Update {
  const set: Attributes = Object.assign(
    {},
    ...places.map(([id, key]) => (key === null ? {} : indexPlace(id, key.partition, key.sort))),
  );
  const remove = [...places.flatMap(([id, key]) => (key === null ? [`p${id}`, `s${id}`] : [])), ...gone];
  const names = [...Object.keys(set), ...remove];
  const clauses = [
    names.length > remove.length
      ? `SET ${Object.keys(set)
          .map((name) => `#${name} = :${name}`)
          .join(", ")}`
      : "",
    remove.length > 0 ? `REMOVE ${remove.map((name) => `#${name}`).join(", ")}` : "",
  ];
  return {
    UpdateExpression: clauses.join(" ").trim(),
    ConditionExpression: "#e = :e",
    ExpressionAttributeNames: { "#e": "e", ...Object.fromEntries(names.map((name) => [`#${name}`, name])) },
    ExpressionAttributeValues: {
      ":e": item["e"] as never,
      ...Object.fromEntries(Object.entries(set).map(([name, value]) => [`:${name}`, value])),
    },
  };
}
