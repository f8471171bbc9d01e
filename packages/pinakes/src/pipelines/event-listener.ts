/**
 * Processes the queue to which buckets send their events. A message is done when every pipeline it concerns has processed it; otherwise it
 * is redelivered.
 */
import { PinakesError } from "../domain/errors.ts";
import type { SourceEvents, SourceMessage } from "../ports/source-reader.ts";
import type { KnowledgeDependencies } from "../knowledge/dependencies.ts";
import type { PipelineJobs } from "./pipeline-jobs.ts";
import type { PipelineRegistry, StoredEntry } from "./pipeline-registry.ts";
import type { EntryState } from "./pipelines.ts";
import type { RunResult } from "./run-pipeline.ts";
import { readS3Events } from "./s3-events.ts";
import { filesBegin } from "./source.ts";

export interface ListenerOptions {
  readonly deps: KnowledgeDependencies;
  readonly registry: PipelineRegistry;
  readonly jobs: PipelineJobs;
  readonly stateOf: (entry: StoredEntry) => Promise<EntryState>;
}

const extendMs = 60_000;
const beatMs = 20_000;

export class EventListener {
  readonly #with: ListenerOptions;

  constructor(deps: ListenerOptions) {
    this.#with = deps;
  }

  /** Until the signal. */
  async run(events: SourceEvents, signal: AbortSignal, succeeded: () => void = () => {}): Promise<void> {
    while (!signal.aborted) {
      const messages = await events.receive(signal);
      if (messages.length === 0) {
        succeeded();
        continue;
      }
      const entries: StoredEntry[] = [];
      for await (const entry of this.#with.registry.withTrigger("event"))
        if (entry.source.startsWith("s3:")) entries.push(entry);
      await Promise.all(messages.map((message) => this.#handle(message, entries)));
      succeeded();
    }
  }

  async #handle(message: SourceMessage, entries: readonly StoredEntry[]): Promise<void> {
    const { log } = this.#with.deps;
    const beat = setInterval(() => {
      message
        .extend(extendMs)
        .catch((error: unknown) => log(`the lease of a source event could not be extended: ${String(error)}`));
    }, beatMs).unref();
    try {
      const uris = readS3Events(message.body).map(({ bucket, key }) => `s3://${bucket}/${key}`);
      const concerned = entries.map((entry) => ({
        entry,
        own: uris.filter((uri) => uri.startsWith(filesBegin(entry.source))),
      }));
      const done = await Promise.all(
        concerned.filter(({ own }) => own.length > 0).map(({ entry, own }) => this.#apply(entry, own)),
      );
      if (done.every(Boolean)) await message.done();
    } catch (error) {
      // It is redelivered, and finally goes to the queue's own dead letters.
      log(
        `a source event was invalid or could not be executed: ${PinakesError.isInstance(error) ? error.detail : String(error)}`,
      );
    } finally {
      clearInterval(beat);
    }
  }

  /** A failure that redelivery cannot fix counts as done: the job has the error. */
  async #apply(entry: StoredEntry, uris: readonly string[]): Promise<boolean> {
    const { deps, jobs, stateOf } = this.#with;
    const state = await stateOf(entry);
    if (state.status !== "ready") return true;
    const scope = deps.system.forTenant(entry.tenant);
    const job = await jobs.finish(scope, await jobs.start(scope, entry, state.pipeline.created_by, { uris }));
    return job.status === "succeeded" && (job.result as unknown as RunResult).retryable_failures === 0;
  }
}
