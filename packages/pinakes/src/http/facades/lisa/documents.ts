/** Documents: list, read, download, delete. */
import { z } from "zod";
import type { Caller } from "../../../domain/caller.ts";
import { invalid, PinakesError } from "../../../domain/errors.ts";
import type { DocumentView, Knowledge } from "../../../knowledge/index.ts";
import { ok, type Route } from "../../framework/index.ts";
import { originOf } from "../origin.ts";
import { rid } from "./collections.ts";
import { documentsOfCollection, documentsOfRepository } from "./document-list.ts";
import { lisaRoute } from "./lisa-route.ts";
import { BegunJob, DocumentObject, documentObject, s3Path } from "./objects.ts";
import { pageSize } from "./query.ts";
import type { Resolver } from "./resolve.ts";

const deletedAtOnceMax = 500;
const linkSeconds = 300;
const did = z.string().describe("The id of a document.");
const collectionId = z.string().optional().describe("The id or the name of a collection.");

export function documentRoutes(knowledge: Knowledge, resolver: Resolver): readonly Route[] {
  return [listRoute(knowledge, resolver), deleteRoute(knowledge, resolver), ...ofOne(knowledge, resolver)];
}

const Token = z.object({ pk: z.string(), document_id: z.string(), repository_id: z.string() });

function listRoute(knowledge: Knowledge, resolver: Resolver): Route {
  return lisaRoute({
    method: "GET",
    path: "/repository/{rid}/document",
    operationId: "lisaListDocuments",
    summary: "List the documents of a collection, newest first, or of all collections of a repository",
    params: z.object({ rid }),
    query: z.object({
      collectionId,
      pageSize: pageSize(10),
      lastEvaluatedKeyPk: z.string().optional(),
      lastEvaluatedKeyDocumentId: z.string().optional(),
      lastEvaluatedKeyRepositoryId: z.string().optional(),
    }),
    answers: {
      200: {
        description: "A page.",
        schema: z.object({
          documents: z.array(DocumentObject),
          lastEvaluated: Token.nullable(),
          totalDocuments: z.number(),
          hasNextPage: z.boolean(),
          hasPreviousPage: z.boolean(),
        }),
      },
    },
    handler: async ({ caller, params, query }) => {
      const token = tokenOf(query);
      const asked = { caller, repositoryId: params.rid, limit: query.pageSize, token };
      const { documents, last, total } =
        query.collectionId === undefined
          ? await documentsOfRepository(knowledge, resolver, asked)
          : await documentsOfCollection(knowledge, resolver, query.collectionId, asked);
      return ok({
        documents: documents.map(documentObject),
        lastEvaluated: last,
        totalDocuments: total,
        hasNextPage: last !== null,
        hasPreviousPage: token !== undefined,
      });
    },
  });
}

function tokenOf(query: {
  readonly lastEvaluatedKeyPk?: string | undefined;
  readonly lastEvaluatedKeyDocumentId?: string | undefined;
  readonly lastEvaluatedKeyRepositoryId?: string | undefined;
}) {
  const { lastEvaluatedKeyPk: pk, lastEvaluatedKeyDocumentId: id, lastEvaluatedKeyRepositoryId: repository } = query;
  if (pk === undefined) return undefined;
  if (id === undefined || repository === undefined)
    throw invalid("lastEvaluatedKey: send all three fields of the token: Pk, DocumentId and RepositoryId.");
  return { pk, document_id: id, repository_id: repository };
}

function deleteRoute(knowledge: Knowledge, resolver: Resolver): Route {
  return lisaRoute({
    method: "DELETE",
    path: "/repository/{rid}/document",
    operationId: "lisaDeleteDocuments",
    summary: "Delete documents by id, or by name in a collection",
    params: z.object({ rid }),
    query: z.object({
      collectionId,
      documentName: z.string().optional().describe("Used without ids: deletes all documents with this name."),
    }),
    body: z.object({ documentIds: z.array(z.string()).min(1).max(deletedAtOnceMax).nullish() }).nullish(),
    answers: { 200: { description: "The documents were deleted.", schema: z.object({ jobs: z.array(BegunJob) }) } },
    handler: async ({ caller, params, query, body }) => {
      const ids = body?.documentIds ?? undefined;
      const documents =
        ids === undefined
          ? await ofName(knowledge, resolver, caller, params.rid, query)
          : await ofIds(resolver, caller, params.rid, ids, query.collectionId);
      await requireDeletable(knowledge, caller, documents);
      const jobs: z.output<typeof BegunJob>[] = [];
      for (const { repository_id, collection_id, document_id, name, job_id, source } of documents) {
        await knowledge.documents.delete(caller, repository_id, collection_id, document_id);
        jobs.push({
          jobId: job_id ?? document_id,
          documentId: document_id,
          status: "DELETE_COMPLETED",
          s3Path: s3Path(source.uri, { repository_id, collection_id, document_id, name }),
        });
      }
      return ok({ jobs });
    },
  });
}

async function ofIds(
  resolver: Resolver,
  caller: Caller,
  repositoryId: string,
  ids: readonly string[],
  collection: string | undefined,
): Promise<readonly DocumentView[]> {
  const documents: DocumentView[] = [];
  for (const id of new Set(ids)) documents.push(await resolver.document(caller, repositoryId, id, collection));
  return documents;
}

async function ofName(
  knowledge: Pick<Knowledge, "documents">,
  resolver: Resolver,
  caller: Caller,
  repositoryId: string,
  { collectionId: collection, documentName }: { collectionId?: string | undefined; documentName?: string | undefined },
): Promise<readonly DocumentView[]> {
  if (documentName === undefined) throw invalid("documentIds: is missing; specify at least one document.");
  if (collection === undefined) throw invalid("collectionId: is required to delete documents by name.");
  return resolver.within(caller, repositoryId, collection, async (id) => {
    const found: DocumentView[] = [];
    for (let cursor: string | undefined; ;) {
      const page = await knowledge.documents.list(caller, repositoryId, id, { q: documentName, limit: 100, cursor });
      found.push(...page.items.filter(({ name }) => name === documentName));
      if (found.length > deletedAtOnceMax)
        throw invalid(`documentName: more than ${deletedAtOnceMax} documents have it; delete them by id.`);
      if (page.next_cursor === null) return found;
      cursor = page.next_cursor;
    }
  });
}

/** All or nothing: if the caller may not delete one of them, none is deleted. */
async function requireDeletable(
  { collections }: Pick<Knowledge, "collections">,
  caller: Caller,
  documents: readonly DocumentView[],
): Promise<void> {
  const places = new Map(documents.map((document) => [document.collection_id, document]));
  for (const { repository_id, collection_id } of places.values()) {
    const { access, status } = await collections.get(caller, repository_id, collection_id);
    if (status === "ARCHIVED") throw new PinakesError("CONFLICT", `Collection "${collection_id}" is archived.`);
    const foreign = documents.find((one) => one.collection_id === collection_id && one.uploaded_by !== caller.userId);
    if (access === "READ" || (access === "WRITE" && foreign !== undefined))
      throw new PinakesError(
        "FORBIDDEN",
        `Document "${(foreign ?? documents[0])?.document_id}" is another user's; deleting it needs ADMIN access to the collection.`,
      );
  }
}

function ofOne(knowledge: Knowledge, resolver: Resolver): readonly Route[] {
  const params = z.object({ rid, did });
  return [
    lisaRoute({
      method: "GET",
      path: "/repository/{rid}/{did}",
      operationId: "lisaGetDocument",
      summary: "A document",
      params,
      answers: { 200: { description: "The document.", schema: DocumentObject } },
      handler: async ({ caller, params: p }) => ok(documentObject(await resolver.document(caller, p.rid, p.did))),
    }),
    lisaRoute({
      method: "GET",
      path: "/repository/{rid}/{did}/download",
      operationId: "lisaDownloadDocument",
      summary: `Get a link to the bytes of a document, valid for ${linkSeconds} s`,
      params,
      answers: { 200: { description: "The link, as a JSON string.", schema: z.string() } },
      handler: async (request) => {
        const { caller, params: p } = request;
        const { collection_id } = await resolver.document(caller, p.rid, p.did);
        const { url } = await knowledge.grants.download(caller, p.rid, collection_id, p.did, {
          expires_in_seconds: linkSeconds,
        });
        return ok(`${originOf(request)}${url}`);
      },
    }),
  ];
}
