/**
 * The work of an erasure as a job (RFC 0012): every attempt starts from the first step, and a job that cannot continue is retried later.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { JsonObject } from "../../domain/json.ts";
import type { Log } from "../../domain/log.ts";
import type { SystemScope } from "../../domain/scope.ts";
import type { Clock } from "../../ports/clock.ts";
import type { ItemStore } from "../../ports/item-store.ts";
import type { TripleStore } from "../../ports/triple-store.ts";
import { Later, type JobRecord, type Jobs, type JobTools, type KnowledgeErasure } from "../../knowledge/index.ts";
import type { StateErasure } from "../../state/index.ts";
import type { Holds } from "../holds/holds.ts";
import { Naming } from "../subjects/naming.ts";
import type { Subject } from "../subjects/subject.ts";
import { governanceTenant } from "../tenant.ts";
import { mergedDone, mergedFound, remainsError, summed } from "./counts.ts";
import { ErasureRun } from "./erasure-run.ts";
import type { Fences } from "./fences.ts";
import { Links } from "./links.ts";
import { receiptContent } from "./receipt-content.ts";
import type { RecordStore } from "./record-store.ts";
import { emptyWork, type ErasureRecord } from "./records.ts";
import type { ScanContext } from "./scan.ts";

export interface ErasuresDependencies {
  readonly items: ItemStore;
  readonly triples: TripleStore;
  readonly clock: Clock;
  /** With `erasureReason`: it passes the fences. */
  readonly system: SystemScope;
  readonly log: Log;
  readonly newId: () => string;
  readonly jobs: Jobs;
  readonly knowledge: KnowledgeErasure;
  readonly state: StateErasure;
  readonly fences: Fences;
  /** Archives of subject exports whose record is gone. */
  readonly removeArchives: (signal: AbortSignal) => Promise<unknown>;
  readonly holds: Holds;
  /** How late other processes see a fence. */
  readonly fenceMs: number;
  readonly forgetCredentials: (ids: readonly string[]) => void;
  readonly destroyKeys: (workspace: string) => Promise<void>;
  /** The store id: the issuer of receipts. */
  readonly issuer: () => Promise<string>;
  /** Makes the entries of the audit log anonymous. */
  readonly forgetInLog?: ((workspace: string, subject: Subject) => Promise<void>) | undefined;
}

/** Transient errors are over soon; others are retried by the sweep of jobs. */
const attemptsAtOnce = 3;
export const endedStates: ReadonlySet<string> = new Set(["done_live", "counted", "held"]);

export class ErasureJobs {
  /** Erasures that this process runs: it lowers their fences itself. */
  readonly own = new Set<string>();
  readonly #deps: ErasuresDependencies;
  readonly #records: RecordStore;

  constructor(deps: ErasuresDependencies, records: RecordStore) {
    this.#deps = deps;
    this.#records = records;
  }

  /** Counts what names the subject, in all workspaces of the erasure. */
  async count(
    record: ErasureRecord,
    subject: Subject,
    signal: AbortSignal,
  ): Promise<Pick<ErasureRecord, "stores" | "holds">> {
    const runs: ErasureRun[] = [];
    for (const workspace of record.workspaces) {
      const run = await this.runOf(record, subject, workspace, signal);
      await run.scan();
      runs.push(run);
    }
    return summed(runs);
  }

  async start({ erasure_id, workspace_id, job_id }: ErasureRecord): Promise<void> {
    const scope = this.#deps.system.forTenant(governanceTenant);
    const input = { erasure_id, workspace_id };
    const job = { kind: "erasure", repository_id: "", collection_id: "", created_by: "system", input } as const;
    await this.#deps.jobs.start(scope, job, { job_id });
  }

  /** Starts at the first step, whatever an earlier attempt did. An erasure never gives up: failures are retried later. */
  async run({ input }: JobRecord, { signal, tell }: JobTools): Promise<JsonObject> {
    const { erasure_id, workspace_id } = input as { readonly erasure_id: string; readonly workspace_id: string };
    for (let attempt = 1; ; attempt += 1) {
      const record = (await this.#records.read(workspace_id, erasure_id))?.record;
      if (record === undefined) return { erasure_id, state: "unknown" };
      if (endedStates.has(record.state)) return { erasure_id, state: record.state };
      try {
        const ended = await this.#attempt(record, signal, tell);
        return { erasure_id, state: ended.state };
      } catch (error) {
        if (signal.aborted) throw error;
        const message = error instanceof Error ? error.message : String(error);
        this.#deps.log(`erasure ${erasure_id}: ${message}`, "warn");
        await this.#update(workspace_id, erasure_id, { error: message });
        if (attempt >= attemptsAtOnce) throw new Later(message);
      }
    }
  }

  async #attempt(record: ErasureRecord, signal: AbortSignal, tell: JobTools["tell"]): Promise<ErasureRecord> {
    const { workspace_id: home, erasure_id: id } = record;
    const { subject } = record;
    let current = await this.#update(home, id, { attempts: record.attempts + 1, error: null });
    if (subject !== undefined) {
      await this.#fence(current, subject, signal);
      current = await this.#update(home, id, { state: "scanning" });
      const scanned = await this.count(current, subject, signal);
      current = await this.#update(home, id, { ...mergedFound(current, scanned), state: "executing" });
      await tell({ done: 1, total: 4 });
      current = await this.#execute(current, subject, signal);
      await tell({ done: 2, total: 4 });
    }
    const held = current.holds.length > 0;
    await this.#scrub(current);
    await tell({ done: 3, total: 4 });
    const ended = await this.#end(current, held);
    this.own.delete(id);
    this.#deps.fences.lower(id);
    return ended;
  }

  async #fence({ erasure_id, workspaces }: ErasureRecord, subject: Subject, signal: AbortSignal): Promise<void> {
    this.own.add(erasure_id);
    await this.#deps.fences.raise({ erasureId: erasure_id, workspaces, subject });
    // Other processes look for fences every `fenceMs`; a write that they began before has ended within another.
    if (this.#deps.fenceMs > 0) await sleep(2 * this.#deps.fenceMs, undefined, { signal });
  }

  async #execute(record: ErasureRecord, subject: Subject, signal: AbortSignal): Promise<ErasureRecord> {
    const { workspace_id: home, erasure_id: id } = record;
    const runs: ErasureRun[] = [];
    for (const workspace of record.workspaces) {
      const run = await this.runOf(record, subject, workspace, signal);
      await run.prepare();
      await run.execute();
      await this.#deps.forgetInLog?.(workspace, subject);
      runs.push(run);
    }
    await this.#deps.removeArchives(signal);
    await this.#update(home, id, { state: "verifying" });
    let remaining = 0;
    for (const run of runs) remaining += await run.verify();
    const { stores, holds } = summed(runs);
    const current = await this.#update(home, id, { stores: mergedDone(record.stores, stores), holds: [...holds] });
    if (remaining > 0) throw remainsError(remaining, new Map(stores.map((one) => [one.store, one])));
    if (holds.length > 0) return current;
    await this.#records.dropLinks(home, id);
    // From here on the subject of the erasure is unknown, so the files are rewritten after it.
    return this.#records.update(home, id, ({ subject: _, ...rest }) => ({
      ...rest,
      work: {},
      updated_at: this.#now(),
    }));
  }

  async #scrub(record: ErasureRecord): Promise<void> {
    const { items, triples, system } = this.#deps;
    const wanted = record.scrub ?? items.capabilities.engine === "sqlite";
    if (!wanted || record.holds.length > 0) return;
    await items.erasure.scrub(system);
    await triples.scrub(system);
  }

  async #end(record: ErasureRecord, held: boolean): Promise<ErasureRecord> {
    const { workspace_id: home, erasure_id: id } = record;
    const issuer = await this.#deps.issuer();
    const finished = this.#now();
    return this.#records.end(
      home,
      id,
      (current, chain) =>
        receiptContent(current, { ...chain, issuer, receiptId: `${id}.${chain.sequence}`, finishedAt: finished, held }),
      ({ fenced: _, ...current }, receiptId) => ({
        ...current,
        state: held ? "held" : "done_live",
        error: null,
        receipt_id: receiptId,
        updated_at: finished,
        finished_at: finished,
      }),
    );
  }

  async runOf(record: ErasureRecord, subject: Subject, workspace: string, signal: AbortSignal): Promise<ErasureRun> {
    const { workspace_id: home, erasure_id: id } = record;
    const context = await this.contextOf(record, subject, workspace, signal);
    return new ErasureRun(context, {
      knowledge: this.#deps.knowledge,
      state: this.#deps.state,
      forgetCredentials: this.#deps.forgetCredentials,
      destroyKeys: this.#deps.destroyKeys,
      keepLinks: () => this.#records.keepLinks(home, id, workspace, context.links.stored),
      keep: async (change) => {
        const stands = (current: ErasureRecord) => current.work[workspace] ?? emptyWork;
        const known = await this.#records.read(home, id);
        if (known === undefined) return change(emptyWork);
        const next = change(stands(known.record));
        if (next === stands(known.record)) return next;
        const kept = await this.#records.update(home, id, (current) => ({
          ...current,
          work: { ...current.work, [workspace]: change(stands(current)) },
        }));
        return stands(kept);
      },
    });
  }

  async contextOf(
    record: ErasureRecord,
    subject: Subject,
    workspace: string,
    signal: AbortSignal,
  ): Promise<ScanContext> {
    const links = new Links();
    for (const known of await this.#records.readLinks(record.workspace_id, record.erasure_id)) links.add(known);
    const { items, system, holds, clock } = this.#deps;
    const naming = new Naming(subject);
    return {
      items,
      system,
      naming,
      workspace,
      holds: await holds.inForce(workspace),
      links,
      since: clock.now(),
      signal,
    };
  }

  async #update(home: string, id: string, change: Partial<ErasureRecord>): Promise<ErasureRecord> {
    return this.#records.update(home, id, (current) => ({ ...current, ...change, updated_at: this.#now() }));
  }

  #now(): string {
    return new Date(this.#deps.clock.now()).toISOString();
  }
}
