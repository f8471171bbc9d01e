/** A typed container: documents in and out, keys by name, queries checked against the declared indexes. */
import { setTimeout as sleep } from "node:timers/promises";
import type { z } from "zod";
import { hasCode, PinakesError, inBatch, invalid } from "../domain/errors.ts";
import { isJsonObject, type JsonObject } from "../domain/json.ts";
import { KeyedQueue } from "../runtime/keyed-queue.ts";
import { applyPatch, checkPatch, type PatchStep } from "../domain/patch.ts";
import { parsePath, valueAt } from "../domain/path.ts";
import { requireScope, type Scope } from "../domain/scope.ts";
import { withoutSystemProperties } from "../domain/system-properties.ts";
import type {
  BatchResult,
  ChangesOptions,
  ContainerDefinition,
  Item,
  ItemKey,
  ItemStore,
  Operation,
  Partition,
  PartitionValue,
  Query,
  ReadOptions,
  WriteResult,
} from "../ports/item-store.ts";
import type {
  Conditions,
  DocumentChange,
  DocumentChanges,
  DocumentOperation,
  DocumentPage,
  FollowOptions,
  KeyOf,
  ListOf,
  PartitionOf,
  QueryOf,
  Stored,
} from "./types.ts";
import { validateDocument } from "./validate.ts";

type Changer<Document> = (document: Stored<Document>) => Document | Promise<Document>;

/** Another process wrote between our read and our write. */
class Outrun extends Error {}

const updateAttemptsDefault = 50;
const pollMsDefault = 1_000;

export class Container<Document extends object, Input extends object, PartitionPath extends string, Indexes> {
  readonly store: ItemStore;
  readonly name: string;
  readonly #paths: readonly string[];
  readonly #schema: z.ZodType<Document, Input>;
  readonly #queue = new KeyedQueue();
  readonly #writes = new WeakMap<object, WriteResult>();

  constructor(store: ItemStore, definition: ContainerDefinition, schema: z.ZodType<Document, Input>) {
    this.store = store;
    this.name = definition.name;
    this.#paths = definition.partitionKey;
    this.#schema = schema;
  }

  /** Only if absent; an id is generated if the document has none. */
  async create(scope: Scope, document: Input): Promise<Stored<Document>> {
    return this.#put(scope, "create", document, {});
  }

  async replace(
    scope: Scope,
    document: Input & { readonly id: string },
    conditions: Conditions<Document> = {},
  ): Promise<Stored<Document>> {
    return this.#put(scope, "replace", document, conditions);
  }

  async upsert(
    scope: Scope,
    document: Input & { readonly id: string },
    conditions: Conditions<Document> = {},
  ): Promise<Stored<Document>> {
    return this.#put(scope, "upsert", document, conditions);
  }

  async delete(
    scope: Scope,
    key: KeyOf<Document, PartitionPath>,
    conditions: Conditions<Document> = {},
  ): Promise<void> {
    const { partition, id } = this.#key(scope, key);
    await this.store.write(scope, this.name, partition, { op: "delete", id, ...plain(conditions) });
  }

  async read(
    scope: Scope,
    key: KeyOf<Document, PartitionPath>,
    options?: ReadOptions,
  ): Promise<Stored<Document> | undefined> {
    const item = await this.store.read(scope, this.name, this.#key(scope, key), options);
    return item === undefined ? undefined : this.#stored(item);
  }

  /** The JSON text with its system fields, unparsed: for answers that pass it through. */
  async readBytes(
    scope: Scope,
    key: KeyOf<Document, PartitionPath>,
    options?: ReadOptions,
  ): Promise<{ etag: string; bytes: Uint8Array } | undefined> {
    const raw = await this.store.readRaw(scope, this.name, this.#key(scope, key), options);
    if (raw === undefined) return undefined;
    const system = `,"_etag":${JSON.stringify(raw.etag)},"_ts":${seconds(raw.modifiedAt)}}`;
    // A stored document has an id, so there is a property before the comma.
    return { etag: raw.etag, bytes: Buffer.concat([raw.bytes.subarray(0, -1), Buffer.from(system, "utf8")]) };
  }

  async readMany(
    scope: Scope,
    keys: readonly KeyOf<Document, PartitionPath>[],
  ): Promise<readonly (Stored<Document> | undefined)[]> {
    if (!Array.isArray(keys)) throw invalid("readMany takes an array of keys.");
    const items = await this.store.readMany(
      scope,
      this.name,
      keys.map((key: KeyOf<Document, PartitionPath>) => this.#key(scope, key)),
    );
    return items.map((item) => (item === undefined ? undefined : this.#stored(item)));
  }

  /**
   * Read, change, write back; repeated after a lost race. `change` returns the new document and may be called more than once. Updates of
   * one item take turns, so do not update the same item inside of `change`.
   */
  async update(
    scope: Scope,
    key: KeyOf<Document, PartitionPath>,
    change: Changer<Document>,
    options: { readonly attempts?: number } = {},
  ): Promise<Stored<Document>> {
    if (typeof change !== "function")
      throw invalid("update: takes a function from the document to the changed document.");
    return this.#update(scope, this.#key(scope, key), change, {}, options.attempts ?? updateAttemptsDefault);
  }

  /** A patch whose result must match the schema. */
  async patch(
    scope: Scope,
    key: KeyOf<Document, PartitionPath>,
    steps: readonly PatchStep[],
    conditions: Conditions<Document> = {},
  ): Promise<Stored<Document>> {
    checkPatch(steps);
    const change = ({ _etag, _ts, ...document }: Stored<Document>) =>
      applyPatch(document as JsonObject, steps) as Document;
    return this.#update(scope, this.#key(scope, key), change, conditions, updateAttemptsDefault);
  }

  async query<Name extends keyof Indexes & string>(
    scope: Scope,
    index: Name,
    query: QueryOf<Document, Indexes[Name]>,
  ): Promise<DocumentPage<Document>> {
    return this.#page(scope, { ...(query as Query), index });
  }

  /** The items of one partition in the order of their ids. */
  async list(
    scope: Scope,
    partition: PartitionOf<Document, PartitionPath>,
    query: ListOf<Document> = {},
  ): Promise<DocumentPage<Document>> {
    return this.#page(scope, { ...(query as Omit<Query, "equals">), equals: partition });
  }

  /** All pages of a query, one document after the other. */
  async *all<Name extends keyof Indexes & string>(
    scope: Scope,
    index: Name,
    query: Omit<QueryOf<Document, Indexes[Name]>, "cursor">,
  ): AsyncGenerator<Stored<Document>, void> {
    let cursor: string | undefined;
    do {
      const page: DocumentPage<Document> = await this.query(scope, index, { ...query, cursor });
      yield* page.items;
      cursor = page.cursor;
    } while (cursor !== undefined);
  }

  async count<Name extends keyof Indexes & string>(
    scope: Scope,
    index: Name,
    query: Omit<QueryOf<Document, Indexes[Name]>, "limit" | "cursor" | "order">,
  ): Promise<number> {
    return this.store.count(scope, this.name, { ...(query as unknown as Query), index });
  }

  /** Operations on one partition, all or nothing; documents are validated as in single writes. */
  async batch(
    scope: Scope,
    partition: PartitionOf<Document, PartitionPath>,
    operations: readonly DocumentOperation<Document, Input>[],
  ): Promise<BatchResult> {
    requireScope(scope);
    if (!Array.isArray(operations)) throw invalid("A batch takes an array of operations.");
    const checked = operations.map((operation: DocumentOperation<Document, Input>, i) => {
      try {
        return this.#checked(operation);
      } catch (error) {
        throw PinakesError.isInstance(error) ? inBatch(error, i, operations.length) : error;
      }
    });
    return this.store.batch(scope, this.name, this.#partition(partition), checked);
  }

  /** One page of the change feed. */
  async changes(scope: Scope, options?: ChangesOptions): Promise<DocumentChanges<Document>> {
    return (await this.store.changes(scope, this.name, options)) as DocumentChanges<Document>;
  }

  /**
   * The endless change feed; stops with its signal. Each change carries the cursor right after it: store the one of the last handled
   * change, and a restart continues with the next. That costs one read of the feed per change; for high volumes, read pages with `changes`.
   */
  async *follow(
    scope: Scope,
    options: FollowOptions = {},
  ): AsyncGenerator<DocumentChange<Document> & { readonly cursor: string }, void> {
    const { from = "oldest", signal, pollMs = pollMsDefault } = options;
    const stopped = () => signal?.aborted === true;
    let { cursor } = options;
    while (!stopped()) {
      const page = await this.changes(scope, cursor === undefined ? { from, limit: 1 } : { cursor, limit: 1 });
      cursor = page.cursor;
      const [change] = page.changes;
      if (change !== undefined && !stopped()) yield { ...change, cursor };
      if (change !== undefined || page.more) continue;
      await sleep(pollMs, undefined, signal === undefined ? {} : { signal }).catch((error: unknown) => {
        if (!stopped()) throw error;
      });
    }
  }

  /** The session token of the write that returned this document, for queries that must see it. */
  sessionOf(document: Stored<Document>): string | undefined {
    return this.#writes.get(document)?.session;
  }

  async #put(
    scope: Scope,
    op: "create" | "replace" | "upsert",
    document: Input,
    conditions: Conditions<Document>,
  ): Promise<Stored<Document>> {
    requireScope(scope);
    const checked = this.#valid(document);
    const result = await this.store.write(scope, this.name, this.#partitionIn(checked), {
      op,
      document: checked,
      ...plain(conditions),
    });
    return this.#written(checked, result);
  }

  #checked(operation: DocumentOperation<Document, Input>): Operation {
    const given: unknown = operation;
    if (!isJsonObject(given)) throw invalid("An operation must be an object with `op`.");
    if (given["op"] === "patch") {
      throw invalid(
        "A patch in a batch cannot be checked against the schema. Use patch() or update(), or replace with an etag; the store below supports it: store.batch().",
      );
    }
    if (!("document" in operation)) return { ...operation, ...plain(operation) };
    return { ...operation, document: this.#valid(operation.document) };
  }

  async #update(
    scope: Scope,
    key: ItemKey,
    change: Changer<Document>,
    conditions: Conditions<Document>,
    attempts: number,
  ): Promise<Stored<Document>> {
    // Callers of this process take turns, so that only other processes can conflict.
    return this.#queue.run([JSON.stringify([scope.tenant, key.partition, key.id])], async () => {
      for (let attempt = 1; ; attempt += 1) {
        try {
          return await this.#updateOnce(scope, key, change, conditions);
        } catch (error) {
          const outrun = error instanceof Outrun;
          if (!outrun || attempt >= attempts) throw outrun ? error.cause : error;
          await sleep(Math.random() * Math.min(100, 2 ** attempt));
        }
      }
    });
  }

  async #updateOnce(
    scope: Scope,
    key: ItemKey,
    change: Changer<Document>,
    conditions: Conditions<Document>,
  ): Promise<Stored<Document>> {
    const item = await this.store.read(scope, this.name, key);
    if (item === undefined)
      throw new PinakesError(
        "NOT_FOUND",
        `There is no item "${key.id}" in this partition of "${this.name}" to update.`,
      );
    const next: unknown = await change(this.#stored(item));
    if (!isJsonObject(next)) throw invalid("update: the function must return the changed document.");
    const checked = this.#valid({ ...next, id: key.id });
    const { ifMatch, where } = plain(conditions);
    try {
      const operation: Operation = {
        op: "replace",
        document: checked,
        ifMatch: ifMatch ?? item.etag,
        where,
      };
      return this.#written(checked, await this.store.write(scope, this.name, key.partition, operation));
    } catch (error) {
      // A concurrent write; a condition of the caller's that fails on the item we read is final.
      const failed = hasCode(error, "PRECONDITION_FAILED") && ifMatch === undefined;
      throw failed && error.context.currentEtag !== item.etag
        ? new Outrun("changed meanwhile", { cause: error })
        : error;
    }
  }

  async #page(scope: Scope, query: Query): Promise<DocumentPage<Document>> {
    const { items, cursor } = await this.store.query(scope, this.name, query);
    return { items: items.map((item) => this.#stored(item)), ...(cursor === undefined ? {} : { cursor }) };
  }

  #valid(document: unknown): JsonObject {
    const given = isJsonObject(document) ? withoutSystemProperties(document) : document;
    return validateDocument(this.name, this.#schema, given);
  }

  #key(scope: Scope, key: KeyOf<Document, PartitionPath>): ItemKey {
    requireScope(scope);
    if (!isJsonObject(key)) throw invalid(`A key must be an object with id and ${this.#paths.join(", ")}.`);
    return { partition: this.#partition(key), id: key.id };
  }

  #partition(key: PartitionOf<Document, PartitionPath>): Partition {
    if (!isJsonObject(key)) throw invalid(`A partition must be an object with ${this.#paths.join(", ")}.`);
    return this.#paths.map((path) => (key as Readonly<Record<string, PartitionValue>>)[path] as PartitionValue);
  }

  #partitionIn(document: JsonObject): Partition {
    return this.#paths.map((path) => {
      const value = valueAt(document, parsePath(path));
      if (value === undefined) throw invalid(`The document lacks its partition key "${path}".`);
      return value as PartitionValue;
    });
  }

  #stored({ document, etag, modifiedAt }: Item): Stored<Document> {
    return { ...document, _etag: etag, _ts: seconds(modifiedAt) } as unknown as Stored<Document>;
  }

  #written(document: JsonObject, result: WriteResult): Stored<Document> {
    const { id, etag, modifiedAt } = result;
    const stored = { id, ...document, _etag: etag, _ts: seconds(modifiedAt as number) } as unknown as Stored<Document>;
    this.#writes.set(stored, result);
    return stored;
  }
}

/** For the port, which does not accept undefined for absent. */
function plain<Document>(conditions: Conditions<Document> | null): {
  ifMatch?: string;
  where?: NonNullable<Query["filter"]>;
} {
  const { ifMatch, where } = conditions ?? {};
  return { ...(ifMatch === undefined ? {} : { ifMatch }), ...(where === undefined ? {} : { where: where }) };
}

function seconds(milliseconds: number): number {
  return Math.floor(milliseconds / 1000);
}
