/**
 * Containers: JSON documents in system containers and in user containers of a workspace. Writes to system containers
 * follow the rules of their features.
 */
import type {
  BatchOperation,
  BatchOutcome,
  BulkOperation,
  ChangesPage,
  ChangesQuery,
  ContainerInfo,
  ContainerSpec,
  ItemDocument,
  IfMatch,
  IndexQuery,
  IndexState,
  PartitionKey,
  PatchOperation,
  PatchOptions,
  PutContainerOptions,
  QueryPage,
  QueryPlan,
  SqlQuery,
  StoredDocument,
} from "@pinakes/client";
import type { RegisteredWork } from "../../containers/index.ts";
import { requireCaller, type Caller } from "../../domain/caller.ts";
import { hasCode, PinakesError, invalid, show } from "../../domain/errors.ts";
import { isJsonObject, type JsonObject } from "../../domain/json.ts";
import { limits } from "../../domain/limits.ts";
import type { Scope } from "../../domain/scope.ts";
import type { Partition, SessionTokens } from "../../ports/item-store.ts";
import type { StateDependencies } from "../dependencies.ts";
import type { SystemContainer } from "../system-container.ts";
import { systemContainers } from "../system-containers.ts";
import { commitBulk, type BulkOutcome } from "./bulk.ts";
import { readChanges } from "./changes.ts";
import { commitBatch, commitOne, type Commit } from "./commit.ts";
import { ContainerCare } from "./container-maintenance.ts";
import { isCompanion, noItem, placedIn, storedView } from "./documents.ts";
import { OwnContainers, requireAdmin } from "./user-containers.ts";
import { checkContainerName } from "./user-container-record.ts";
import { clearPartition } from "./clear-partition.ts";
import {
  explainContainerQuery,
  runContainerQuery,
  runContainerSql,
  type Asking,
  type CostedPage,
  type SqlOptions,
} from "./query.ts";
import { inOwnWords, partitionIn, partitionOf, systemTarget, type Target } from "./target.ts";
import { parseBatch, parseWrite, requireChangeable, type Write } from "./writes.ts";

/** By the item store's name of a container: tokens of the caller's own writes. */
export type SessionsOf = (container: string) => SessionTokens | undefined;

export interface WriteOptions {
  /** The status of an upsert: 201 if the item was created, 200 if it was replaced. */
  readonly exactUpserts?: boolean | undefined;
}

/** Creates a document through the feature of its container, and returns it. */
export type Creator = (caller: Caller, document: JsonObject) => Promise<StoredDocument>;

export class Containers {
  readonly #deps: StateDependencies;
  readonly #system: ReadonlyMap<string, Target>;
  readonly #own: OwnContainers;
  readonly #care: ContainerCare;
  readonly #creators = new Map<string, Creator>();

  constructor(deps: StateDependencies, system: readonly SystemContainer[] = systemContainers) {
    this.#deps = deps;
    this.#system = new Map(system.map((container) => [container.definition.name, systemTarget(container)]));
    this.#own = new OwnContainers(deps);
    this.#care = new ContainerCare(deps, this.#own);
  }

  /** Creates in this container of the system go through its feature, which knows more than one document. */
  createThrough(name: string, creator: Creator): void {
    this.#creators.set(name, creator);
  }

  /** Nothing to open: features open system containers, and user containers are opened on first use. */
  async open(): Promise<void> {}

  /** Processes due work. */
  async process(entry: RegisteredWork): Promise<void> {
    await this.#care.process(entry);
  }

  async list(caller: Caller): Promise<{ readonly items: readonly ContainerInfo[] }> {
    const scope = requireCaller(caller);
    const own = await this.#own.list(scope);
    const system = [...this.#system.values()].map((target) => this.#infoFor(scope, target));
    return { items: [...system, ...own.map(({ target }) => target.info)] };
  }

  async put(
    caller: Caller,
    name: string,
    spec: ContainerSpec,
    options: PutContainerOptions = {},
  ): Promise<ContainerInfo> {
    requireCaller(caller);
    this.#requireOwnName(checkContainerName(name), "declared");
    const { target } = await this.#own.put(caller, name, spec, options);
    return target.info;
  }

  async get(caller: Caller, name: string): Promise<ContainerInfo> {
    return this.#infoFor(requireCaller(caller), await this.#find(caller, name, true));
  }

  /** The name of a container in the item store: user containers of several workspaces may have the same name. */
  async storedName(caller: Caller, name: string): Promise<string> {
    return (await this.#find(caller, name, true)).definition.name;
  }

  async delete(caller: Caller, name: string): Promise<void> {
    requireCaller(caller);
    this.#requireOwnName(checkContainerName(name), "deleted");
    await this.#own.delete(caller, name);
  }

  async indexes(caller: Caller, name: string): Promise<{ readonly items: readonly IndexState[] }> {
    return this.#reading(caller, name, async ({ definition }) => {
      const states = await this.#deps.items.indexes(definition.name);
      return {
        items: states.map((state) => {
          const { partition = [], sort = [] } = definition.indexes?.[state.name] ?? {};
          return { ...state, partition, sort };
        }),
      };
    });
  }

  /** `pk`: the partition key beside the document, which must match it. */
  async create(caller: Caller, name: string, document: ItemDocument, pk?: PartitionKey): Promise<StoredDocument> {
    return this.#put(caller, name, { op: "create", document }, pk);
  }

  async upsert(caller: Caller, name: string, document: ItemDocument, options: IfMatch = {}): Promise<StoredDocument> {
    return this.#put(caller, name, { op: "upsert", document, ...condition(options) });
  }

  async replace(
    caller: Caller,
    name: string,
    document: JsonObject & { readonly id: string },
    options: IfMatch = {},
    pk?: PartitionKey,
  ): Promise<StoredDocument> {
    return this.#put(caller, name, { op: "replace", document, ...condition(options) }, pk);
  }

  async read(caller: Caller, name: string, pk: PartitionKey, id: string): Promise<StoredDocument> {
    return this.#reading(caller, name, async (target) => {
      const item = await this.#deps.items.read(caller.scope, target.definition.name, {
        partition: partitionOf(target, pk),
        id,
      });
      if (item === undefined || isCompanion(item)) throw noItem(target, id);
      return storedView(target, item);
    });
  }

  async patch(
    caller: Caller,
    name: string,
    pk: PartitionKey,
    id: string,
    operations: readonly PatchOperation[],
    options: PatchOptions = {},
  ): Promise<StoredDocument> {
    const target = await this.#find(caller, name, true);
    const { condition: when } = options;
    const operation = {
      op: "patch",
      id,
      operations,
      ...condition(options),
      condition: when,
    };
    const write = parseWrite(target, operation, this.#deps.clock.now());
    const { document } = await commitOne(this.#commit(caller, target, partitionOf(target, pk)), write);
    return document as StoredDocument;
  }

  async deleteItem(caller: Caller, name: string, pk: PartitionKey, id: string, options: IfMatch = {}): Promise<void> {
    const target = await this.#find(caller, name, true);
    const write = parseWrite(target, { op: "delete", id, ...condition(options) }, this.#deps.clock.now());
    await commitOne(this.#commit(caller, target, partitionOf(target, pk)), write);
  }

  async readMany(
    caller: Caller,
    name: string,
    keys: readonly { readonly pk: PartitionKey; readonly id: string }[],
  ): Promise<{ readonly items: readonly (StoredDocument | null)[] }> {
    return this.#reading(caller, name, async (target) => {
      const wanted = keyList(keys).map(({ pk, id }) => ({
        partition: partitionOf(target, pk as PartitionKey),
        id: id as string,
      }));
      const found = await this.#deps.items.readMany(caller.scope, target.definition.name, wanted);
      return {
        items: found.map((item) => (item === undefined || isCompanion(item) ? null : storedView(target, item))),
      };
    });
  }

  async batch(
    caller: Caller,
    name: string,
    pk: PartitionKey,
    operations: readonly BatchOperation[],
    options: WriteOptions = {},
  ): Promise<{ readonly results: readonly BatchOutcome[] }> {
    const target = await this.#find(caller, name, true);
    const writes = parseBatch(target, operations, this.#deps.clock.now());
    const commit = { ...this.#commit(caller, target, partitionOf(target, pk)), ...options };
    return { results: await commitBatch(commit, writes) };
  }

  /** A single operation and its result. Without `pk` the document determines the partition. */
  async write(
    caller: Caller,
    name: string,
    pk: PartitionKey | undefined,
    operation: BatchOperation,
    options: WriteOptions = {},
  ): Promise<BatchOutcome> {
    const target = await this.#find(caller, name, true);
    const write = parseWrite(target, operation, this.#deps.clock.now());
    const created = write.op === "create" ? await this.#createThrough(caller, target, write.document, pk) : undefined;
    if (created !== undefined) return { status: 201, id: created.id, etag: created._etag, document: created };
    const incoming = { ...this.#commit(caller, target, []), ...options };
    if (pk !== undefined) return commitOne({ ...incoming, partition: partitionOf(target, pk) }, write);
    if (!("document" in write)) throw invalid("pk: the partition key of the item is missing.");
    const placed = placedIn(incoming, write);
    return commitOne({ ...incoming, partition: placed.partition }, placed.write);
  }

  async bulk(caller: Caller, name: string, operations: readonly BulkOperation[]): Promise<BulkOutcome> {
    const target = await this.#find(caller, name, true);
    return commitBulk({ items: this.#deps.items, caller, target, now: this.#deps.clock.now() }, operations);
  }

  async query(caller: Caller, name: string, query: IndexQuery | SqlQuery, sessions?: SessionsOf): Promise<QueryPage> {
    return this.#reading(caller, name, (target) => runContainerQuery(this.#asking(caller, target, sessions), query));
  }

  /** In SQL, over documents with other system properties, with the cost of the page. */
  async querySql(caller: Caller, name: string, query: SqlQuery, options: SqlOptions = {}): Promise<CostedPage> {
    return this.#reading(caller, name, (target) =>
      runContainerSql({ ...this.#asking(caller, target), ...options }, query),
    );
  }

  async explain(caller: Caller, name: string, query: IndexQuery | SqlQuery): Promise<QueryPlan> {
    return this.#reading(caller, name, (target) => explainContainerQuery(this.#asking(caller, target), query));
  }

  async changes(caller: Caller, name: string, query: ChangesQuery = {}): Promise<ChangesPage> {
    return this.#reading(caller, name, (target) => readChanges(this.#deps.items, caller.scope, target, query));
  }

  /** Of a system container, for the caller's workspace alone: it applies to documents that are there, and those with a `ttl` keep it. */
  async setDefaultTtl(caller: Caller, name: string, ttl: number | null): Promise<ContainerInfo> {
    const scope = requireCaller(caller);
    const target = await this.#find(caller, name, true);
    if (target.system === undefined)
      throw invalid(`Container "${name}" is not a system container; declare it again with another default_ttl.`);
    if (this.#deps.items.defaultTtl(scope, name).seconds !== ttl) {
      requireAdmin(
        caller,
        `Only an admin of the workspace can change the default time to live of container "${name}".`,
      );
      await this.#deps.items.setDefaultTtl(scope, name, ttl);
    }
    return this.#infoFor(scope, target);
  }

  /** A workspace may have its own default time to live in a system container. */
  #infoFor(scope: Scope, { system, definition, info }: Target): ContainerInfo {
    if (system === undefined) return info;
    const { seconds, changes } = this.#deps.items.defaultTtl(scope, definition.name);
    return changes === 0 ? info : { ...info, default_ttl: seconds, etag: `${info.etag}-${changes}` };
  }

  async deletePartition(caller: Caller, name: string, pk: PartitionKey): Promise<{ readonly deleted: number }> {
    const target = await this.#find(caller, name, true);
    requireChangeable(target);
    return { deleted: await clearPartition(this.#commit(caller, target, partitionOf(target, pk))) };
  }

  async #createThrough(
    caller: Caller,
    target: Target,
    document: JsonObject,
    pk: PartitionKey | undefined,
  ): Promise<StoredDocument | undefined> {
    const creator = this.#creators.get(target.name);
    if (creator === undefined || target.system === undefined) return undefined;
    const own = partitionIn(target, document);
    if (pk !== undefined && own !== undefined && JSON.stringify(partitionOf(target, pk)) !== JSON.stringify(own))
      throw invalid("pk: differs from the partition key of the document.");
    const paths = target.definition.partitionKey;
    const named = pk === undefined || own !== undefined ? [] : partitionOf(target, pk);
    const placed = Object.fromEntries(named.map((value, i) => [paths[i] as string, value]));
    return creator(caller, { ...document, ...placed });
  }

  async #put(caller: Caller, name: string, operation: JsonObject, pk?: PartitionKey): Promise<StoredDocument> {
    const target = await this.#find(caller, name, true);
    const created =
      operation["op"] === "create" && isJsonObject(operation["document"])
        ? await this.#createThrough(caller, target, operation["document"], pk)
        : undefined;
    if (created !== undefined) return created;
    const write = parseWrite(target, operation, this.#deps.clock.now()) as Extract<Write, { document: JsonObject }>;
    const incoming = this.#commit(caller, target, []);
    const placed = pk === undefined ? placedIn(incoming, write) : { write, partition: partitionOf(target, pk) };
    const { document } = await commitOne({ ...incoming, partition: placed.partition }, placed.write);
    return document as StoredDocument;
  }

  #commit(caller: Caller, target: Target, partition: Partition): Commit {
    return { items: this.#deps.items, caller, target, partition, now: this.#deps.clock.now() };
  }

  #asking(caller: Caller, target: Target, sessions?: SessionsOf): Asking {
    const { items, clock, signingKey, places } = this.#deps;
    return {
      items,
      caller,
      target,
      now: clock.now(),
      key: signingKey,
      queries: places?.queries,
      session: sessions?.(target.definition.name),
    };
  }

  /** A definition may be cached for a few seconds: before an error that a newer one could change, it is reloaded. */
  async #reading<Result>(caller: Caller, name: string, run: (target: Target) => Promise<Result>): Promise<Result> {
    let target = await this.#find(caller, name, false);
    for (;;) {
      try {
        return await run(target);
      } catch (error) {
        const told = inOwnWords(target, error);
        if (target.system !== undefined || !hasCode(error, "INVALID", "NOT_FOUND")) throw told;
        const fresh = await this.#find(caller, name, true);
        if (fresh.etag === target.etag) throw told;
        target = fresh;
      }
    }
  }

  async #find(caller: Caller, name: string, fresh: boolean): Promise<Target> {
    const scope = requireCaller(caller);
    const system = this.#system.get(checkContainerName(name));
    return system ?? (await this.#own.find(scope, name, { fresh })).target;
  }

  #requireOwnName(name: string, verb: string): void {
    if (this.#system.has(name))
      throw new PinakesError("CONFLICT", `"${name}" is a system container and cannot be ${verb}; choose another name.`);
  }
}

function condition({ ifMatch }: IfMatch): { readonly if_match?: string } {
  return ifMatch === undefined ? {} : { if_match: ifMatch };
}

function keyList(keys: unknown): readonly JsonObject[] {
  if (!Array.isArray(keys) || keys.length > limits.readManyKeysMax)
    throw invalid(`keys: must be a list of at most ${limits.readManyKeysMax} keys.`);
  return keys.map((key: unknown, i) => {
    if (!isJsonObject(key) || typeof key["id"] !== "string")
      throw invalid(`keys[${i}]: must be { "pk": …, "id": "…" }, got ${show(key)}.`);
    return key;
  });
}
