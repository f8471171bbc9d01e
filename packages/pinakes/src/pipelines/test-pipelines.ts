/** For tests: the whole knowledge feature on real in-memory stores with the local model, a real folder, and background work on demand. */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { until } from "../../test/support/until.ts";
import { openMemoryItems } from "../drivers/memory/index.ts";
import { openMemoryObjects } from "../drivers/memory-objects/index.ts";
import { makeCaller, type Caller } from "../domain/caller.ts";
import { systemScope } from "../domain/scope.ts";
import {
  openModels,
  openParsers,
  openPipelinePlaces,
  type OpenedModels,
  type PipelineOptions,
} from "../open-engines.ts";
import type { Parser } from "../ports/parser.ts";
import type { Clock } from "../ports/clock.ts";
import type { ItemStore } from "../ports/item-store.ts";
import { openItemQueue } from "../queues/item-queue/index.ts";
import { openItemTriples } from "../triples/on-items/index.ts";
import { openVectors } from "../vectors/index.ts";
import {
  openKnowledge,
  quotaDefaults,
  type DocumentView,
  type JobView,
  type Knowledge,
  type OpenedKnowledge,
  type Quotas,
} from "../knowledge/index.ts";
import { itemsOf } from "../runtime/pages.ts";

export class TestClock implements Clock {
  #offset = 0;
  now(): number {
    return Date.now() + this.#offset;
  }
  advance(ms: number): void {
    this.#offset += ms;
  }
}

export const admin = makeCaller({ tenant: "acme", userId: "ada", role: "admin" });
export const user = makeCaller({ tenant: "acme", userId: "uma" });
export const stranger = makeCaller({ tenant: "other", userId: "ada", role: "admin" });

/** Loading the model takes longest, and all tests share it. */
let shared: Promise<{ models: OpenedModels; parser: Parser }> | undefined;

export async function closeShared(): Promise<void> {
  const opened = await shared;
  shared = undefined;
  await opened?.models.close();
  await opened?.parser.close();
}

export class Bench {
  readonly clock: TestClock;
  readonly log: string[];
  readonly folder: string;
  readonly items: ItemStore;
  readonly #closing: AsyncDisposableStack;
  readonly #opened: (options?: PipelineOptions) => Promise<OpenedKnowledge>;
  opened!: OpenedKnowledge;

  private constructor(parts: {
    clock: TestClock;
    log: string[];
    folder: string;
    items: ItemStore;
    closing: AsyncDisposableStack;
    open: (options?: PipelineOptions) => Promise<OpenedKnowledge>;
  }) {
    this.clock = parts.clock;
    this.log = parts.log;
    this.folder = parts.folder;
    this.items = parts.items;
    this.#closing = parts.closing;
    this.#opened = parts.open;
  }

  /** Pipelines may read `<base>/open`. */
  static async open(options: PipelineOptions = {}, quotas: Partial<Quotas> = {}): Promise<Bench> {
    const closing = new AsyncDisposableStack();
    const base = await mkdtemp(join(tmpdir(), "pinakes-pipelines-"));
    closing.defer(() => rm(base, { recursive: true, force: true }));
    const folder = join(base, "open");
    await mkdir(folder);
    const clock = new TestClock();
    const log: string[] = [];
    const note = (line: string) => void log.push(line);
    const items = closing.use(await openMemoryItems({ clock }));
    const objects = closing.use(openMemoryObjects({ clock }));
    const queue = closing.use(await openItemQueue({ items, clock }));
    const vectors = await openVectors({
      items,
      objects,
      clock,
      log: note,
      system: systemScope("test", note),
      threads: 0,
    });
    closing.defer(() => vectors.close());
    const triples = await openItemTriples({ items, scope: systemScope("test", note) });
    shared ??= Promise.all([openModels(undefined), openParsers()]).then(([models, parser]) => ({ models, parser }));
    const { models, parser } = await shared;
    let ids = 0;
    const open = async (more: PipelineOptions = {}): Promise<OpenedKnowledge> => {
      const places = await openPipelinePlaces({ pipelineFolders: [folder], ...options, ...more });
      closing.defer(() => places.close());
      const opened = await openKnowledge({
        items,
        objects,
        queue,
        vectors: vectors.vectors,
        triples,
        embedders: models.embedders,
        parser,
        clock,
        log: note,
        system: systemScope("test", note),
        quotas: { ...quotaDefaults, ...quotas },
        callerOf: makeCaller,
        newId: () => `id-${String((ids += 1)).padStart(6, "0")}`,
        owner: "test",
        ingestPlaces: 2,
        pipelines: places.places,
      });
      closing.defer(() => opened.close());
      return opened;
    };
    const bench = new Bench({ clock, log, folder, items, closing, open });
    bench.opened = await open();
    await bench.knowledge.repositories.create(admin, { repository_id: "r", name: "r", allow_user_collections: true });
    await bench.knowledge.collections.create(admin, "r", { collection_id: "c", name: "c" });
    return bench;
  }

  /** Another process on the same stores. */
  another(options?: PipelineOptions): Promise<OpenedKnowledge> {
    return this.#opened(options);
  }

  get knowledge(): Knowledge {
    return this.opened.knowledge;
  }

  /** Runs work until the bench is closed, or the returned function is called. */
  background(run: (signal: AbortSignal) => Promise<void>): () => Promise<void> {
    const stop = new AbortController();
    const running = run(stop.signal);
    running.catch((error: unknown) => void this.log.push(`background: ${String(error)}`));
    const end = async () => {
      stop.abort();
      await Promise.allSettled([running]);
    };
    this.#closing.defer(end);
    return end;
  }

  async write(files: Readonly<Record<string, string>>): Promise<void> {
    for (const [name, text] of Object.entries(files)) {
      await mkdir(dirname(join(this.folder, name)), { recursive: true });
      await writeFile(join(this.folder, name), text);
    }
  }

  uri(name: string): string {
    return `file:${join(this.folder, name)}`;
  }

  async pipeline(
    input: Partial<Parameters<Knowledge["pipelines"]["create"]>[3]> = {},
    collection = "c",
  ): Promise<string> {
    const source = `file:${this.folder}`;
    return (await this.knowledge.pipelines.create(admin, "r", collection, { trigger: "schedule", source, ...input }))
      .pipeline_id;
  }

  async run(pipelineId: string, options: { force?: boolean } = {}, caller: Caller = admin): Promise<JobView> {
    const job = await this.knowledge.pipelines.run(caller, "r", "c", pipelineId, options);
    return this.ended(job.job_id);
  }

  async ended(jobId: string): Promise<JobView> {
    return until(async () => {
      const job = await this.knowledge.jobs.get(admin, jobId);
      return job.status === "queued" || job.status === "running" ? undefined : job;
    });
  }

  async documents(collection = "c"): Promise<readonly DocumentView[]> {
    return Array.fromAsync(
      itemsOf((cursor) => this.knowledge.documents.list(admin, "r", collection, { order: "asc", limit: 100, cursor })),
    );
  }

  /** The URIs of all documents, sorted. */
  async uris(): Promise<readonly string[]> {
    return (await this.documents()).map(({ source }) => source.uri).toSorted();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#closing.disposeAsync();
  }
}
