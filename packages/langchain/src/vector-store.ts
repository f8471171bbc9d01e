/**
 * LangChain's vector store on a collection of Pinakes: each document is a row with the vector computed by LangChain's embeddings. Rows are
 * stored beside the chunks of documents that Pinakes embeds itself; keyword searches of the collection find them as well.
 */
import { Document, type DocumentInterface } from "@langchain/core/documents";
import type { EmbeddingsInterface } from "@langchain/core/embeddings";
import { maximalMarginalRelevance } from "@langchain/core/utils/math";
import { VectorStore, type MaxMarginalRelevanceSearchOptions } from "@langchain/core/vectorstores";
import {
  addRows,
  invalidInput,
  removeRows,
  toJsonObject,
  type AddRows,
  type CollectionRef,
  type RowHit,
  type RowQuery,
  type RowStore,
  type VectorQueryMode,
} from "@pinakes/client";
import { toFilter, type PinakesFilter } from "./filter.ts";

export interface PinakesVectorStoreConfig extends AddRows {
  /** `connect({ url, key })` of @pinakes/client, or `openEmbedded` of pinakes. */
  readonly knowledge: RowStore;
  readonly collection: CollectionRef;
  /** How a text search ranks: by vector (default), by keywords, or both. */
  readonly mode?: VectorQueryMode | undefined;
}

export interface AddOptions {
  readonly ids?: string[] | undefined;
}

const kDefault = 4;
const fetchKDefault = 20;

/**
 * @example
 * const store = new PinakesVectorStore(embeddings, { knowledge: client, collection: "me/notes" });
 * await store.addDocuments([{ pageContent: "Ada prefers trains.", metadata: { person: "ada" } }]);
 * await store.similaritySearch("how does Ada travel?", 3, { person: "ada" });
 */
export class PinakesVectorStore extends VectorStore {
  declare FilterType: PinakesFilter;
  readonly #config: PinakesVectorStoreConfig;

  constructor(embeddings: EmbeddingsInterface, config: PinakesVectorStoreConfig) {
    super(embeddings, {});
    this.#config = config;
  }

  _vectorstoreType(): string {
    return "pinakes";
  }

  /** Answers their ids: `options.ids`, else those of the documents, else new ones. What has such an id already is replaced. */
  async addDocuments(documents: DocumentInterface[], options?: AddOptions): Promise<string[]> {
    const vectors = await this.embeddings.embedDocuments(documents.map(({ pageContent }) => pageContent));
    return this.addVectors(vectors, documents, options);
  }

  async addVectors(vectors: number[][], documents: DocumentInterface[], { ids }: AddOptions = {}): Promise<string[]> {
    if (vectors.length !== documents.length || (ids ?? documents).length !== documents.length) {
      const got = `${documents.length} documents, ${vectors.length} vectors and ${ids?.length ?? "no"} ids`;
      throw invalidInput(`Each document needs a vector, and an id if ids are passed; got ${got}.`);
    }
    const rows = documents.map(({ id, pageContent, metadata }, i) => ({
      id: ids?.[i] ?? id ?? crypto.randomUUID(),
      vector: vectors[i] as number[],
      text: pageContent,
      metadata: toJsonObject(metadata, `documents[${i}].metadata`),
    }));
    const { knowledge, collection, create } = this.#config;
    await addRows(knowledge, collection, rows, { create });
    return rows.map(({ id }) => id);
  }

  /** By their ids, or all that match a filter. */
  override async delete(which: { ids?: string[]; filter?: PinakesFilter } = {}): Promise<void> {
    const { ids, filter, ...others } = which;
    if ((ids === undefined) === (filter === undefined) || Object.keys(others).length > 0)
      throw invalidInput(`delete takes { ids } or { filter }; got { ${Object.keys(which).join(", ")} }.`);
    const { knowledge, collection } = this.#config;
    await removeRows(knowledge, collection, ids === undefined ? { filter: toFilter(filter) } : { ids });
  }

  async similaritySearchVectorWithScore(
    vector: number[],
    k: number,
    filter?: PinakesFilter,
  ): Promise<[Document, number][]> {
    return scored(await this.#query({ vector, mode: "vector", limit: k }, filter));
  }

  override async similaritySearchWithScore(
    query: string,
    k: number = kDefault,
    filter?: PinakesFilter,
  ): Promise<[Document, number][]> {
    const { mode = "vector" } = this.#config;
    const vector = mode === "keyword" ? undefined : await this.embeddings.embedQuery(query);
    const text = mode === "vector" ? undefined : query;
    return scored(await this.#query({ vector, text, mode, limit: k }, filter));
  }

  override async similaritySearch(query: string, k?: number, filter?: PinakesFilter): Promise<Document[]> {
    return (await this.similaritySearchWithScore(query, k, filter)).map(([document]) => document);
  }

  /** Of the `fetchK` nearest by vector, the `k` least redundant ones. */
  override async maxMarginalRelevanceSearch(
    query: string,
    { k, fetchK = fetchKDefault, lambda, filter }: MaxMarginalRelevanceSearchOptions<PinakesFilter>,
  ): Promise<Document[]> {
    const vector = await this.embeddings.embedQuery(query);
    const limit = Math.max(k, fetchK);
    const hits = await this.#query({ vector, mode: "vector", limit, include_vectors: true }, filter);
    const vectors = hits.map((hit) => [...(hit.vector ?? [])]);
    const chosen = maximalMarginalRelevance(vector, vectors, lambda, k);
    return chosen.flatMap((i) => hits[i] ?? []).map(toDocument);
  }

  static override async fromTexts(
    texts: string[],
    metadatas: object[] | object,
    embeddings: EmbeddingsInterface,
    config: PinakesVectorStoreConfig,
  ): Promise<PinakesVectorStore> {
    const each = Array.isArray(metadatas) ? metadatas : texts.map(() => metadatas);
    if (each.length !== texts.length) throw invalidInput(`${texts.length} texts have ${each.length} metadatas.`);
    const documents = texts.map((pageContent, i) => new Document({ pageContent, metadata: each[i] as object }));
    return PinakesVectorStore.fromDocuments(documents, embeddings, config);
  }

  static override async fromDocuments(
    documents: DocumentInterface[],
    embeddings: EmbeddingsInterface,
    config: PinakesVectorStoreConfig,
  ): Promise<PinakesVectorStore> {
    const store = new PinakesVectorStore(embeddings, config);
    await store.addDocuments(documents);
    return store;
  }

  async #query(query: RowQuery, filter: PinakesFilter | undefined): Promise<readonly RowHit[]> {
    const { knowledge, collection } = this.#config;
    const checked = filter === undefined ? undefined : toFilter(filter);
    return (await knowledge.vectors.query(collection, { ...query, filter: checked })).hits;
  }
}

function scored(hits: readonly RowHit[]): [Document, number][] {
  return hits.map((hit) => [toDocument(hit), hit.score]);
}

function toDocument({ id, text = "", metadata }: RowHit): Document {
  return new Document({ id, pageContent: text, metadata });
}
