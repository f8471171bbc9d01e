/** What the knowledge side is made of, put together once: each piece with those it needs, and what each kind of job runs. */
import type { Activity } from "./activity.ts";
import { Documents } from "./documents/documents.ts";
import { Grants } from "./documents/grants.ts";
import { Uploads } from "./documents/upload.ts";
import { Evaluations } from "./evaluation/evaluations.ts";
import type { IngestQueue } from "./ingest/ingest-queue.ts";
import { QueueDesk } from "./ingest/queue-desk.ts";
import { Reindexer } from "./ingest/reindex.ts";
import type { KnowledgeWork } from "./ingest/knowledge-work.ts";
import { JobDesk } from "./jobs/job-desk.ts";
import type { Jobs } from "./jobs/jobs.ts";
import { Collections } from "./model/collections.ts";
import { CollectionDeletion } from "./model/delete-collection.ts";
import { RepositoryDeletion } from "./model/delete-repository.ts";
import type { Library } from "./model/library.ts";
import { Repositories } from "./model/repositories.ts";
import { OwnVectors } from "./own-vectors.ts";
import type { KnowledgeParts } from "./parts.ts";
import { PipelineDesk, type Pipelines } from "./pipelines/index.ts";
import { Search } from "./search/search.ts";

export interface KnowledgePieces {
  readonly parts: KnowledgeParts;
  readonly library: Library;
  readonly queue: IngestQueue;
  readonly registry: KnowledgeWork;
  readonly jobs: Jobs;
  readonly pipelines: Pipelines;
  readonly activity: Activity;
}

export interface Services extends KnowledgePieces {
  readonly repositories: Repositories;
  readonly collections: Collections;
  readonly documents: Documents;
  readonly uploads: Uploads;
  readonly search: Search;
  readonly deletion: CollectionDeletion;
  readonly evaluations: Evaluations;
  readonly jobDesk: JobDesk;
  readonly pipelineDesk: PipelineDesk;
  readonly queueDesk: QueueDesk;
  readonly grants: Grants;
  readonly rows: OwnVectors;
}

export function assembleServices(pieces: KnowledgePieces): Services {
  const { parts, library, queue, registry, jobs } = pieces;
  const repositories = new Repositories(parts, library);
  const collections = new Collections(parts, library, repositories);
  const documents = new Documents(parts, queue);
  const uploads = new Uploads(parts, queue);
  const search = new Search(parts, collections, library);
  const deletion = new CollectionDeletion(parts, library, collections, registry);
  registerJobs(jobs, { deletion, repositories: new RepositoryDeletion(parts, library, deletion), reindexer: new Reindexer(parts, library) });
  return {
    ...pieces,
    repositories,
    collections,
    documents,
    uploads,
    search,
    deletion,
    evaluations: new Evaluations(parts, {
      jobs,
      open: (caller, repositoryId, collectionId) => collections.open(caller, repositoryId, collectionId),
      search: (caller, input) => search.search(caller, input),
    }),
    jobDesk: new JobDesk({ parts, library, jobs, collections, documents }),
    pipelineDesk: new PipelineDesk(pieces.pipelines, collections),
    queueDesk: new QueueDesk(queue),
    grants: new Grants(parts, { collections, uploads, documents }),
    rows: new OwnVectors(parts, collections),
  };
}

function registerJobs(
  jobs: Jobs,
  run: { readonly deletion: CollectionDeletion; readonly repositories: RepositoryDeletion; readonly reindexer: Reindexer },
): void {
  jobs.register("delete", (scope, job) => run.deletion.trash(scope, job.repository_id, job.collection_id, job));
  jobs.register("restore", (scope, { repository_id, collection_id }) => run.deletion.restore(scope, repository_id, collection_id));
  jobs.register("purge", (scope, { repository_id, collection_id, attempts, input }) =>
    run.deletion.purge(scope, repository_id, collection_id, attempts, { dueAt: input["due_at"] as string | undefined }),
  );
  jobs.register("delete-repository", (scope, { repository_id, attempts }, tools) => run.repositories.purge(scope, repository_id, attempts, tools));
  jobs.register("reindex", (scope, { repository_id, collection_id, input }, tools) =>
    run.reindexer.reindex(scope, repository_id, collection_id, input["embedding_model"] as string | undefined, tools),
  );
}
