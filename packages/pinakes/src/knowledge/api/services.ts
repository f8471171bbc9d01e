/** Composition of the knowledge feature: each part with its dependencies, and the handler of each kind of job. */
import { PinakesError } from "../../domain/errors.ts";
import type { Scope } from "../../domain/scope.ts";
import type { Responses } from "../../answers/index.ts";
import type { Activity } from "../activity.ts";
import { Audit } from "../../audit/index.ts";
import { deleteAllDocuments } from "../documents/delete-all.ts";
import { Documents } from "../documents/documents.ts";
import { Grants } from "../documents/grants.ts";
import { Uploads } from "../documents/upload.ts";
import { Evaluations } from "../../evaluation/evaluations.ts";
import { Attachments } from "../files/attachments.ts";
import { FileBatches } from "../files/file-batches.ts";
import type { FileRecords } from "../files/file-records.ts";
import { FileUploads } from "../files/file-uploads.ts";
import { FileUsage } from "../files/file-usage.ts";
import { Staging } from "../files/staging.ts";
import { Files } from "../files/files.ts";
import { Library } from "../library/library.ts";
import type { LibraryRecords } from "../library/library-records.ts";
import { GraphApi } from "../graph/graph-api.ts";
import type { IngestQueue } from "../documents/ingest-queue.ts";
import { QueuesApi } from "./queues-api.ts";
import { Reindexer } from "../ingest/reindex.ts";
import type { KnowledgeWork } from "../records/work-registry.ts";
import type { Incarnation, Lifecycle, Participant } from "../../lifecycle/index.ts";
import { JobsApi } from "./jobs-api.ts";
import { Later, type JobRecord, type Jobs } from "../jobs/jobs.ts";
import { OperationsApi } from "./operations-api.ts";
import { DropBoxLetters } from "./drop-box-letters.ts";
import { TopicLetters } from "./topic-letters.ts";
import { CollectionArchiving } from "../deletion/archive-collection.ts";
import { Collections } from "../collections/collections.ts";
import { CollectionLists } from "../collections/gather-collections.ts";
import { MigrationTarget } from "../../transfer/migration-target.ts";
import { CollectionDeletion } from "../deletion/delete-collection.ts";
import { RepositoryDeletion } from "../deletion/delete-repository.ts";
import type { CatalogRecords } from "../records/catalog-records.ts";
import { Repositories } from "../collections/repositories.ts";
import { RawVectors } from "../raw-vectors/raw-vectors.ts";
import type { KnowledgeDependencies } from "../dependencies.ts";
import { PipelinesApi, type Pipelines } from "../../pipelines/index.ts";
import { Quarantine } from "../../audit/quarantine/index.ts";
import { Search } from "../search/search.ts";
import { CollectionMover, ImportUndo } from "../../transfer/index.ts";

export interface KnowledgeCore {
  readonly deps: KnowledgeDependencies;
  readonly catalog: CatalogRecords;
  readonly queue: IngestQueue;
  readonly registry: KnowledgeWork;
  readonly jobs: Jobs;
  readonly pipelines: Pipelines;
  readonly activity: Activity;
  readonly lifecycle: Lifecycle;
  readonly stores: readonly Participant[];
  readonly fileRecords: FileRecords;
  readonly responses: Responses;
  readonly libraryRecords: LibraryRecords;
}

export interface Services extends KnowledgeCore {
  readonly repositories: Repositories;
  readonly collections: Collections;
  readonly lists: CollectionLists;
  readonly documents: Documents;
  readonly uploads: Uploads;
  readonly files: Files;
  readonly fileUploads: FileUploads;
  readonly staging: Staging;
  readonly attachments: Attachments;
  readonly fileBatches: FileBatches;
  readonly library: Library;
  readonly search: Search;
  readonly deletion: CollectionDeletion;
  readonly archiving: CollectionArchiving;
  readonly evaluations: Evaluations;
  readonly jobsApi: JobsApi;
  readonly operations: OperationsApi;
  readonly pipelinesApi: PipelinesApi;
  readonly queues: QueuesApi;
  readonly repositoryDeletion: RepositoryDeletion;
  readonly grants: Grants;
  readonly rows: RawVectors;
  readonly graph: GraphApi;
  readonly audit: Audit;
  readonly quarantine: Quarantine;
  readonly migrationTarget: MigrationTarget;
}

export function assembleServices(services: KnowledgeCore): Services {
  const { deps, catalog, queue, registry, jobs, lifecycle, stores } = services;
  const repositories = new Repositories(deps, catalog);
  const collections = new Collections(deps, catalog, repositories);
  const documents = new Documents(deps, queue);
  const uploads = new Uploads(deps, queue);
  const usage = new FileUsage(services.fileRecords, deps.quotas);
  const files = new Files({ deps, registry, records: services.fileRecords, usage, documents });
  const fileUploads = new FileUploads({ deps, registry, records: services.fileRecords, usage, files });
  const attachments = new Attachments({ deps, files, uploads, documents, jobs });
  const search = new Search(deps, collections, catalog, repositories);
  const deletion = new CollectionDeletion({ deps, catalog, collections, registry, lifecycle, stores, jobs });
  const lists = new CollectionLists(deps, catalog);
  const operations = new OperationsApi({ deps, catalog, jobs, lifecycle });
  const repositoryDeletion = new RepositoryDeletion(deps, catalog, deletion, lifecycle);
  registerJobs(jobs, {
    deletion,
    repositories: repositoryDeletion,
    reindexer: new Reindexer(deps, catalog),
    catalog,
    lifecycle,
    documents,
    deps,
  });
  return {
    ...services,
    repositories,
    collections,
    lists,
    documents,
    uploads,
    files,
    fileUploads,
    staging: new Staging({ deps, registry, records: services.fileRecords }),
    attachments,
    fileBatches: new FileBatches({ deps, jobs, collections, documents, files, attachments }),
    library: new Library(deps, { records: services.libraryRecords, files, uploads: fileUploads }),
    search,
    deletion,
    repositoryDeletion,
    archiving: new CollectionArchiving({ deps, catalog, collections, registry, lifecycle, jobs }),
    evaluations: new Evaluations(deps, {
      jobs,
      open: (caller, repositoryId, collectionId) => collections.open(caller, repositoryId, collectionId),
      search: (caller, input) => search.search(caller, input),
    }),
    jobsApi: new JobsApi({ deps, catalog, jobs, collections, documents, operations: operations }),
    operations,
    pipelinesApi: new PipelinesApi(services.pipelines, collections),
    queues: new QueuesApi(
      queue,
      { topics: new TopicLetters(deps, lifecycle), dropBox: new DropBoxLetters(deps) },
      deps,
    ),
    grants: new Grants(deps, { collections, repositories, uploads, documents }),
    rows: new RawVectors(deps, collections, repositories),
    migrationTarget: new MigrationTarget(deps, {
      catalog,
      collections,
      repositories,
      moves: new CollectionMover({ ...services, collections, repositories, deletion }),
      imports: new ImportUndo({ ...services, collections, documents, deletion }),
    }),
    audit: new Audit({ deps, catalog, queue, registry, jobs, lifecycle, deletion }),
    quarantine: new Quarantine({ deps, catalog, lifecycle }),
    graph: new GraphApi(deps, { collections, repositories }),
  };
}

interface Runs {
  readonly deletion: CollectionDeletion;
  readonly repositories: RepositoryDeletion;
  readonly reindexer: Reindexer;
  readonly catalog: CatalogRecords;
  readonly lifecycle: Lifecycle;
  readonly documents: Documents;
  readonly deps: KnowledgeDependencies;
}

function registerJobs(jobs: Jobs, run: Runs): void {
  jobs.register("delete", async (scope, job) =>
    run.deletion.trash(scope, await incarnationOfJob(run.catalog, scope, job), job),
  );
  jobs.register("restore", async (scope, job) =>
    run.deletion.restore(scope, await incarnationOfJob(run.catalog, scope, job)),
  );
  // Purges are operations now; this handler finishes jobs that an earlier version started.
  jobs.register("purge", async (scope, job) => {
    const incarnation = await incarnationOfJob(run.catalog, scope, job);
    const { input, job_id: operationId, created_by: createdBy } = job;
    if (
      (await run.deletion.begin(scope, incarnation, {
        operationId,
        createdBy,
        dueAt: input["due_at"] as string | undefined,
      })) === undefined
    )
      return { mode: "purge", stores: [], restored: true };
    await run.lifecycle.drive(scope, incarnation);
    throw new Later("The stores are being purged.");
  });
  jobs.register("delete-repository", (scope, job, tools) => run.repositories.purge(scope, job, tools));
  jobs.register("delete-documents", (scope, job, tools) => deleteAllDocuments(run, scope, job, tools));
  jobs.register("reindex", (scope, job, tools) =>
    run.reindexer.reindex(scope, job, job.input["embedding_model"] as string | undefined, tools),
  );
}

/** Jobs of an earlier version do not name an incarnation; they mean the current one. */
async function incarnationOfJob(
  catalog: CatalogRecords,
  scope: Scope,
  { repository_id, collection_id, incarnation: named }: JobRecord,
): Promise<Incarnation> {
  const incarnation = named ?? (await catalog.collection(scope, repository_id, collection_id))?.record.incarnation;
  if (incarnation === undefined)
    throw new PinakesError("NOT_FOUND", `There is no collection "${collection_id}" in repository "${repository_id}".`);
  return { repository_id, collection_id, incarnation };
}
