/** The parts of the knowledge feature that an evaluation uses. */
import type { Caller } from "../domain/caller.ts";
import type { NewCollection } from "../knowledge/collections/collections.ts";
import type { NewRepository } from "../knowledge/collections/repositories.ts";
import type { DocumentQuery } from "../knowledge/documents/documents.ts";
import type { UploadInput } from "../knowledge/documents/check-upload.ts";
import type { ListPage } from "../knowledge/records/paging.ts";
import type { SearchInput } from "../knowledge/search/search-input.ts";
import type { SearchResult } from "../knowledge/search/search-result.ts";
import type { CollectionView, DocumentView } from "../knowledge/views.ts";

export interface EvaluatedKnowledge {
  readonly models: readonly { readonly id: string }[];
  readonly repositories: { create(caller: Caller, input: NewRepository): Promise<unknown> };
  readonly collections: {
    create(caller: Caller, repositoryId: string, input: NewCollection): Promise<unknown>;
    get(caller: Caller, repositoryId: string, collectionId: string): Promise<CollectionView>;
  };
  readonly documents: {
    upload(caller: Caller, repositoryId: string, collectionId: string, input: UploadInput): Promise<unknown>;
    list(
      caller: Caller,
      repositoryId: string,
      collectionId: string,
      query: DocumentQuery,
    ): Promise<ListPage<DocumentView>>;
  };
  readonly search: { run(caller: Caller, input: SearchInput): Promise<SearchResult> };
}
