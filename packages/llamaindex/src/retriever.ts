/** LlamaIndex's retriever on the search of Pinakes: chunks of documents that Pinakes ingested, with their citations as metadata. */
import type { QueryBundle } from "@llamaindex/core/query-engine";
import { BaseRetriever } from "@llamaindex/core/retriever";
import { NodeRelationship, ObjectType, TextNode, type NodeWithScore } from "@llamaindex/core/schema";
import type { MetadataFilters } from "@llamaindex/core/vector-store";
import { citedMetadata, invalidInput, type Hit, type KnowledgeClient, type SearchOptions } from "@pinakes/client";
import { checkListOperators, toFilter } from "./filters.ts";
import { ownMetadata } from "./nodes.ts";

export interface PinakesRetrieverOptions extends Omit<SearchOptions, "filter" | "explain"> {
  /** `connect({ url, key })` of @pinakes/client, or `openEmbedded` of pinakes. */
  readonly knowledge: Pick<KnowledgeClient, "search">;
  /** On the metadata, and on `filename`, `file_type`, `page`, … */
  readonly filters?: MetadataFilters | undefined;
}

/** Metadata that a program verifies and shows, but that a model does not need. */
const notForModels = [
  "repository_id",
  "collection_id",
  "document_id",
  "row_id",
  "chunk_id",
  "version",
  "start",
  "end",
  "quote",
  "score",
];

/**
 * @example
 * const retriever = new PinakesRetriever({ knowledge: client, in: "me/notes", limit: 5 });
 * const [found] = await retriever.retrieve("how does Ada travel?");
 * console.log(found?.node.metadata.filename, found?.node.metadata.page, found?.node.metadata.quote);
 */
export class PinakesRetriever extends BaseRetriever {
  readonly #knowledge: Pick<KnowledgeClient, "search">;
  readonly #filters: MetadataFilters | undefined;
  readonly #options: SearchOptions;

  constructor({ knowledge, filters, ...options }: PinakesRetrieverOptions) {
    super();
    this.#knowledge = knowledge;
    this.#filters = filters;
    this.#options = { ...options, filter: filters === undefined ? undefined : toFilter(filters) };
  }

  override async _retrieve(query: QueryBundle): Promise<NodeWithScore[]> {
    const { hits } = await this.#knowledge.search(textOf(query), this.#options);
    if (this.#filters !== undefined)
      checkListOperators(
        this.#filters,
        hits.map(({ chunk_id, metadata }) => ({ id: chunk_id, metadata })),
      );
    return hits.map((hit) => ({ node: toNode(hit), score: hit.score }));
  }
}

function textOf({ query, embeddings, customEmbeddings }: QueryBundle): string {
  if (embeddings !== undefined || customEmbeddings !== undefined)
    throw invalidInput(
      "embeddings: Pinakes embeds the question itself. To search by a vector, use PinakesVectorStore.",
    );
  if (typeof query === "string") return query;
  return query
    .map((part) => {
      if (part.type !== "text")
        throw invalidInput(`query: only text can be searched for, not a part of type ${part.type}.`);
      return part.text;
    })
    .join("\n");
}

function toNode(hit: Hit): TextNode {
  const { start, end, document_id } = hit.citation;
  return new TextNode({
    id_: hit.chunk_id,
    text: hit.text,
    metadata: ownMetadata(citedMetadata(hit)),
    excludedLlmMetadataKeys: notForModels,
    excludedEmbedMetadataKeys: notForModels,
    startCharIdx: start,
    endCharIdx: end,
    ...(document_id === ""
      ? {}
      : {
          relationships: {
            [NodeRelationship.SOURCE]: { nodeId: document_id, nodeType: ObjectType.DOCUMENT, metadata: {} },
          },
        }),
  });
}
