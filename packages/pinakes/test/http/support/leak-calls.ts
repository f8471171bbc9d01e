/**
 * How each operation of the OpenAPI document is called against somebody else's things. The walk fails for an operation that is not
 * here, so a new route cannot be forgotten.
 */
import { howToCallGovernance } from "./leak-calls-governance.ts";
import { howToCallLisa } from "./leak-calls-lisa.ts";
import type { Json } from "./server.ts";

/** What a call is about: ids of one thing of each sort. */
export interface Target {
  readonly rid: string;
  readonly cid: string;
  readonly did: string;
  readonly jid: string;
  readonly kid: string;
  /** Of an evaluation and a pipeline. */
  readonly eid: string;
  readonly pid: string;
  /** Of a run of the evaluation. */
  readonly run: string;
  /** Of an operation. */
  readonly oid: string;
  /** Of a migration. */
  readonly mid: string;
  /** Of an entry of the quarantine. */
  readonly qid: string;
  /** Of an erasure and a legal hold. */
  readonly xid: string;
  readonly hid: string;
  /** A container of the workspace. */
  readonly c: string;
  /** Of a subject export, and a part of it. */
  readonly export: string;
  readonly part: string;
  readonly q: string;
  readonly dead: string;
  readonly token: string;
  /** For clients of the OpenAI API: the collection as a vector store, a file in it, a batch, an upload, a conversation and an item of it, a response. */
  readonly store: string;
  readonly file: string;
  readonly batch: string;
  readonly upload: string;
  readonly conversation: string;
  readonly item: string;
  readonly response: string;
  /** Everybody's. */
  readonly model: string;
  readonly flow: string;
  /** The rest of the address of a graph. */
  readonly graph: string;
  /** A class of stores. */
  readonly class: string;
}

/**
 * thing   names something: not visible is 404, in the same bytes as what never was
 * list    answers 200, with nothing in it
 * same    answers 200, in the same bytes as where the thing never was
 * odd     is wrong in itself: 400 or 404, in the same bytes as where the thing never was
 * free    has nothing of a workspace in it: answers as always
 * admin   is the admins' only: 403 for everybody else
 * stream  does not end
 * public  needs no credentials; a link that is not known is 404
 * signin  takes the credential in its body
 */
export type Kind = "thing" | "list" | "same" | "odd" | "free" | "admin" | "stream" | "public" | "signin";

export interface HowToCall {
  readonly kind: Kind;
  readonly query?: (target: Target) => string;
  readonly body?: (target: Target) => unknown;
  readonly headers?: (target: Target) => Readonly<Record<string, string>>;
  /** Of a body that is a text. */
  readonly contentType?: string;
  /** A change that keys which may only read may not make. Every method but GET is one unless this says no. */
  readonly changes?: false;
  /** About something that is open to its whole workspace. */
  readonly workspaceWide?: true;
  /** Names a collection or a document beside the path's ids. */
  readonly ofCollection?: true;
  /** Asks for what only admins may ask for: 403 whatever it is about. */
  readonly adminsOnly?: true;
}

const thing: HowToCall = { kind: "thing" };
const list: HowToCall = { kind: "list" };
const free: HowToCall = { kind: "free" };
const withBody = (body: (target: Target) => unknown, more: Partial<HowToCall> = {}): HowToCall => ({
  kind: "thing",
  body,
  ...more,
});
const odd = (body: (target: Target) => unknown): HowToCall => ({ kind: "odd", body });
/** Vector stores of a repository. */
const project = { headers: ({ rid }: Target) => ({ "openai-project": rid }) };
const inStore: HowToCall = { kind: "thing", ...project };
const inStoreWith = (body: (target: Target) => unknown, more: Partial<HowToCall> = {}): HowToCall =>
  withBody(body, { ...project, ...more });
const citation = ({ rid, cid, did }: Target): Json => ({
  repository_id: rid,
  collection_id: cid,
  document_id: did,
  version: 1,
  start: 0,
  end: 9,
  quote: "The plans",
});

export const howToCall: Readonly<Record<string, readonly HowToCall[]>> = {
  createRepository: [{ kind: "admin", body: () => ({ repository_id: "fresh", name: "Fresh" }) }],
  listRepositories: [list],
  getRepository: [thing],
  updateRepository: [withBody(() => ({ description: "taken over" }))],
  deleteRepository: [{ kind: "thing", query: ({ rid }) => `confirm=${rid}` }, thing],
  createCollection: [
    withBody(() => ({ name: "Intruder" })),
    odd(() => ({ name: "bad/name" })),
    withBody(({ cid }) => ({ collection_id: cid, name: "Same id" })),
  ],
  listCollections: [{ kind: "thing" }, { kind: "thing", query: () => "status=all&q=a" }],
  listAllCollections: [
    list,
    { kind: "list", query: () => "status=all&sort=name" },
    { kind: "list", query: () => "status=all&sort=last_used_at" },
  ],
  manageCollections: [
    { kind: "free", body: () => ({ operation: "list-collections", tag_filter: ["a"] }), changes: false },
    withBody(({ cid }) => ({ operation: "archive-collection", collection: cid })),
    withBody(({ cid }) => ({ operation: "delete-collection", collection: cid, confirm: cid })),
    withBody(({ rid, cid }) => ({
      operation: "migrate-collection",
      repository: rid,
      collection: cid,
      target_collection: "taken",
    })),
  ],
  createCatalog: [odd(() => ({ catalog_name: "bad/name" }))],
  listCatalogs: [free],
  deleteCatalog: [{ kind: "thing", query: () => "confirm=true" }, thing],
  uploadToCatalog: [
    withBody(() => ({ filename: "intruder.txt", file_content: "eA==" })),
    withBody(() => ({ filename: "intruder.txt" })),
    withBody(() => intruderForm()),
    odd(() => ({ filename: "../intruder.txt", file_content: "eA==" })),
  ],
  listCatalogDocuments: [thing],
  deleteCatalogDocument: [thing],
  downloadFromCatalog: [thing],
  getCatalogStatus: [thing],
  queryCatalog: [withBody(() => ({ query: "plans of the vault" }), { changes: false })],
  selectCatalog: [withBody(({ cid }) => ({ catalog_id: cid }), { changes: false })],
  getSelectedCatalog: [free],
  deselectCatalog: [{ ...free, changes: false }],
  querySelectedCatalog: [withBody(({ cid }) => ({ query: "plans of the vault", catalog_id: cid }), { changes: false })],
  getCollection: [thing, { kind: "thing", query: () => "deleted=true" }],
  updateCollection: [
    withBody(() => ({ description: "taken over", private: false })),
    odd(() => ({ name: "" })),
    odd(() => ({ colour: "red" })),
  ],
  deleteCollection: [
    { kind: "thing", query: ({ cid }) => `confirm=${cid}` },
    { kind: "thing", query: ({ cid }) => `confirm=${cid}&purge=true` },
    thing,
  ],
  archiveCollection: [thing],
  unarchiveCollection: [thing],
  restoreCollection: [thing, withBody(({ did }) => ({ incarnation: did }))],
  reindexCollection: [thing, withBody(() => ({}))],
  getCollectionUsage: [thing],
  uploadDocuments: [
    withBody(() => ({ name: "intruder.txt", text: "intruded" })),
    withBody(() => intruderForm()),
    odd(() => ({ name: "../intruder", text: "intruded" })),
    odd(() => ({ name: "a.txt", text: "intruded", chunking_strategy: { type: "MAGIC" } })),
  ],
  listDocuments: [thing, { kind: "thing", query: () => "status=indexed&q=a" }],
  getDocument: [thing],
  getDocumentContent: [thing, { kind: "thing", query: () => "version=1" }],
  listPassages: [thing],
  getDocumentText: [thing, { kind: "thing", query: () => "version=1&start=4&end=9" }],
  listDocumentTriples: [thing, { kind: "thing", query: () => "limit=1" }],
  listVersions: [thing],
  deleteDocuments: [{ kind: "thing", query: ({ cid }) => `confirm=${cid}` }, thing],
  deleteDocument: [thing],
  reindexDocument: [thing],
  changeDocumentAccess: [withBody(() => ({ allowed_groups: null, allowed_users: ["mallory"] }))],
  previewChunking: [
    {
      kind: "free",
      body: () => ({ text: "one two", chunking_strategy: { type: "FIXED", chunk_size: 100 } }),
      changes: false,
    },
  ],
  grantUpload: [withBody(() => ({ name: "intruder.txt" }))],
  useUploadGrant: [{ kind: "public", body: () => new TextEncoder().encode("intruded") }],
  grantDownload: [thing],
  useDownloadGrant: [{ kind: "public" }],
  search: [
    { kind: "list", body: () => ({ query: "plans of the vault", limit: 100 }), changes: false },
    { kind: "list", body: () => ({ query: "plans", mode: "keyword", archived: true, explain: true }), changes: false },
    withBody(({ rid, cid }) => ({ query: "plans of the vault", collections: [{ repository: rid, collection: cid }] }), {
      changes: false,
    }),
    withBody(
      ({ rid, cid }) => ({
        query: "plans",
        collections: [{ repository: rid, collection: cid }],
        as_user: { user_id: "somebody" },
      }),
      {
        changes: false,
        adminsOnly: true,
      },
    ),
  ],
  answer: [
    { kind: "list", body: () => ({ question: "plans of the vault", include_hits: true }), changes: false },
    withBody(
      ({ rid, cid }) => ({ question: "plans of the vault", collections: [{ repository: rid, collection: cid }] }),
      { changes: false },
    ),
    withBody(
      ({ rid, cid }) => ({ question: "plans", stream: true, collections: [{ repository: rid, collection: cid }] }),
      { changes: false },
    ),
  ],
  searchCollection: [withBody(() => ({ query: "plans of the vault", mode: "keyword" }), { changes: false })],
  searchRepository: [withBody(() => ({ query: "plans of the vault", mode: "keyword" }), { changes: false })],
  verifyCitations: [{ kind: "same", body: (target) => ({ citations: [citation(target)] }), changes: false }],
  upsertVectors: [
    odd(() => ({ items: [{ id: "", vector: [] }] })),
    withBody(() => ({ items: [{ id: "intruder", vector: [1, 2, 3] }] })),
  ],
  deleteVectors: [withBody(() => ({ ids: ["own"] }))],
  queryVectors: [withBody(() => ({ vector: [1, 2, 3] }), { changes: false })],
  loadTriples: [withBody(() => [{ s: "a:intruder", p: "a:p", o: "a:o" }]), odd(() => [{ s: "no iri" }])],
  matchTriples: [thing, { kind: "thing", query: () => "p=a:of&limit=1" }],
  tripleProvenance: [{ kind: "thing", query: () => "s=a:plans&p=a:of&o=a:vault" }],
  matchTriplesAcross: [
    withBody(({ rid, cid }) => ({ collections: [{ repository: rid, collection: cid }] }), { changes: false }),
  ],
  removeMatchingTriples: [
    { kind: "thing", query: ({ cid }) => `confirm=${cid}` },
    { kind: "thing", query: () => "p=a:of" },
  ],
  removeTriples: [withBody(() => ({ triples: [{ s: "a:plans", p: "a:of", o: "a:vault" }] }))],
  sparqlQuery: [{ kind: "thing", query: () => `query=${encodeURIComponent("SELECT * { ?s ?p ?o }")}` }],
  sparql: [
    withBody(() => "SELECT * { ?s ?p ?o }", { changes: false, contentType: "application/sparql-query" }),
    withBody(() => "CLEAR ALL", { contentType: "application/sparql-update" }),
  ],
  sparqlAcross: [
    withBody(
      ({ rid, cid }) => ({ query: "SELECT * { ?s ?p ?o }", collections: [{ repository: rid, collection: cid }] }),
      { changes: false },
    ),
  ],
  getManifest: [thing],
  compactCollection: [thing],
  createPipeline: [withBody(() => ({ trigger: "schedule", source: "file:/etc" }))],
  listPipelines: [thing],
  deletePipeline: [thing],
  planPipeline: [thing],
  runPipeline: [thing],
  notifyPipeline: [withBody(() => ({ Records: [] }))],
  createEvaluation: [
    withBody(({ rid, cid, did }) => ({
      name: "Probe",
      collections: [{ repository: rid, collection: cid }],
      queries: [{ query: "plans", relevant: [{ document_id: did }] }],
    })),
  ],
  listEvaluations: [list],
  getEvaluation: [thing],
  listEvaluationQuestions: [thing, { ...thing, query: () => "limit=1&cursor=0" }],
  listEvaluationRunQuestions: [thing],
  deleteEvaluation: [thing],
  runEvaluation: [thing],
  createMigration: [
    { kind: "admin", body: ({ rid }) => ({ source: { kind: "unregistered", repository: rid } }) },
    withBody(({ rid, cid }) => ({
      source: { kind: "collection", repository: rid, collection: cid, to: { collection: "stolen" } },
    })),
  ],
  listMigrations: [{ kind: "admin" }],
  getMigration: [{ ...thing, adminsOnly: true }],
  listMigrationUnits: [{ ...thing, adminsOnly: true }],
  planMigration: [{ ...thing, adminsOnly: true }],
  copyMigration: [{ ...thing, adminsOnly: true }],
  validateMigration: [{ ...thing, adminsOnly: true }],
  cutOverMigration: [{ ...thing, adminsOnly: true }],
  finishMigration: [{ ...thing, adminsOnly: true }],
  rollBackMigration: [{ ...thing, adminsOnly: true }],
  listQueues: [{ kind: "admin" }],
  getDeletionLag: [{ kind: "admin" }],
  listAlarms: [{ kind: "admin" }],
  listDeadLetters: [{ kind: "admin" }],
  redriveDeadLetter: [{ ...thing, adminsOnly: true }],
  discardDeadLetter: [{ ...thing, adminsOnly: true }],
  fsck: [
    withBody(({ rid }) => ({ repository: rid, repair: true }), { adminsOnly: true }),
    withBody(({ rid, cid }) => ({ repository: rid, collection: cid }), { adminsOnly: true }),
  ],
  listFsckFindings: [{ ...thing, adminsOnly: true }],
  listQuarantine: [{ kind: "admin" }],
  getQuarantineEntry: [{ ...thing, adminsOnly: true }],
  restoreQuarantineEntry: [{ ...thing, adminsOnly: true }],
  dropQuarantineEntry: [{ ...thing, adminsOnly: true }],
  getStats: [{ kind: "admin" }],
  listOperations: [list, { kind: "list", query: ({ rid, cid }) => `repository=${rid}&collection=${cid}` }],
  getOperation: [thing],
  retryOperation: [thing],
  listJobs: [list],
  getJob: [thing],
  retryJob: [thing],
  cancelJob: [thing],
  followEvents: [{ kind: "stream" }],
  explainAccess: [
    withBody(({ rid, cid }) => ({ repository: rid, collection: cid }), { changes: false }),
    withBody(({ rid, cid, did }) => ({ repository: rid, collection: cid, document: did }), { changes: false }),
    withBody(({ rid, cid }) => ({ repository: rid, collection: cid, user: { user_id: "somebody" } }), {
      changes: false,
      adminsOnly: true,
    }),
  ],
  createKey: [{ kind: "admin", body: () => ({ user_id: "intruder", role: "admin" }) }],
  listKeys: [{ kind: "admin" }],
  revokeKey: [{ kind: "admin" }],
  createSession: [{ kind: "signin" }],
  endSession: [{ ...free, changes: false }],
  getMe: [free],
  createEmbeddings: [{ kind: "free", body: () => ({ input: "one" }), changes: false }],
  listModels: [free],
  getModel: [free],
  getGraph: [{ kind: "thing", query: () => "default" }],
  putGraph: [{ kind: "thing", query: () => "default", body: () => "<urn:s> <urn:p> 1 .", contentType: "text/turtle" }],
  postGraph: [
    { kind: "thing", query: () => "default", body: () => "<urn:s> <urn:p> 1 .", contentType: "text/turtle" },
    { kind: "thing", body: () => "<urn:s> <urn:p> 1 .", contentType: "text/turtle" },
  ],
  deleteGraph: [{ kind: "thing", query: () => "default" }],
  getGraphHere: [thing],
  putGraphHere: [{ kind: "thing", body: () => "<urn:s> <urn:p> 1 .", contentType: "text/turtle" }],
  postGraphHere: [{ kind: "thing", body: () => "<urn:s> <urn:p> 1 .", contentType: "text/turtle" }],
  deleteGraphHere: [thing],
  sendStorageManagement: [
    { kind: "admin", body: ({ cid }) => ({ operation: "delete-collection", user: "ann", collection: cid }) },
  ],
  trustGraphCollections: [
    { ...free, body: () => ({ operation: "list-collections" }), changes: false },
    { kind: "same", body: ({ cid }) => ({ operation: "delete-collection", collection: cid }) },
  ],
  trustGraphLibrarian: [
    { ...free, body: () => ({ operation: "list-documents", "include-children": true }), changes: false },
    ...["get-document-metadata", "get-document-content", "stream-document", "list-children"].map(
      (operation): HowToCall => ({
        kind: "same",
        body: ({ did }) => ({ operation, "document-id": did }),
        changes: false,
      }),
    ),
    {
      kind: "same",
      body: ({ upload }) => ({ operation: "get-upload-status", "upload-id": upload }),
      changes: false,
    },
    { kind: "same", body: ({ did }) => ({ operation: "remove-document", "document-id": did }) },
    { kind: "same", body: ({ upload }) => ({ operation: "abort-upload", "upload-id": upload }) },
  ],
  trustGraphKnowledge: [
    { ...free, body: () => ({ operation: "list-kg-cores" }), changes: false },
    { kind: "same", body: ({ did }) => ({ operation: "load-kg-core", id: did }) },
    { kind: "same", body: ({ did }) => ({ operation: "delete-kg-core", id: did }) },
  ],
  trustGraphFlows: [{ ...free, body: () => ({ operation: "list-flows" }), changes: false }],
  trustGraphTriples: [{ kind: "same", body: ({ cid }) => ({ collection: cid, g: "*" }), changes: false }],
  trustGraphGraphEmbeddings: [
    { kind: "same", body: ({ cid }) => ({ collection: cid, vector: [1, 0, 0] }), changes: false },
  ],
  trustGraphDocumentEmbeddings: [
    { kind: "same", body: ({ cid }) => ({ collection: cid, vector: [1, 0, 0] }), changes: false },
  ],
  trustGraphEmbeddings: [{ ...free, body: () => ({ text: "one" }), changes: false }],
  trustGraphTextLoad: [{ kind: "same", body: () => ({ text: "one", charset: "klingon" }) }],
  trustGraphDocumentLoad: [{ kind: "same", body: () => ({ data: "%" }) }],
  importTrustGraphCore: [{ kind: "same", query: () => "id=intruder", body: () => new Uint8Array() }],
  exportTrustGraphCore: [{ kind: "thing", query: ({ did }) => `id=${did}` }],
  createOpenAIFile: [{ ...free, body: () => openAiForm("file", { purpose: "user_data" }) }],
  listOpenAIFiles: [free],
  getOpenAIFile: [thing],
  deleteOpenAIFile: [thing],
  getOpenAIFileContent: [thing],
  createOpenAIUpload: [
    { ...free, body: () => ({ bytes: 1, filename: "a.txt", mime_type: "text/plain", purpose: "user_data" }) },
  ],
  addOpenAIUploadPart: [withBody(() => openAiForm("data"))],
  completeOpenAIUpload: [withBody(() => ({ part_ids: ["part_x"] }))],
  cancelOpenAIUpload: [thing],
  createVectorStore: [inStoreWith(() => ({ name: "Intruder" }))],
  listVectorStores: [{ kind: "list", ...project }],
  getVectorStore: [inStore],
  updateVectorStore: [inStoreWith(() => ({ name: "Taken over" }))],
  deleteVectorStore: [inStore],
  searchVectorStore: [inStoreWith(() => ({ query: "plans of the vault" }), { changes: false })],
  createVectorStoreFile: [inStoreWith(({ file }) => ({ file_id: file }))],
  listVectorStoreFiles: [inStore],
  getVectorStoreFile: [inStore],
  updateVectorStoreFile: [inStoreWith(() => ({ attributes: { owner: "intruder" } }))],
  deleteVectorStoreFile: [inStore],
  getVectorStoreFileContent: [inStore],
  createVectorStoreFileBatch: [inStoreWith(({ file }) => ({ file_ids: [file] }))],
  getVectorStoreFileBatch: [inStore],
  cancelVectorStoreFileBatch: [inStore],
  listVectorStoreFileBatchFiles: [inStore],
  createConversation: [{ ...free, body: () => ({ items: [{ role: "user", content: "hello" }] }) }],
  createResponse: [
    { ...free, body: () => ({ input: "hello", store: false }) },
    inStoreWith(({ store }) => ({
      input: "plans of the vault",
      include: ["file_search_call.results"],
      tools: [{ type: "file_search", vector_store_ids: [store] }],
    })),
    withBody(({ response }) => ({ input: "And?", previous_response_id: response })),
    withBody(({ conversation }) => ({ input: "And?", conversation }), { workspaceWide: true }),
  ],
  getResponse: [thing],
  deleteResponse: [thing],
  cancelResponse: [thing],
  listResponseInputItems: [thing],
  createChatCompletion: [
    { ...free, body: () => ({ model: "mirror", messages: [{ role: "user", content: "hello" }] }), changes: false },
    inStoreWith(
      ({ store }) => ({
        model: "mirror",
        messages: [{ role: "user", content: "plans of the vault" }],
        tools: [{ type: "file_search", vector_store_ids: [store] }],
      }),
      { changes: false },
    ),
  ],
  getConversation: [thing],
  updateConversation: [withBody(() => ({ metadata: { owner: "intruder" } }))],
  deleteConversation: [thing],
  createConversationItems: [withBody(() => ({ items: [{ role: "user", content: "hello" }] }))],
  listConversationItems: [thing],
  getConversationItem: [thing],
  deleteConversationItem: [thing],
  ...howToCallGovernance,
  ...howToCallLisa,
  health: [free],
  ready: [free],
  metrics: [free],
  info: [free],
};

/** Operations that need no credentials at all. */
export const publicOperations = new Set([
  "health",
  "ready",
  "metrics",
  "info",
  "createSession",
  "useUploadGrant",
  "useDownloadGrant",
  "lisaUpload",
]);

export function openAiForm(name: string, fields: Readonly<Record<string, string>> = {}, text = "intruded"): FormData {
  const form = new FormData();
  for (const [field, value] of Object.entries(fields)) form.append(field, value);
  form.append(name, new Blob([text]), "intruder.txt");
  return form;
}

function intruderForm(): FormData {
  const form = new FormData();
  form.append("file", new Blob(["intruded"]), "intruder.txt");
  return form;
}
