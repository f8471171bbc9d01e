/**
 * LlamaIndex's vector store on a collection of Pinakes: each node is a row with the vector computed by LlamaIndex's embedding model. Rows
 * are stored beside the chunks of documents that Pinakes embeds itself; keyword searches of the collection find them as well.
 */
import type { BaseNode } from "@llamaindex/core/schema";
import {
  BaseVectorStore,
  type VectorStoreBaseParams,
  type VectorStoreQuery,
  type VectorStoreQueryResult,
} from "@llamaindex/core/vector-store";
import {
  addRows,
  invalidInput,
  removeRows,
  type AddRows,
  type CollectionRef,
  type JsonObject,
  type RowQuery,
  type RowStore,
} from "@pinakes/client";
import { checkListOperators, toFilter } from "./filters.ts";
import { emptyFields, toNode, toRow } from "./nodes.ts";

export interface PinakesVectorStoreParams extends VectorStoreBaseParams, AddRows {
  /** `connect({ url, key })` of @pinakes/client, or `openEmbedded` of pinakes. */
  readonly knowledge: RowStore;
  readonly collection: CollectionRef;
}

/** `customParams` of a query. */
export type PinakesQueryParams = Pick<RowQuery, "recall" | "min_score">;

const refDocId = "ref_doc_id";

/**
 * @example
 * const store = new PinakesVectorStore({ knowledge: client, collection: "me/notes", embedModel });
 * await store.add(nodes);
 */
export class PinakesVectorStore extends BaseVectorStore<RowStore, PinakesQueryParams> {
  override storesText = true;
  readonly #knowledge: RowStore;
  readonly #collection: CollectionRef;
  readonly #options: AddRows;

  constructor({ knowledge, collection, create, ...params }: PinakesVectorStoreParams) {
    super(params);
    this.#knowledge = knowledge;
    this.#collection = collection;
    this.#options = { create };
  }

  override client(): RowStore {
    return this.#knowledge;
  }

  /** Returns their ids. A node whose id already exists replaces the stored one. */
  override async add(nodes: BaseNode[]): Promise<string[]> {
    const rows = nodes.map(toRow);
    await addRows(this.#knowledge, this.#collection, rows, this.#options);
    return rows.map(({ id }) => id);
  }

  /** All nodes of a document. */
  override async delete(documentId: string, options: object = {}): Promise<void> {
    refuseAll("options of delete", options);
    if (typeof documentId !== "string" || documentId === "")
      throw invalidInput("refDocId: must be the id of a document.");
    await removeRows(this.#knowledge, this.#collection, { filter: { [refDocId]: documentId } });
  }

  override async query(
    query: VectorStoreQuery<PinakesQueryParams>,
    options: object = {},
  ): Promise<VectorStoreQueryResult> {
    refuseAll("options of query", options);
    const { filters, customParams: { recall, min_score, ...unknown } = {} } = query;
    refuseAll("customParams", unknown);
    const { hits } = await this.#knowledge.vectors.query(this.#collection, {
      ...ranking(query),
      limit: query.similarityTopK,
      filter: filterOf(query),
      recall,
      min_score,
    });
    if (filters !== undefined) checkListOperators(filters, hits);
    return {
      nodes: hits.map(({ id, text = "", metadata }) => toNode(id, text, metadata)),
      similarities: hits.map(({ score }) => score),
      ids: hits.map(({ id }) => id),
    };
  }

  /** There is nothing to do: rows are on disk, or in the database of the server, when `add` and `delete` resolve. */
  async persist(_path?: string): Promise<void> {}
}

function ranking({ mode, queryEmbedding, queryStr, alpha }: VectorStoreQuery): RowQuery {
  if (alpha !== undefined)
    throw invalidInput("alpha: a hybrid query weighs ranks by vector and by words alike; leave alpha out.");
  switch (mode as `${typeof mode}`) {
    case "default":
      return { mode: "vector", vector: given("queryEmbedding", queryEmbedding, mode) };
    case "sparse":
      return { mode: "keyword", text: given("queryStr", queryStr, mode) };
    case "hybrid":
      return {
        mode: "hybrid",
        vector: given("queryEmbedding", queryEmbedding, mode),
        text: given("queryStr", queryStr, mode),
      };
    default:
      throw invalidInput(`mode: ${mode} is not supported; use default, sparse or hybrid.`);
  }
}

function given<Value>(name: string, value: Value | undefined, mode: string): Value {
  if (value === undefined) throw invalidInput(`${name}: is needed with mode ${mode}.`);
  return value;
}

function filterOf({ filters, docIds }: VectorStoreQuery): JsonObject | undefined {
  const parts = [
    ...(filters === undefined ? [] : [toFilter(filters, emptyFields)]),
    ...(docIds === undefined ? [] : [{ [refDocId]: { in: docIds } }]),
  ];
  return parts.length === 0 ? undefined : { and: parts };
}

function refuseAll(what: string, options: object): void {
  const [name] = Object.entries(options).find(([, value]) => value !== undefined) ?? [];
  if (name !== undefined) throw invalidInput(`${what}: "${name}" is not supported.`);
}
