/** Declare a container once: schema, partition, indexes, time to live. */
import { z } from "zod";
import type { ContainerDefinition, ItemStore, OpenContainerOptions } from "../ports/item-store.ts";
import type { PathOf, Pointer } from "./paths.ts";
import { Container } from "./container.ts";

export type SortOf<Path extends string> = Path | { readonly path: Path; readonly order: "asc" | "desc" };
export interface IndexOf<Path extends string> {
  readonly partition: readonly Path[];
  readonly sort: readonly SortOf<Path>[];
}

export interface ContainerDeclaration<Schema extends z.ZodType<object, object>, PartitionPath extends string, Indexes> {
  readonly name: string;
  readonly partitionKey: readonly PartitionPath[];
  /** zod: the type, the validation and later the OpenAPI schema come from it. */
  readonly schema: Schema;
  readonly indexes?: Indexes;
  readonly uniqueKeys?: Readonly<Record<string, readonly (PathOf<z.output<Schema>> | Pointer)[]>>;
  /** Seconds; see ttl in ports/item-store.ts. */
  readonly ttl?: number | null;
  readonly feed?: boolean;
}

export interface DeclaredContainer<
  Document extends object,
  Input extends object,
  PartitionPath extends string,
  Indexes,
> {
  readonly definition: ContainerDefinition;
  readonly schema: z.ZodType<Document, Input>;
  /** Opens the container on a store: creates it, or changes its indexes online, and returns its repository. */
  open(store: ItemStore, options?: OpenContainerOptions): Promise<Container<Document, Input, PartitionPath, Indexes>>;
}

/**
 * @example
 * const notes = defineContainer({
 *   name: "notes",
 *   partitionKey: ["user_id"],
 *   schema: z.looseObject({ id: z.string().optional(), user_id: z.string(), text: z.string(), created_at: timestamp() }),
 *   indexes: { byTime: { partition: ["user_id"], sort: ["created_at"] } },
 *   ttl: days(30),
 * });
 * const repository = await notes.open(store);
 * const page = await repository.query(scope, "byTime", { equals: { user_id: "u1" }, order: "desc", limit: 20 });
 */
export function defineContainer<
  Schema extends z.ZodType<object, object>,
  const PartitionPath extends PathOf<z.output<Schema>> | Pointer,
  const Indexes extends Readonly<Record<string, IndexOf<PathOf<z.output<Schema>> | Pointer>>> = {},
>(
  declaration: ContainerDeclaration<Schema, PartitionPath, Indexes>,
): DeclaredContainer<z.output<Schema>, z.input<Schema>, PartitionPath, Indexes> {
  const { schema, name, partitionKey, indexes, uniqueKeys, ttl, feed } = declaration;
  const definition: ContainerDefinition = Object.freeze({
    name,
    partitionKey,
    ...(indexes === undefined ? {} : { indexes }),
    ...(uniqueKeys === undefined ? {} : { uniqueKeys }),
    ...(ttl === undefined ? {} : { ttl }),
    ...(feed === undefined ? {} : { feed }),
  });
  const typed = schema as unknown as z.ZodType<z.output<Schema>, z.input<Schema>>;
  return Object.freeze({
    definition,
    schema: typed,
    open: async (store: ItemStore, options?: OpenContainerOptions) => {
      await store.openContainer(definition, options);
      return new Container<z.output<Schema>, z.input<Schema>, PartitionPath, Indexes>(store, definition, typed);
    },
  });
}

/**
 * An ISO 8601 timestamp in UTC, such as 2030-01-01T00:00:00.000Z. Stored as sent and sorted as text: write one precision (`toISOString()`
 * does), because `…00Z` sorts after `…00.500Z`.
 */
export function timestamp(): z.ZodISODateTime {
  return z.iso.datetime({ message: "must be an ISO 8601 time in UTC, such as 2030-01-01T00:00:00.000Z" });
}

export const days = (count: number): number => count * 86_400;
