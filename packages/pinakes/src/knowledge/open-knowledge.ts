/** Opens the knowledge feature: its containers, and the background work that `open.ts` drives. */
import type { Slots } from "../domain/query-slots.ts";
import type { Scope } from "../domain/scope.ts";
import type { DropBoxLocation } from "../vectors/index.ts";
import { dropBoxPlace } from "./raw-vectors/drop-box-target.ts";
import { Lifecycle } from "../lifecycle/index.ts";
import type { KnowledgeDependencies } from "./dependencies.ts";
import { Activity, activityContainer } from "./activity.ts";
import { auditContainer, AuditRounds, type AuditFigures, type RoundsOptions } from "../audit/index.ts";
import { grantsContainer } from "./records/grants-container.ts";
import { KnowledgeErasure } from "./erasure/knowledge-erasure.ts";
import { lateWrites } from "./records/late-writes.ts";
import { DocumentIngester } from "./ingest/ingest-document.ts";
import { IngestQueue } from "./documents/ingest-queue.ts";
import { IngestWorker, type IngestMetrics } from "./ingest/ingest-worker.ts";
import { Watchdog } from "./ingest/watchdog.ts";
import { KnowledgeWork, knowledgeWorkContainer } from "./records/work-registry.ts";
import { Jobs } from "./jobs/jobs.ts";
import { Knowledge } from "./api/knowledge.ts";
import { Responses } from "../answers/index.ts";
import { filesContainer } from "./files/file-records.ts";
import { libraryContainer } from "./library/library-records.ts";
import { openSlots } from "./limits.ts";
import { LifecycleCatalog } from "./deletion/lifecycle-catalog.ts";
import type { MigrationTarget } from "../transfer/migration-target.ts";
import { CatalogRecords } from "./records/catalog-records.ts";
import { collectionsContainer, documentsContainer } from "./records/records.ts";
import { assembleServices } from "./api/services.ts";
import { builtInStores } from "./deletion/stores/built-in.ts";
import { Sweep } from "./deletion/sweep.ts";
import { Pipelines, pipelinesContainer, type PipelineLocations } from "../pipelines/index.ts";

export interface OpenKnowledgeOptions extends KnowledgeDependencies {
  /** Name of this process in leases. */
  readonly owner: string;
  /** Documents ingested concurrently. */
  readonly ingestPlaces: number;
  /** How long a document of a workspace below its fair share waits until another one is interrupted for it; 5 s when absent. */
  readonly yieldMs?: number | undefined;
  /** Prefix of the lifecycle's queues; none when absent. */
  readonly topicPrefix?: string | undefined;
  /** For the background audit: all workspaces, one after the other. */
  readonly workspaces?: RoundsOptions["workspaces"] | undefined;
  /** What pipelines may read; nothing when absent. */
  readonly pipelines?: PipelineLocations | undefined;
}

export interface OpenedKnowledge {
  readonly knowledge: Knowledge;
  /** For migrations: bypasses access decisions and holds. */
  readonly intake: MigrationTarget;
  /** The vectors that receive the rows of a drop box message, by the collection it names. */
  readonly dropBoxPlace: (scope: Scope, collection: string) => Promise<DropBoxLocation>;
  readonly metrics: () => IngestMetrics;
  /** Writes refused in this process because their collection had ended. */
  readonly lateWrites: () => number;
  /** Expensive work in progress in this process, and what waits for a slot. */
  readonly places: Slots;
  /** Deletes of collections in all stores: `listen` and `tick` are its background work. */
  readonly lifecycle: Lifecycle;
  /** Ingests documents from the queue until the signal; `looked` is called after every poll, with the number of messages that moved on. */
  work(signal: AbortSignal, looked?: (found: number) => void): Promise<void>;
  /** What erasures do to collections and documents, and where they run as jobs. */
  readonly erasure: KnowledgeErasure;
  readonly jobs: Jobs;
  /** One round of the watchdog over all unfinished work. */
  sweep(signal: AbortSignal): Promise<void>;
  /** The background audit: one bounded round, and its findings. */
  readonly audit: { round(signal: AbortSignal): Promise<void>; readonly figures: AuditFigures };
  /** Watches the folders of pipelines, and starts those that are due. */
  readonly pipelines: Pick<Pipelines, "startWatching" | "sweepSchedules" | "listen" | "background">;
  close(): Promise<void>;
}

const containers = [
  collectionsContainer,
  documentsContainer,
  knowledgeWorkContainer,
  grantsContainer,
  pipelinesContainer,
  activityContainer,
  auditContainer,
];

export async function openKnowledge({
  owner,
  ingestPlaces,
  yieldMs,
  topicPrefix,
  pipelines: pipelinePlaces,
  workspaces,
  ...dependencies
}: OpenKnowledgeOptions): Promise<OpenedKnowledge> {
  const deps = { ...dependencies, places: dependencies.places ?? openSlots(dependencies.quotas) };
  for (const container of containers) await deps.items.openContainer(container);
  const registry = new KnowledgeWork(deps.items, deps.system, deps.clock);
  const queue = new IngestQueue(deps.queue, deps.system, registry, deps.log);
  const catalog = new CatalogRecords(deps.items);
  const jobs = await new Jobs(deps, registry).open();
  const pipelines = new Pipelines({ deps, catalog, queue, jobs, places: pipelinePlaces });
  const activity = new Activity(deps);
  const stores = builtInStores(deps);
  const catalogue = new LifecycleCatalog(deps, catalog, jobs);
  const lifecycle = await new Lifecycle({ ...deps, catalogue, stores, owner, topicPrefix }).open();
  const services = assembleServices({
    deps,
    catalog,
    queue,
    registry,
    jobs,
    pipelines,
    activity,
    lifecycle,
    stores,
    fileRecords: await filesContainer.open(deps.items),
    responses: await Responses.open(deps.items),
    libraryRecords: await libraryContainer.open(deps.items),
  });
  const ingester = new DocumentIngester(deps, catalog);
  const worker = new IngestWorker(deps, queue, ingester, { owner, slots: ingestPlaces, yieldMs, activity });
  const sweep = new Sweep({ ...services, watchdog: new Watchdog(deps, queue, registry) });

  return {
    knowledge: new Knowledge(services),
    intake: services.migrationTarget,
    dropBoxPlace: (scope, collection) => dropBoxPlace(services, scope, collection),
    pipelines,
    lifecycle,
    jobs,
    erasure: new KnowledgeErasure(services),
    audit: new AuditRounds(services, {
      ...deps,
      owner,
      lifecycle,
      quarantine: services.quarantine,
      workspaces: workspaces ?? (async () => undefined),
    }),
    metrics: () => worker.metrics,
    lateWrites: () => lateWrites(deps.items),
    places: deps.places,
    work: (signal, looked) => worker.run(signal, looked),
    sweep: async (signal) => {
      await activity.flush();
      await sweep.run(signal);
    },
    close: async () => {
      await lifecycle.close();
      await jobs.close();
      await activity.flush();
    },
  };
}
