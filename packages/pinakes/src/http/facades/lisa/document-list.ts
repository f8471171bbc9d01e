/** Lists the documents of a collection, or of a whole repository, collection by collection. Only searchable documents are listed. */
import type { Caller } from "../../../domain/caller.ts";
import { invalid } from "../../../domain/errors.ts";
import type { DocumentView, Knowledge } from "../../../knowledge/index.ts";
import { keyOf } from "./objects.ts";
import type { Resolver } from "./resolve.ts";

export interface DocumentToken {
  readonly pk: string;
  readonly document_id: string;
  readonly repository_id: string;
}

export interface DocumentPage {
  readonly documents: readonly DocumentView[];
  readonly last: DocumentToken | null;
  readonly total: number;
}

/** In a token: the start of the collection. */
const start = "-";

interface Asked {
  readonly caller: Caller;
  readonly repositoryId: string;
  readonly limit: number;
  readonly token: DocumentToken | undefined;
}

/** LISA has a record of a document only once its ingestion is done. */
const ingested = { status: "indexed", order: "desc" } as const;

export async function documentsOfCollection(
  knowledge: Pick<Knowledge, "collections" | "documents">,
  resolver: Resolver,
  collectionId: string,
  { caller, repositoryId, limit, token }: Asked,
): Promise<DocumentPage> {
  return resolver.within(caller, repositoryId, collectionId, async (id) => {
    // A token contains the id; the request may contain a name, which is looked up if there is no collection with that id.
    if (token !== undefined && token.pk !== keyOf(repositoryId, id))
      await knowledge.collections.get(caller, repositoryId, id);
    const cursor = token === undefined ? undefined : cursorOf(token, repositoryId, id);
    const page = await knowledge.documents.list(caller, repositoryId, id, {
      ...ingested,
      limit,
      cursor,
      include_total: true,
    });
    return {
      documents: resolver.noted(caller, page.items),
      last: page.next_cursor === null ? null : tokenOf(repositoryId, id, page.next_cursor),
      total: page.total ?? 0,
    };
  });
}

export async function documentsOfRepository(
  knowledge: Pick<Knowledge, "documents" | "repositories">,
  resolver: Resolver,
  { caller, repositoryId, limit, token }: Asked,
): Promise<DocumentPage> {
  await knowledge.repositories.get(caller, repositoryId);
  const collections = await resolver.all(caller, repositoryId);
  const total = collections.reduce((sum, { documents_by_status }) => sum + documents_by_status.indexed, 0);
  const first =
    token === undefined ? 0 : collections.findIndex((one) => keyOf(repositoryId, one.collection_id) === token.pk);
  if (first < 0) throw notOurs();
  const documents: DocumentView[] = [];
  for (let at = first; at < collections.length; at += 1) {
    const { collection_id: id } = collections[at] as (typeof collections)[number];
    if (documents.length === limit) return { documents, last: tokenOf(repositoryId, id, start), total };
    const cursor = token !== undefined && at === first ? cursorOf(token, repositoryId, id) : undefined;
    const page = await knowledge.documents.list(caller, repositoryId, id, {
      ...ingested,
      limit: limit - documents.length,
      cursor,
    });
    documents.push(...resolver.noted(caller, page.items));
    if (page.next_cursor !== null) return { documents, last: tokenOf(repositoryId, id, page.next_cursor), total };
  }
  return { documents, last: null, total };
}

function tokenOf(repositoryId: string, collectionId: string, cursor: string): DocumentToken {
  return { pk: keyOf(repositoryId, collectionId), document_id: cursor, repository_id: repositoryId };
}

function cursorOf({ pk, document_id, repository_id }: DocumentToken, repositoryId: string, collectionId: string) {
  if (pk !== keyOf(repositoryId, collectionId) || repository_id !== repositoryId) throw notOurs();
  return document_id === start ? undefined : document_id;
}

function notOurs() {
  return invalid("lastEvaluatedKey: is not a token of this list; omit it to start over.");
}
