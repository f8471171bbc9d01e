/** Repositories, collections, documents and searches over HTTP. */
import type {
  CollectionRef,
  CollectionsApi,
  DocumentsApi,
  KnowledgeApi,
  RepositoriesApi,
  SearchApi,
} from "../api/knowledge-api.ts";
import type { DocumentVersion, UploadedDocument } from "../contract/knowledge.ts";
import type { KnowledgeEvent } from "../contract/operations.ts";
import type { CitationCheck } from "../contract/search.ts";
import { collectionOf, collectionsOf } from "../collection-ref.ts";
import { clientError } from "../errors.ts";
import { httpGovernance } from "./governance.ts";
import { httpGraph } from "./graph.ts";
import { httpAnswers } from "./answers.ts";
import { fileForm } from "./multipart.ts";
import { path, Requester, type HttpOptions } from "./request.ts";
import { follow } from "./sse.ts";
import { httpVectors } from "./vectors.ts";

export function httpKnowledge(options: HttpOptions): KnowledgeApi {
  const http = new Requester(options);
  return {
    repositories: httpRepositories(http),
    collections: httpCollections(http),
    documents: httpDocuments(http),
    search: httpSearch(http),
    answers: httpAnswers(http),
    graph: httpGraph(http),
    vectors: httpVectors(http),
    jobs: {
      get: (jobId) => http.json("GET", path`/v1/jobs/${jobId}`),
      list: (query = {}) => http.json("GET", "/v1/jobs", { query: { ...query } }),
      retry: (jobId) => http.json("POST", `${path`/v1/jobs/${jobId}`}:retry`),
      cancel: (jobId) => http.json("POST", `${path`/v1/jobs/${jobId}`}:cancel`),
    },
    operations: {
      get: (operationId) => http.json("GET", path`/v1/operations/${operationId}`),
      list: (query = {}) => http.json("GET", "/v1/operations", { query: { ...query } }),
      retry: (operationId) => http.json("POST", `${path`/v1/operations/${operationId}`}:retry`),
    },
    keys: {
      create: (input) => http.json("POST", "/v1/keys", { body: input }),
      list: (query = {}) => http.json("GET", "/v1/keys", { query: { ...query } }),
      revoke: (keyId, { workspace_id } = {}) =>
        http.json("DELETE", path`/v1/keys/${keyId}`, { query: { workspace_id }, repeatable: true }),
    },
    audit: {
      list: (query = {}) => http.json("GET", "/v1/audit", { query: { ...query } }),
      checkpoint: () => http.json("GET", "/v1/audit/checkpoint"),
      inclusion: (index, { size } = {}) => http.json("GET", "/v1/audit/proofs/inclusion", { query: { index, size } }),
      consistency: (from, { size } = {}) => http.json("GET", "/v1/audit/proofs/consistency", { query: { from, size } }),
      export: async (query = {}) => {
        const { body } = await http.stream("/v1/audit:export", { query: { ...query } });
        return body ?? new ReadableStream<Uint8Array>({ start: (stream) => stream.close() });
      },
    },
    ...httpGovernance(http),
    server: { info: () => http.json("GET", "/v1/info"), me: () => http.json("GET", "/v1/me") },
    events: {
      follow: async function* (following) {
        for await (const { data } of follow(http, "/v1/events", following)) yield JSON.parse(data) as KnowledgeEvent;
      },
    },
  };
}

function httpRepositories(http: Requester): RepositoriesApi {
  return {
    create: (input) => http.json("POST", "/v1/repositories", { body: input, idempotencyKey: crypto.randomUUID() }),
    get: (repositoryId) => http.json("GET", path`/v1/repositories/${repositoryId}`),
    list: (query = {}) => http.json("GET", "/v1/repositories", { query: { ...query } }),
    update: (repositoryId, change, { ifMatch } = {}) =>
      http.json("PATCH", path`/v1/repositories/${repositoryId}`, { body: change, ifMatch }),
    delete: (repositoryId, { confirm, ifMatch }) =>
      http.json("DELETE", path`/v1/repositories/${repositoryId}`, { query: { confirm }, ifMatch }),
  };
}

function collectionPath(at: CollectionRef): string {
  const { repository, collection } = collectionOf(at);
  return path`/v1/repositories/${repository}/collections/${collection}`;
}

function httpCollections(http: Requester): CollectionsApi {
  return {
    create: ({ repository, ...input }) =>
      http.json("POST", path`/v1/repositories/${repository}/collections`, {
        body: input,
        idempotencyKey: crypto.randomUUID(),
      }),
    get: async (at, { deleted, incarnation } = {}) =>
      http.json("GET", collectionPath(at), { query: { deleted, incarnation } }),
    list: ({ repository, ...query } = {}) =>
      http.json(
        "GET",
        repository === undefined ? "/v1/collections" : path`/v1/repositories/${repository}/collections`,
        { query: { ...query } },
      ),
    update: async (at, change, { ifMatch } = {}) => http.json("PATCH", collectionPath(at), { body: change, ifMatch }),
    delete: async (at, { ifMatch, ...query } = {}) =>
      http.json("DELETE", collectionPath(at), { query: { ...query }, ifMatch }),
    restore: async (at, { incarnation } = {}) =>
      http.json("POST", `${collectionPath(at)}:restore`, { query: { incarnation } }),
    archive: async (at, { ifMatch } = {}) => http.json("POST", `${collectionPath(at)}:archive`, { ifMatch }),
    unarchive: async (at, { ifMatch } = {}) => http.json("POST", `${collectionPath(at)}:unarchive`, { ifMatch }),
    reindex: async (at, input = {}) => http.json("POST", `${collectionPath(at)}:reindex`, { body: input }),
    usage: async (at) => http.json("GET", `${collectionPath(at)}/usage`),
  };
}

function httpDocuments(http: Requester): DocumentsApi {
  const one = (at: CollectionRef, documentId: string): string =>
    `${collectionPath(at)}${path`/documents/${documentId}`}`;
  return {
    upload: async (at, { name, body, replace, path: place, ...settings }, { onBytes, signal } = {}) => {
      const { metadata, chunking_strategy, allowed_groups, allowed_users, sensitivity } = settings;
      const fields = {
        metadata: textOf(metadata),
        chunking_strategy: textOf(chunking_strategy),
        allowed_groups: textOf(allowed_groups),
        allowed_users: textOf(allowed_users),
        sensitivity: textOf(sensitivity),
        replace: replace?.toString(),
        path: place,
      };
      const text = fileForm(fields, { name, body }, onBytes);
      // No time limit: the duration of an upload depends on its size.
      const { documents } = await http.json<Uploaded>("POST", `${collectionPath(at)}/documents`, {
        text,
        signal,
        timeoutMs: undefined,
      });
      const [document] = documents;
      if (document === undefined)
        throw clientError({ code: "INTERNAL", status: 0, detail: "The server took the upload and named no document." });
      return document;
    },
    get: async (at, documentId) => http.json("GET", one(at, documentId)),
    list: async (at, query = {}) => http.json("GET", `${collectionPath(at)}/documents`, { query: { ...query } }),
    delete: async (at, documentId, { ifMatch } = {}) => http.json("DELETE", one(at, documentId), { ifMatch }),
    deleteAll: async (at, { confirm }) =>
      http.json("DELETE", `${collectionPath(at)}/documents`, { query: { confirm } }),
    reindex: async (at, documentId) => http.json("POST", `${one(at, documentId)}:reindex`),
    setAccess: async (at, documentId, access, { ifMatch } = {}) =>
      http.json("PATCH", one(at, documentId), { body: access, ifMatch }),
    content: async (at, documentId, { version } = {}) => {
      const response = await http.stream(`${one(at, documentId)}/content`, { query: { version }, accept: "*/*" });
      return response.body ?? new Blob([]).stream();
    },
    text: async (at, documentId, query = {}) =>
      http.json("GET", `${one(at, documentId)}/text`, { query: { ...query } }),
    chunks: async (at, documentId, query = {}) =>
      http.json("GET", `${one(at, documentId)}/chunks`, { query: { ...query } }),
    versions: async (at, documentId) =>
      (await http.json<{ items: readonly DocumentVersion[] }>("GET", `${one(at, documentId)}/versions`)).items,
    uploadLink: async (at, document) => http.json("POST", `${collectionPath(at)}/uploads`, { body: document }),
    downloadLink: async (at, documentId, options = {}) =>
      http.json("GET", `${one(at, documentId)}/download`, { query: { ...options } }),
  };
}

interface Uploaded {
  readonly documents: readonly UploadedDocument[];
}

function textOf(value: object | null | undefined): string | undefined {
  return value === undefined ? undefined : JSON.stringify(value);
}

function httpSearch(http: Requester): SearchApi {
  return {
    // A search only reads: it may be repeated.
    query: async (query, { in: within, ...options } = {}) =>
      http.json("POST", "/v1/search", {
        body: { query, ...options, collections: collectionsOf(within) },
        repeatable: true,
      }),
    verifyCitations: async (citations) => {
      const { checks } = await http.json<{ checks: readonly CitationCheck[] }>("POST", "/v1/citations:verify", {
        body: { citations },
        repeatable: true,
      });
      return checks;
    },
  };
}
