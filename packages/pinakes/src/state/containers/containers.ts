/**
 * Containers: documents of any shape, in the containers of the system and in those that a workspace makes for itself. Writes to the
 * system's own keep the rules of their features.
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
  ContainerChange,
} from "@pinakes/client";
import type { RegisteredWork } from "../../containers/index.ts";
import { requireCaller, type Caller } from "../../domain/caller.ts";
import { hasCode, PinakesError, invalid, show } from "../../domain/errors.ts";
import { isJsonObject, type JsonObject } from "../../domain/json.ts";
import { limits } from "../../domain/limits.ts";
import type { Partition, SessionTokens, Change, ItemStore, Item } from "../../ports/item-store.ts";
import type { StateDependencies } from "../dependencies.ts";
import { type SystemContainer, reservedIdPrefix, companionField } from "../system-container.ts";
import { systemContainers } from "../system-containers.ts";
import { commitBulk, type BulkOutcome } from "./bulk.ts";
import type { Scope } from "../../domain/scope.ts";
import { commitBatch, commitOne, type Commit } from "./commit.ts";
import { ContainerCare } from "./container-maintenance.ts";
import { isCompanion, noItem, placedIn, storedView } from "./documents.ts";
import { OwnContainers } from "./user-containers.ts";
import { checkContainerName } from "./user-container-record.ts";
import { compileExpression, parseQuery } from "../../sql/index.ts";
import { succeeds } from "../../runtime/expected-errors.ts";
import { explainContainerQuery, runContainerQuery, type Asking } from "./query.ts";
import { inOwnWords, partitionOf, systemTarget, type Target } from "./target.ts";
import { parseBatch, parseWrite, requireChangeable, type Write, type Condition } from "./writes.ts";

/** By the item store's name of a container: the tokens of the caller's own writes. */
export type SessionsOf = (container: string) => SessionTokens | undefined;

export class Containers {
  readonly #deps: StateDependencies;
  readonly #system: ReadonlyMap<string, Target>;
  readonly #own: OwnContainers;
  readonly #care: ContainerCare;

  constructor(deps: StateDependencies, system: readonly SystemContainer[] = systemContainers) {
    this.#deps = deps;
    this.#system = new Map(system.map((container) => [container.definition.name, systemTarget(container)]));
    this.#own = new OwnContainers(deps);
    this.#care = new ContainerCare(deps, this.#own);
  }

  /** Nothing to open: the features open the system's, and own ones are opened when they are first used. */
  async open(): Promise<void> {}

  /** Does what is due. */
  async process(entry: RegisteredWork): Promise<void> {
    await this.#care.process(entry);
  }

  async list(caller: Caller): Promise<{ readonly items: readonly ContainerInfo[] }> {
    const scope = requireCaller(caller);
    const own = await this.#own.list(scope);
    return { items: [...[...this.#system.values()].map(({ info }) => info), ...own.map(({ target }) => target.info)] };
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
    return (await this.#find(caller, name, true)).info;
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

  /** `pk`: where a caller names it beside the document, which must then say the same. */
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
    const write = parseWrite(target, { op: "patch", id, operations, ...condition(options) }) as Extract<
      Write,
      { op: "patch" }
    >;
    const when =
      options.condition === undefined ? undefined : parseCondition(options.condition, this.#deps.clock.now());
    const { document } = await commitOne(this.#commit(caller, target, partitionOf(target, pk)), {
      ...write,
      condition: when,
    });
    return document as StoredDocument;
  }

  async deleteItem(caller: Caller, name: string, pk: PartitionKey, id: string, options: IfMatch = {}): Promise<void> {
    const target = await this.#find(caller, name, true);
    const write = parseWrite(target, { op: "delete", id, ...condition(options) });
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
  ): Promise<{ readonly results: readonly BatchOutcome[] }> {
    const target = await this.#find(caller, name, true);
    const writes = parseBatch(target, operations);
    return { results: await commitBatch(this.#commit(caller, target, partitionOf(target, pk)), writes) };
  }

  async bulk(caller: Caller, name: string, operations: readonly BulkOperation[]): Promise<BulkOutcome> {
    const target = await this.#find(caller, name, true);
    return commitBulk({ items: this.#deps.items, caller, target, now: this.#deps.clock.now() }, operations);
  }

  async query(caller: Caller, name: string, query: IndexQuery | SqlQuery, sessions?: SessionsOf): Promise<QueryPage> {
    return this.#reading(caller, name, (target) => runContainerQuery(this.#asking(caller, target, sessions), query));
  }

  async explain(caller: Caller, name: string, query: IndexQuery | SqlQuery): Promise<QueryPlan> {
    return this.#reading(caller, name, (target) => explainContainerQuery(this.#asking(caller, target), query));
  }

  async changes(caller: Caller, name: string, query: ChangesQuery = {}): Promise<ChangesPage> {
    return this.#reading(caller, name, (target) => readChanges(this.#deps.items, caller.scope, target, query));
  }

  async deletePartition(caller: Caller, name: string, pk: PartitionKey): Promise<{ readonly deleted: number }> {
    const target = await this.#find(caller, name, true);
    requireChangeable(target);
    return { deleted: await clearPartition(this.#commit(caller, target, partitionOf(target, pk))) };
  }

  async #put(caller: Caller, name: string, operation: JsonObject, pk?: PartitionKey): Promise<StoredDocument> {
    const target = await this.#find(caller, name, true);
    const write = parseWrite(target, operation) as Extract<Write, { document: JsonObject }>;
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

  /** A definition may be a few seconds old: where the answer is an error that a newer one could change, that is looked at first. */
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
      throw new PinakesError(
        "CONFLICT",
        `"${name}" is a container of the system and cannot be ${verb}; choose another name.`,
      );
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

/**
 * The change feed of a container as callers see it: without items of the system, with the fields of the system in every document.
 */
async function readChanges(items: ItemStore, scope: Scope, target: Target, query: ChangesQuery): Promise<ChangesPage> {
  const { cursor, limit, from, mode = "latest" } = query;
  if (mode !== "latest" && mode !== "all") throw invalid(`mode: must be "latest" or "all", got ${show(mode)}.`);
  if (from !== undefined && from !== "oldest" && from !== "now")
    throw invalid(`from: must be "oldest" or "now", got ${show(from)}.`);
  if (target.definition.feed !== true)
    throw new PinakesError(
      "NOT_SUPPORTED",
      `Container "${target.name}" keeps no change feed; query it by time instead.`,
    );
  const page = await items.changes(scope, target.definition.name, { cursor, limit, from });
  return {
    items: page.changes.filter((change) => isShown(target, change, mode)).map((change) => viewOf(target, change)),
    cursor: page.cursor,
    more: page.more,
  };
}

/** A put without its document was replaced by a later change, which follows: `latest` waits for that one. */
function isShown({ system }: Target, { id, document }: Change, mode: "latest" | "all"): boolean {
  if (system !== undefined && id.startsWith(reservedIdPrefix)) return false;
  return document !== undefined || mode === "all";
}

function viewOf(target: Target, { kind, id, partition, etag, at, expired, document }: Change): ContainerChange {
  return {
    kind,
    id,
    pk: partition,
    etag,
    at: new Date(at).toISOString(),
    ...(expired === true ? { time_to_live_expired: true } : {}),
    ...(document === undefined ? {} : { document: storedView(target, { document, etag, modifiedAt: at }) }),
  };
}

const batchOperations = 24;

/** Removes all documents of a partition, in steps. Interrupted, it is simply called again. */
async function clearPartition(commit: Commit): Promise<number> {
  try {
    return await (commit.target.system === undefined ? clearOwn(commit) : clearSystem(commit));
  } catch (error) {
    throw inOwnWords(commit.target, error);
  }
}

async function clearOwn({ items, caller, target, partition }: Commit): Promise<number> {
  let total = 0;
  for (;;) {
    const { deleted, done } = await items.deletePartition(caller.scope, target.definition.name, partition);
    total += deleted;
    if (done) return total;
  }
}

/** Document by document, so that the companions hear of each: what they keep must outlive the documents. */
async function clearSystem(commit: Commit): Promise<number> {
  const { items, caller, target, partition } = commit;
  const equals = Object.fromEntries(target.definition.partitionKey.map((path, i) => [path, partition[i] as string]));
  let total = 0;
  for (let cursor: string | undefined; ;) {
    const page = await items.query(caller.scope, target.definition.name, {
      equals,
      cursor,
      limit: batchOperations,
      // Checkpoints go, too: they are nobody's without their workflow.
      filter: { [companionField]: { exists: false } },
    });
    const deleted = page.items.length === 0 || (await deleteAll(commit, page.items));
    if (deleted) total += page.items.length;
    // Somebody else deleted one of them meanwhile: the rest is looked for again.
    cursor = deleted ? page.cursor : undefined;
    if (deleted && cursor === undefined) return total;
  }
}

async function deleteAll(commit: Commit, found: readonly Item[]): Promise<boolean> {
  return succeeds(
    commitBatch(
      commit,
      found.map(({ id }) => ({ op: "delete", id, ifMatch: undefined })),
    ),
    "NOT_FOUND",
  );
}

const select = "SELECT * ";

/** The condition of a patch, as Cosmos DB writes it: `from c where c.status = "open"`. */
function parseCondition(text: unknown, now: number): Condition {
  if (typeof text !== "string" || !/^\s*from\s/i.test(text))
    throw invalid(`condition: write it as from c where c.status = "open"; got ${show(text)}.`);
  const { where, joins, orderBy, groupBy, offset } = parseQuery(`${select}${text}`);
  if (where === undefined) throw invalid('condition: says nothing; write it as from c where c.status = "open".');
  if (joins.length + orderBy.length + groupBy.length > 0 || offset !== undefined)
    throw invalid(
      "condition: is about one document; only WHERE may follow, without JOIN, GROUP BY, ORDER BY and OFFSET.",
    );
  return (document) => {
    const context = { parameters: new Map<string, never>(), now, expanded: { rows: 0 } };
    return compileExpression(where, context)([document]) === true;
  };
}
