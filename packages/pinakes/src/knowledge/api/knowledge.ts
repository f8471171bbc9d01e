/**
 * Repositories, collections, documents, and searches over them, one object per resource. The caller is the first argument of every call; a
 * resource that a caller may not see is reported exactly like a missing one. HTTP, CLI, MCP and programs call the same objects.
 */
import { requireCaller, type Caller } from "../../domain/caller.ts";
import type { EmbeddingModel } from "../../ports/embedder.ts";
import { AnswersApi, type Responses } from "../../answers/index.ts";
import type { Audit } from "../../audit/index.ts";
import type { Quarantine } from "../../audit/quarantine/index.ts";
import type { Evaluations } from "../../evaluation/evaluations.ts";
import type { PipelinesApi } from "../../pipelines/index.ts";
import { TransferApi } from "../../transfer/index.ts";
import type { Staging } from "../files/staging.ts";
import type { Activity } from "../activity.ts";
import type { KnowledgeDependencies } from "../dependencies.ts";
import type { Grants } from "../documents/grants.ts";
import type { GraphApi } from "../graph/graph-api.ts";
import { dayMs, trashMs, trashMsOf } from "../limits.ts";
import type { RawVectors } from "../raw-vectors/raw-vectors.ts";
import { AccessApi } from "./access-api.ts";
import { CollectionsApi } from "./collections-api.ts";
import { DocumentsApi } from "./documents-api.ts";
import { FilesApi } from "./files-api.ts";
import type { Library } from "../library/library.ts";
import { followEvents, latestEventId, type FollowEvents, type KnowledgeEvent } from "./events.ts";
import type { JobsApi } from "./jobs-api.ts";
import type { OperationsApi } from "./operations-api.ts";
import type { QueuesApi, QueueView } from "./queues-api.ts";
import { RepositoriesApi } from "./repositories-api.ts";
import { SearchApi } from "./search-api.ts";
import type { Services } from "./services.ts";

export class Knowledge {
  readonly #deps: KnowledgeDependencies;
  readonly #services: Services;
  readonly repositories: RepositoriesApi;
  readonly collections: CollectionsApi;
  readonly documents: DocumentsApi;
  /** A user's own files, by id, and their use in collections. */
  readonly files: FilesApi;
  /** Staged files, to be ingested into a collection, under keys chosen by their user. */
  readonly staging: Staging;
  /** A user's documents outside of collections, under client-defined ids. */
  readonly library: Library;
  readonly search: SearchApi;
  /** Answers questions from search results, with verified citations. */
  readonly answers: AnswersApi;
  /** Generated responses that their users can read again. */
  readonly responses: Responses;
  readonly access: AccessApi;
  /** Links that upload and download files without a key. */
  readonly grants: Grants;
  /** Queues and dead letters of the workspace. */
  readonly queue: QueuesApi;
  /** Counters of the workspace over time. */
  readonly activity: Activity;
  /** Rows with vectors that callers computed themselves, and the manifest of the vector store. */
  readonly rows: RawVectors;
  /** Compares the contents of every store with the records. */
  readonly audit: Audit;
  /** Data that repairs removed, until it is restored or expires. */
  readonly quarantine: Quarantine;
  /** Triples of collections, by pattern and by SPARQL. */
  readonly graph: GraphApi;
  /** Collections kept in sync with folders and buckets. */
  readonly pipelines: PipelinesApi;
  /** Test sets of queries with the documents they should find. */
  readonly evaluations: Evaluations;
  /** Long-running work: its progress and errors. */
  readonly jobs: JobsApi;
  /** Deletes and archivals across all stores. */
  readonly operations: OperationsApi;
  /** Import and export. */
  readonly transfer: TransferApi;

  constructor(services: Services) {
    this.#deps = services.deps;
    this.#services = services;
    this.repositories = new RepositoriesApi(services);
    this.collections = new CollectionsApi(services);
    this.documents = new DocumentsApi(services);
    this.files = new FilesApi(services);
    this.staging = services.staging;
    this.library = services.library;
    this.search = new SearchApi(services, this.collections);
    const { chat, embedders, places } = services.deps;
    this.answers = new AnswersApi({ search: this.search, chat, embedders, places });
    this.responses = services.responses;
    this.access = new AccessApi(services);
    this.grants = services.grants;
    this.queue = services.queues;
    this.activity = services.activity;
    this.rows = services.rows;
    this.graph = services.graph;
    this.audit = services.audit;
    this.quarantine = services.quarantine;
    this.pipelines = services.pipelinesApi;
    this.evaluations = services.evaluations;
    this.jobs = services.jobsApi;
    this.operations = services.operations;
    this.transfer = new TransferApi(services);
  }

  get models(): readonly Pick<EmbeddingModel, "id" | "provider">[] {
    return this.#deps.embedders.models;
  }

  /** Days for which a deleted collection can be restored, unless its workspace has its own; 0: never. */
  get trashDays(): number {
    return (this.#deps.trashMs ?? trashMs) / dayMs;
  }

  /** Of the caller's workspace. */
  async trashDaysOf(caller: Caller): Promise<number> {
    return (await trashMsOf(this.#deps, requireCaller(caller))) / dayMs;
  }

  /** The queues of the workspace with their depths. */
  async queues(caller: Caller): Promise<readonly QueueView[]> {
    return this.queue.summary(caller, (cursor) => this.collections.list(caller, { limit: 100, cursor }));
  }

  /** Events of everything that the caller may see, until the signal aborts. */
  events(caller: Caller, options: FollowEvents): AsyncGenerator<KnowledgeEvent, void> {
    return followEvents(this.#deps, this.#services.catalog, caller, options);
  }

  /** The id after which only events of the future are told. */
  latestEventId(caller: Caller): Promise<string> {
    return latestEventId(this.#deps, caller);
  }
}
