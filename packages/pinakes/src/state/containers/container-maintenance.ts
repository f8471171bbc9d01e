/**
 * Background maintenance of user containers. A live one is opened, so that its expired items are purged even if it was not used since this
 * process started. A deleted one is emptied, partition by partition; its entry stays until its change feed has expired too, because a
 * late index or a late writer may still add items.
 */
import type { RegisteredWork } from "../../containers/index.ts";
import type { JsonObject } from "../../domain/json.ts";
import { limits } from "../../domain/limits.ts";
import { partitionAt } from "../../domain/partition-value.ts";
import { parsePath } from "../../domain/path.ts";
import type { Scope } from "../../domain/scope.ts";
import { tolerate } from "../../runtime/expected-errors.ts";
import type { Item, Partition } from "../../ports/item-store.ts";
import type { StateDependencies } from "../dependencies.ts";
import { settingsContainer } from "../settings.ts";
import { careMs, type CareData } from "./maintenance-work.ts";
import type { OwnContainers } from "./user-containers.ts";
import { definitionsTopic, type OwnContainer } from "./user-container-record.ts";
import { allIndex, allIndexName } from "./policy-indexes.ts";

/** After this time without finding an item, a deleted container is empty everywhere. */
const settledMs = limits.feedRetentionMs + 86_400_000;
/** Limit of one run, so that one container does not block all other work. */
const pagesPerRunMax = 50;
const purgeStepsPerRunMax = 10;

export class ContainerCare {
  readonly #deps: StateDependencies;
  readonly #own: OwnContainers;

  constructor(deps: StateDependencies, own: OwnContainers) {
    this.#deps = deps;
    this.#own = own;
  }

  async process(entry: RegisteredWork): Promise<void> {
    const { system, work } = this.#deps;
    const data = entry.data as unknown as CareData;
    const scope = system.forTenant(entry.tenant);
    const record = await this.#own.read(scope, data.name);
    // Without any definition the container never existed, or its last trace is gone.
    if (record === undefined) await work.remove(entry as RegisteredWork<"container">);
    else if (record.incarnation === data.incarnation && !record.deleted) await this.#tend(scope, record, entry);
    else await this.#clear(scope, record, entry, data);
  }

  async #tend(scope: Scope, record: OwnContainer, entry: RegisteredWork): Promise<void> {
    await this.#own.ensureOpen(scope, record);
    const backlog = await this.#purge(entry.key);
    await this.#renew(entry, backlog ? 0 : careMs, entry.data as JsonObject);
  }

  async #clear(scope: Scope, record: OwnContainer, entry: RegisteredWork, data: CareData): Promise<void> {
    const { clock, work, items } = this.#deps;
    const now = clock.now();
    // Nothing expires here: the index shows every item.
    await items.openContainer({
      name: entry.key,
      partitionKey: data.partition_key,
      ...(data.optional_key === true ? { optionalKey: true } : {}),
      uniqueKeys: data.unique_keys,
      indexes: { [allIndexName]: allIndex },
      ttl: null,
      feed: true,
    });
    const { found, rest } = await this.#empty(scope, entry.key, data);
    await this.#purge(entry.key);
    if (found) return this.#renew(entry, rest ? 0 : careMs, { ...data, empty_since: now });
    const since = data.empty_since ?? now;
    if (now - since < settledMs)
      return this.#renew(entry, Math.max(careMs, now - since), { ...data, empty_since: since });
    if (record.incarnation === data.incarnation) await this.#forget(scope, record);
    await work.remove(entry as RegisteredWork<"container">);
  }

  /** Whether items were found, and whether there may be more. */
  async #empty(
    scope: Scope,
    container: string,
    { partition_key }: CareData,
  ): Promise<{ found: boolean; rest: boolean }> {
    const { items } = this.#deps;
    const paths = partition_key.map(parsePath);
    const partitionOf = ({ document }: Item): Partition => partitionAt(document, paths);
    let found = false;
    for (let page = 0; page < pagesPerRunMax; page += 1) {
      const { items: rows } = await items.query(scope, container, { index: allIndexName, equals: {} });
      if (rows.length === 0) return { found, rest: false };
      found = true;
      const partitions = new Map(rows.map((row) => [JSON.stringify(partitionOf(row)), partitionOf(row)]));
      for (const partition of partitions.values())
        while (!(await items.deletePartition(scope, container, partition)).done);
    }
    return { found, rest: true };
  }

  async #purge(container: string): Promise<boolean> {
    const { items, system } = this.#deps;
    for (let step = 0; step < purgeStepsPerRunMax; step += 1) {
      if ((await items.purgeExpired(system, container)).backlog === 0) return false;
    }
    return true;
  }

  async #renew(entry: RegisteredWork, inMs: number, data: JsonObject): Promise<void> {
    const { kind, tenant, key } = entry as RegisteredWork<"container">;
    await this.#deps.work.put({ kind, tenant, key, due_at: this.#deps.clock.now() + Math.max(1, inMs), data });
  }

  async #forget(scope: Scope, { name, etag }: OwnContainer): Promise<void> {
    // The name was reused concurrently.
    await tolerate(
      this.#deps.items.write(scope, settingsContainer.name, [definitionsTopic], {
        op: "delete",
        id: name,
        ifMatch: etag,
      }),
      "PRECONDITION_FAILED",
      "NOT_FOUND",
    );
  }
}
