/** The knowledge side, opened: its containers, and the background work that `open.ts` keeps going. */
import type { KnowledgeParts } from "./parts.ts";
import { Activity, activityContainer } from "./activity.ts";
import { grantsContainer } from "./documents/grants.ts";
import { DocumentIngester } from "./ingest/ingest-document.ts";
import { IngestQueue } from "./ingest/ingest-queue.ts";
import { IngestWorker, type IngestMetrics } from "./ingest/ingest-worker.ts";
import { Watchdog } from "./ingest/watchdog.ts";
import { KnowledgeWork, knowledgeWorkContainer, type RegisteredUnfinished } from "./ingest/knowledge-work.ts";
import { Jobs } from "./jobs/jobs.ts";
import { Knowledge } from "./knowledge.ts";
import { Library } from "./model/library.ts";
import { collectionsContainer, documentsContainer } from "./model/records.ts";
import { assembleServices } from "./services.ts";
import { Pipelines, pipelinesContainer, type PipelinePlaces } from "./pipelines/index.ts";

export interface OpenKnowledgeOptions extends KnowledgeParts {
  /** Who this process is, in leases. */
  readonly owner: string;
  /** Documents that are ingested at the same time. */
  readonly places: number;
  /** What pipelines may read; nothing when absent. */
  readonly pipelines?: PipelinePlaces | undefined;
}

export interface OpenedKnowledge {
  readonly knowledge: Knowledge;
  readonly metrics: () => IngestMetrics;
  /** Takes documents from the queue until the signal. */
  work(signal: AbortSignal): Promise<void>;
  /** One round of the watchdog over everything that is unfinished. */
  sweep(signal: AbortSignal): Promise<void>;
  /** Watches the folders of pipelines, and starts those that are due. */
  readonly pipelines: Pick<Pipelines, "startWatching" | "sweepSchedules" | "listen" | "background">;
  close(): Promise<void>;
}

export async function openKnowledge({ owner, places, pipelines: pipelinePlaces, ...parts }: OpenKnowledgeOptions): Promise<OpenedKnowledge> {
  for (const container of [collectionsContainer, documentsContainer, knowledgeWorkContainer, grantsContainer, pipelinesContainer, activityContainer])
    await parts.items.openContainer(container);
  const registry = new KnowledgeWork(parts.items, parts.system, parts.clock);
  const queue = new IngestQueue(parts.queue, parts.system, registry, parts.log);
  const library = new Library(parts.items);
  const jobs = await new Jobs(parts, registry).open();
  const pipelines = new Pipelines({ parts, library, queue, jobs, places: pipelinePlaces });
  const activity = new Activity(parts);
  const knowledge = new Knowledge(assembleServices({ parts, library, queue, registry, jobs, pipelines, activity }));
  const worker = new IngestWorker(parts, queue, new DocumentIngester(parts, library), { owner, places, activity });
  const watchdog = new Watchdog(parts, queue, registry);

  const carryOn = async (entry: RegisteredUnfinished, signal: AbortSignal): Promise<void> => {
    const scope = parts.system.forTenant(entry.tenant);
    if (entry.kind === "documents") return watchdog.sweepDocuments(entry, signal);
    if (entry.kind === "job") {
      const state = await jobs.stateOf(scope, entry.incarnation);
      if (state === "alive") return;
      if (state === "silent") await jobs.run(scope, entry.incarnation);
      return registry.remove(entry);
    }
    // A deleted collection whose time has come; a restored one is left alone.
    const found = await library.collection(scope, entry.repository_id, entry.collection_id);
    if (found?.record.incarnation === entry.incarnation && found.record.status === "DELETED") {
      const { repository_id, collection_id } = entry;
      await jobs.start(scope, { kind: "purge", repository_id, collection_id, created_by: "system", input: { due_at: found.record.purge_at } });
    }
    await registry.remove(entry);
  };

  return {
    knowledge,
    pipelines,
    metrics: () => worker.metrics,
    work: (signal) => worker.run(signal),
    sweep: async (signal) => {
      await activity.flush();
      let error: Error | undefined;
      for await (const entry of registry.due(parts.clock.now())) {
        if (signal.aborted) return;
        try {
          await carryOn(entry, signal);
        } catch (cause) {
          error = cause instanceof Error ? cause : new Error(String(cause));
        }
      }
      if (error !== undefined) throw error;
    },
    close: async () => {
      await jobs.close();
      await activity.flush();
    },
  };
}
