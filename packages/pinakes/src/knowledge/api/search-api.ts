/** Search, citations, and tools for preparing documents. */
import { requireCaller, type Caller } from "../../domain/caller.ts";
import type { Chunk } from "../../domain/chunking.ts";
import { verifyCitations, type CitationCheck, type CitationToVerify } from "../search/citations.ts";
import type { TripleInput } from "../graph/triple-view.ts";
import type { KnowledgeDependencies } from "../dependencies.ts";
import { answerQuery } from "./answer-query.ts";
import type { ProvenanceView } from "../search/provenance.ts";
import type { QueryMore, QueryWishes } from "../collections/query-options.ts";
import type { SearchInput } from "../search/search-input.ts";
import type { SearchResult } from "../search/search-result.ts";
import type { Services } from "./services.ts";
import { embedTexts, previewChunks, type Embedded, type PreviewInput } from "../search/text-tools.ts";
import type { CollectionsApi } from "./collections-api.ts";

export class SearchApi {
  readonly #deps: KnowledgeDependencies;
  readonly #of: Services;
  readonly #collections: Pick<CollectionsApi, "get">;

  constructor(services: Services, collections: Pick<CollectionsApi, "get">) {
    this.#collections = collections;
    this.#deps = services.deps;
    this.#of = services;
  }

  /** Runs in a slot for searches; waits for one at most until the signal aborts. */
  async run(
    caller: Caller,
    input: SearchInput & QueryWishes,
    { signal }: { readonly signal?: AbortSignal } = {},
  ): Promise<SearchResult & QueryMore> {
    const { tenant } = requireCaller(caller);
    const run = () =>
      answerQuery(this.#of, caller, input, ({ repository, collection }) =>
        this.#collections.get(caller, repository, collection),
      );
    return this.#deps.places?.searches.within(tenant, run, signal) ?? run();
  }

  /** Which chunks of which documents state a triple. */
  async provenance(
    caller: Caller,
    repositoryId: string,
    collectionId: string,
    triple: TripleInput,
  ): Promise<ProvenanceView> {
    requireCaller(caller);
    return this.#of.search.provenance(caller, repositoryId, collectionId, triple);
  }

  /** Whether each quote matches the cited range of the cited version. */
  async verifyCitations(
    caller: Caller,
    citations: readonly CitationToVerify[],
  ): Promise<{ readonly checks: readonly CitationCheck[] }> {
    requireCaller(caller);
    const checks = await verifyCitations(citations, {
      document: async (citation) => {
        const opened = await this.#of.collections.open(caller, citation.repository_id, citation.collection_id);
        const { record } = await this.#of.documents.get(caller, opened, citation.document_id);
        return { record, text: await this.#of.documents.text(caller, opened, citation.document_id, citation.version) };
      },
      row: async ({ repository_id, collection_id, row_id }) =>
        this.#of.rows.text(caller, repository_id, collection_id, row_id),
    });
    return { checks };
  }

  /** The chunks that a text would give; stores nothing. */
  async previewChunking(caller: Caller, input: PreviewInput): Promise<readonly Chunk[]> {
    const { tenant } = requireCaller(caller);
    return previewChunks(this.#deps, tenant, input);
  }

  /** Embeds texts with a model, by default the default model. */
  async embed(caller: Caller, texts: readonly string[], model?: string): Promise<Embedded> {
    requireCaller(caller);
    return embedTexts(this.#deps, texts, model);
  }
}
