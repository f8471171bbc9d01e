/**
 * The collections of a vector database: each becomes a collection of its own, or, by the names that TrustGraph gives them, those of one
 * user and collection become one.
 */
import type { FoundUnit, UnitName } from "../source.ts";
import type { ForeignRow, RowReader } from "./row-reader.ts";
import type { VectorStoreSpec } from "./spec.ts";
import { rowOf, unitsByName, type NamingRules, type VectorsOf } from "./trustgraph-names.ts";

export interface StoredPoint {
  readonly id: string;
  readonly vector: unknown;
  readonly payload: Readonly<Record<string, unknown>>;
  /** What of it cannot be stored. */
  readonly lost?: string | undefined;
}

export interface FoundVectors {
  readonly name: string;
  /** The size of its vectors; undefined where they have no single one. */
  readonly size: number | undefined;
}

export interface VectorDatabase extends AsyncDisposable {
  list(signal: AbortSignal): Promise<readonly FoundVectors[]>;
  /** All points, always in the same order. */
  points(name: string, signal: AbortSignal): AsyncIterable<StoredPoint>;
}

export class VectorStoreReader implements RowReader {
  readonly #database: VectorDatabase;
  readonly #spec: VectorStoreSpec;
  readonly #rules: NamingRules;

  constructor(database: VectorDatabase, spec: VectorStoreSpec, rules: NamingRules) {
    this.#database = database;
    this.#spec = spec;
    this.#rules = rules;
  }

  async *units(signal: AbortSignal): AsyncGenerator<FoundUnit> {
    const { collections, skip = [], repository, user, trustgraph } = this.#spec;
    const found = (await this.#database.list(signal)).filter(({ name }) => !skip.includes(name));
    if (trustgraph !== undefined) {
      yield* unitsByName(found, trustgraph, this.#rules);
      return;
    }
    const target = (collection: string) => ({ ...(repository === undefined ? { user } : { repository }), collection });
    for (const { name } of found)
      if (collections === undefined || Object.hasOwn(collections, name))
        yield { name, target: target(collections?.[name] ?? name), keep: [{ name }] };
    for (const [name, id] of Object.entries(collections ?? {})) {
      if (found.some((one) => one.name === name)) continue;
      const names = found.map((one) => one.name).join(", ") || "none";
      const reason = `there is no such collection; existing are: ${names}.`;
      yield { name, target: target(id), problems: [{ where: name, reason }] };
    }
  }

  async *rows({ keep }: UnitName, signal: AbortSignal): AsyncGenerator<ForeignRow> {
    for (const { name, of } of keep as unknown as readonly { readonly name: string; readonly of?: VectorsOf }[])
      for await (const point of this.#database.points(name, signal)) {
        signal.throwIfAborted();
        const where = `${name} point ${point.id}`;
        const { id, vector, payload, lost } = point;
        yield of === undefined ? { where, id, vector, metadata: payload, lost } : rowOf(of, point, where);
      }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#database[Symbol.asyncDispose]();
  }
}
