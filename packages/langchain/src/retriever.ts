/** LangChain's retriever on the search of Pinakes: chunks of documents that Pinakes ingested, with their citations as metadata. */
import { Document } from "@langchain/core/documents";
import { BaseRetriever, type BaseRetrieverInput } from "@langchain/core/retrievers";
import {
  citedMetadata,
  type CitedMetadata,
  type JsonObject,
  type KnowledgeClient,
  type SearchOptions,
} from "@pinakes/client";
import { toFilter, type PinakesFilter } from "./filter.ts";

export interface PinakesRetrieverInput extends BaseRetrieverInput, Omit<SearchOptions, "filter" | "explain"> {
  /** `connect({ url, key })` of @pinakes/client, or `openEmbedded` of pinakes. */
  readonly knowledge: Pick<KnowledgeClient, "search">;
  readonly filter?: PinakesFilter | undefined;
}

/** A citation in the form that `verifyCitations` accepts, beside the metadata of the document. */
export type RetrievedMetadata = JsonObject & CitedMetadata;

/**
 * @example
 * const retriever = new PinakesRetriever({ knowledge: client, in: "me/notes", limit: 5 });
 * const [document] = await retriever.invoke("how does Ada travel?");
 * console.log(document?.metadata.filename, document?.metadata.page, document?.metadata.quote);
 */
export class PinakesRetriever extends BaseRetriever<RetrievedMetadata> {
  override lc_namespace = ["pinakes", "retrievers"];
  readonly #knowledge: Pick<KnowledgeClient, "search">;
  readonly #options: SearchOptions;

  static override lc_name(): string {
    return "PinakesRetriever";
  }

  constructor({ knowledge, callbacks, tags, metadata, verbose, filter, ...options }: PinakesRetrieverInput) {
    super({
      ...(callbacks === undefined ? {} : { callbacks }),
      ...(tags === undefined ? {} : { tags }),
      ...(metadata === undefined ? {} : { metadata }),
      ...(verbose === undefined ? {} : { verbose }),
    });
    this.#knowledge = knowledge;
    this.#options = { ...options, filter: filter === undefined ? undefined : toFilter(filter) };
  }

  override async _getRelevantDocuments(query: string): Promise<Document<RetrievedMetadata>[]> {
    const { hits } = await this.#knowledge.search(query, this.#options);
    return hits.map((hit) => new Document({ id: hit.chunk_id, pageContent: hit.text, metadata: citedMetadata(hit) }));
  }
}
