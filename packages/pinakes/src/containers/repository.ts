/** A container with its type: documents in and out, keys by name, queries checked against the declared indexes. */
import { setTimeout as sleep } from "node:timers/promises";
import type { z } from "zod";
import { PinakesError, invalid } from "../domain/errors.ts";
import type { Filter } from "../domain/filter.ts";
import type { JsonObject } from "../domain/json.ts";
import { applyPatch, checkPatch, type PatchStep } from "../domain/patch.ts";
import { KeyedQueue } from "../domain/keyed-queue.ts";
import { parsePath, valueAt } from "../domain/path.ts";
import type { Scope } from "../domain/scope.ts";
import type {
  BatchResult,
  ChangePage,
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
import type { KeyAt } from "./paths.ts";
import { validateDocument } from "./validate.ts";

/** A document as it comes back: with its etag and the second of its last change. */
export type Stored<Document> = Document & { readonly id: string; readonly _etag: string; readonly _ts: number };

export type KeyOf<PartitionPath extends string> = { readonly [P in PartitionPath]: PartitionValue } & { readonly id: string };

export interface Conditions {
  readonly ifMatch?: string;
  readonly where?: Filter;
}

type PartitionOf<Index> = Index extends { readonly partition: readonly (infer P extends string)[] } ? P : never;
type SortPathOf<Index> = Index extends { readonly sort: readonly (infer S)[] }
  ? S extends string
    ? S
    : S extends { readonly path: infer P extends string }
      ? P
      : never
  : never;

/** The partition paths of the index must be given; sort paths may be, in their order. */
export type EqualsOf<Document, Index> = { readonly [P in PartitionOf<Index>]: KeyAt<Document, P> } & { readonly [S in SortPathOf<Index>]?: KeyAt<Document, S> };

export type QueryOf<Document, Index> = Omit<Query, "index" | "equals"> & { readonly equals: EqualsOf<Document, Index> };

export interface DocumentPage<Document> {
  readonly items: readonly Stored<Document>[];
  readonly cursor?: string;
}

type Changer<Document> = (document: Stored<Document>) => Document | Promise<Document>;

class Outrun extends Error {}

const updateAttemptsDefault = 50;

export class Repository<Document extends object, PartitionPath extends string, Indexes> {
  readonly store: ItemStore;
  readonly name: string;
  readonly #paths: readonly string[];
  readonly #schema: z.ZodType<Document>;
  readonly #queue = new KeyedQueue();

  constructor(store: ItemStore, definition: ContainerDefinition, schema: z.ZodType<Document>) {
    this.store = store;
    this.name = definition.name;
    this.#paths = definition.partitionKey;
    this.#schema = schema;
  }

  /** Only if absent; the id is made when the document has none. */
  async create(scope: Scope, document: Document): Promise<Stored<Document>> {
    return this.#put(scope, "create", document, {});
  }

  async replace(scope: Scope, document: Document & { readonly id: string }, conditions: Conditions = {}): Promise<Stored<Document>> {
    return this.#put(scope, "replace", document, conditions);
  }

  async upsert(scope: Scope, document: Document & { readonly id: string }, conditions: Conditions = {}): Promise<Stored<Document>> {
    return this.#put(scope, "upsert", document, conditions);
  }

  async delete(scope: Scope, key: KeyOf<PartitionPath>, conditions: Conditions = {}): Promise<void> {
    const { partition, id } = this.#key(key);
    await this.store.write(scope, this.name, partition, { op: "delete", id, ...conditions });
  }

  async read(scope: Scope, key: KeyOf<PartitionPath>, options?: ReadOptions): Promise<Stored<Document> | undefined> {
    const item = await this.store.read(scope, this.name, this.#key(key), options);
    return item === undefined ? undefined : this.#stored(item);
  }

  /** The JSON text with its system fields, not parsed: for answers that pass it on. */
  async readBytes(scope: Scope, key: KeyOf<PartitionPath>, options?: ReadOptions): Promise<{ etag: string; bytes: Uint8Array } | undefined> {
    const raw = await this.store.readRaw(scope, this.name, this.#key(key), options);
    if (raw === undefined) return undefined;
    const system = `,"_etag":${JSON.stringify(raw.etag)},"_ts":${seconds(raw.modifiedAt)}}`;
    // A stored document has an id, so there is a property before the comma.
    return { etag: raw.etag, bytes: Buffer.concat([raw.bytes.subarray(0, -1), Buffer.from(system, "utf8")]) };
  }

  async readMany(scope: Scope, keys: readonly KeyOf<PartitionPath>[]): Promise<readonly (Stored<Document> | undefined)[]> {
    const items = await this.store.readMany(
      scope,
      this.name,
      keys.map((key) => this.#key(key)),
    );
    return items.map((item) => (item === undefined ? undefined : this.#stored(item)));
  }

  /**
   * Read, change, write back; again when somebody else was faster. `change` returns the new document and may be called more than once.
   */
  async update(scope: Scope, key: KeyOf<PartitionPath>, change: Changer<Document>, options: { readonly attempts?: number } = {}): Promise<Stored<Document>> {
    return this.#update(scope, this.#key(key), change, {}, options.attempts ?? updateAttemptsDefault);
  }

  /** A patch whose result must fit the schema. */
  async patch(scope: Scope, key: KeyOf<PartitionPath>, steps: readonly PatchStep[], conditions: Conditions = {}): Promise<Stored<Document>> {
    checkPatch(steps);
    const change = ({ _etag, _ts, ...document }: Stored<Document>) => applyPatch(document as JsonObject, steps) as Document;
    return this.#update(scope, this.#key(key), change, conditions, updateAttemptsDefault);
  }

  async query<Name extends keyof Indexes & string>(scope: Scope, index: Name, query: QueryOf<Document, Indexes[Name]>): Promise<DocumentPage<Document>> {
    return this.#page(scope, { ...query, index, equals: query.equals });
  }

  /** The items of one partition in the order of their ids. */
  async list(
    scope: Scope,
    partition: { readonly [P in PartitionPath]: PartitionValue },
    query: Omit<Query, "index" | "equals"> = {},
  ): Promise<DocumentPage<Document>> {
    return this.#page(scope, { ...query, equals: partition });
  }

  /** All pages of a query, one document after the other. */
  async *all<Name extends keyof Indexes & string>(
    scope: Scope,
    index: Name,
    query: Omit<QueryOf<Document, Indexes[Name]>, "cursor">,
  ): AsyncGenerator<Stored<Document>> {
    let cursor: string | undefined;
    do {
      const page: DocumentPage<Document> = await this.query(scope, index, { ...query, ...(cursor === undefined ? {} : { cursor }) });
      yield* page.items;
      cursor = page.cursor;
    } while (cursor !== undefined);
  }

  async count<Name extends keyof Indexes & string>(
    scope: Scope,
    index: Name,
    query: Omit<QueryOf<Document, Indexes[Name]>, "limit" | "cursor" | "order">,
  ): Promise<number> {
    return this.store.count(scope, this.name, { ...query, index, equals: query.equals });
  }

  /** Operations on one partition, all or nothing; documents are validated as in single writes. */
  async batch(scope: Scope, partition: { readonly [P in PartitionPath]: PartitionValue }, operations: readonly Operation[]): Promise<BatchResult> {
    const checked = operations.map((operation) =>
      "document" in operation ? { ...operation, document: validateDocument(this.name, this.#schema, operation.document) } : operation,
    );
    return this.store.batch(scope, this.name, this.#partition(partition), checked);
  }

  async changes(scope: Scope, options?: ChangesOptions): Promise<ChangePage> {
    return this.store.changes(scope, this.name, options);
  }

  async #put(scope: Scope, op: "create" | "replace" | "upsert", document: Document, conditions: Conditions): Promise<Stored<Document>> {
    const checked = validateDocument(this.name, this.#schema, document);
    const result = await this.store.write(scope, this.name, this.#partitionIn(checked), { op, document: checked, ...conditions });
    return this.#written(checked, result);
  }

  async #update(scope: Scope, key: ItemKey, change: Changer<Document>, conditions: Conditions, attempts: number): Promise<Stored<Document>> {
    // Callers of this process take turns, so that only other processes can be in each other's way.
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

  async #updateOnce(scope: Scope, key: ItemKey, change: Changer<Document>, { ifMatch, where }: Conditions): Promise<Stored<Document>> {
    const item = await this.store.read(scope, this.name, key);
    if (item === undefined) throw new PinakesError("NOT_FOUND", `There is no item "${key.id}" in this partition of "${this.name}" to update.`);
    const { _etag, _ts, ...next } = (await change(this.#stored(item))) as Document & { _etag?: string; _ts?: number };
    const checked = validateDocument(this.name, this.#schema, { ...next, id: key.id });
    try {
      const result = await this.store.write(scope, this.name, key.partition, {
        op: "replace",
        document: checked,
        ifMatch: ifMatch ?? item.etag,
        ...(where === undefined ? {} : { where }),
      });
      return this.#written(checked, result);
    } catch (error) {
      // Somebody wrote in between; a condition of the caller's that fails on the item we read is final.
      const outrun = PinakesError.isInstance(error) && error.code === "PRECONDITION_FAILED" && ifMatch === undefined && error.context.currentEtag !== item.etag;
      throw outrun ? new Outrun("changed meanwhile", { cause: error }) : error;
    }
  }

  async #page(scope: Scope, query: Query): Promise<DocumentPage<Document>> {
    const { items, cursor } = await this.store.query(scope, this.name, query);
    return { items: items.map((item) => this.#stored(item)), ...(cursor === undefined ? {} : { cursor }) };
  }

  #key(key: KeyOf<PartitionPath>): ItemKey {
    return { partition: this.#partition(key), id: key.id };
  }

  #partition(key: { readonly [P in PartitionPath]: PartitionValue }): Partition {
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

  #written(document: JsonObject, { id, etag, modifiedAt }: WriteResult): Stored<Document> {
    const clean: Record<string, unknown> = { id, ...document };
    return { ...clean, id, _etag: etag, _ts: seconds(modifiedAt as number) } as unknown as Stored<Document>;
  }
}

function seconds(milliseconds: number): number {
  return Math.floor(milliseconds / 1000);
}
