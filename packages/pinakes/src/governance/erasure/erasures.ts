/**
 * Erasures (RFC 0012): asked for by admins, run as jobs under the system's tenant, proved by a count of zero and a signed receipt.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Erasure, ErasureReceipt, ErasureSubject, ErasureVerification, NewErasure } from "@pinakes/client";
import type { Caller } from "../../domain/caller.ts";
import { invalid, PinakesError, show } from "../../domain/errors.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { Log } from "../../domain/log.ts";
import type { SystemScope } from "../../domain/scope.ts";
import type { Clock } from "../../ports/clock.ts";
import type { ItemStore } from "../../ports/item-store.ts";
import type { TripleStore } from "../../ports/triple-store.ts";
import { Later, type JobRecord, type Jobs, type JobTools, type KnowledgeErasure } from "../../knowledge/index.ts";
import type { StateErasure } from "../../state/index.ts";
import { requireAdmin, type Holds } from "../holds/holds.ts";
import { governanceLimits } from "../limits.ts";
import { checkReceipt } from "../receipts/jws.ts";
import { emptyCounts, ErasureRun, remainsError } from "./erasure-run.ts";
import type { Fences } from "./fences.ts";
import { Links } from "./links.ts";
import { Naming } from "./naming.ts";
import { receiptContent } from "./receipt-content.ts";
import { RecordStore } from "./record-store.ts";
import { emptyWork, erasureItem, governanceTenant, newErasureFormat, type ErasureRecord } from "./records.ts";
import { namesAnything, type ScanContext } from "./scan.ts";
import { checkSubject, type Subject } from "./subject.ts";

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
  readonly holds: Holds;
  /** How late other processes see a fence. */
  readonly fenceMs: number;
  readonly forgetCredentials: (ids: readonly string[]) => void;
  /** The store id: who issues receipts. */
  readonly issuer: () => Promise<string>;
  /** Makes the entries of the audit log anonymous. */
  readonly forgetInLog?: ((workspace: string, subject: Subject) => Promise<void>) | undefined;
}

export interface ErasurePage {
  readonly items: readonly Erasure[];
  readonly next_cursor: string | null;
}

const waitMs = 200;
/** Errors that pass are over soon; what does not is looked at again by the sweep of jobs. */
const attemptsAtOnce = 3;
const endedStates: ReadonlySet<string> = new Set(["done_live", "counted", "held"]);

export class Erasures {
  readonly #deps: ErasuresDependencies;
  readonly #records: RecordStore;
  readonly #own = new Set<string>();

  constructor(deps: ErasuresDependencies) {
    this.#deps = deps;
    this.#records = new RecordStore(deps.items, deps.system);
  }

  async open(): Promise<this> {
    await this.#records.open();
    this.#deps.jobs.register("erasure", (_scope, job, tools) => this.#job(job, tools));
    this.#deps.holds.onReleased((workspace) => this.#afterRelease(workspace));
    await this.seeFences();
    return this;
  }

  /** Background: fences that other processes raised and lowered. */
  async seeFences(): Promise<void> {
    const records = await this.#records.fenced();
    const fences = records.flatMap(({ erasure_id, workspaces, subject }) =>
      subject === undefined ? [] : [{ erasureId: erasure_id, workspaces, subject }],
    );
    this.#deps.fences.replace(fences, this.#own);
  }

  /**
   * Checks the request and starts it; a dry run counts before it returns. NOT_FOUND where nothing names the subject, unless it was erased here
   * before.
   */
  async request(caller: Caller, input: NewErasure, { mayTouchAll = false } = {}): Promise<Erasure> {
    const { tenant } = requireAdmin(caller);
    const subject = checkSubject(input.subject, checkPaths(input.paths));
    const workspaces = checkWorkspaces(tenant, subject, input.workspaces, mayTouchAll);
    const { clock, newId } = this.#deps;
    const now = new Date(clock.now()).toISOString();
    const id = newId();
    const subject_hmac = await this.#records.hmac(subject);
    const record: ErasureRecord = {
      id: erasureItem(id),
      format: newErasureFormat,
      workspace_id: tenant,
      erasure_id: id,
      workspaces: [...workspaces],
      state: "received",
      subject_type: subject.type,
      subject_hmac,
      subject: stored(subject),
      dry_run: input.dry_run === true,
      scrub: input.scrub ?? null,
      stores: [],
      work: Object.fromEntries(workspaces.map((workspace) => [workspace, emptyWork])),
      holds: [],
      engines: [this.#deps.items.capabilities.engine, this.#deps.triples.capabilities.engine],
      job_id: id,
      attempts: 0,
      error: null,
      receipt_id: null,
      created_by: caller.userId,
      created_at: now,
      updated_at: now,
      finished_at: null,
    };
    await this.#requireKnown(record, subject);
    if (record.dry_run) return this.#dryRun(record, subject);
    await this.#records.create({ ...record, fenced: true });
    await this.#start(record);
    return viewOf(record);
  }

  async get(caller: Caller, erasureId: string): Promise<Erasure> {
    return viewOf(await this.#read(caller, erasureId));
  }

  /** Newest first. */
  async list(
    caller: Caller,
    query: { limit?: number | undefined; cursor?: string | undefined } = {},
  ): Promise<ErasurePage> {
    const { limit = governanceLimits.pageItemsMax, cursor } = query;
    const page = await this.#records.list(requireAdmin(caller).tenant, { limit: checkLimit(limit), cursor });
    return { items: page.records.map(viewOf), next_cursor: page.cursor ?? null };
  }

  async receipt(caller: Caller, erasureId: string): Promise<ErasureReceipt> {
    const record = await this.#read(caller, erasureId);
    const found =
      record.receipt_id === null ? undefined : await this.#records.receipt(record.workspace_id, record.receipt_id);
    if (found === undefined)
      throw new PinakesError("NOT_FOUND", `Erasure ${show(erasureId)} has no receipt yet: it is ${record.state}.`);
    return this.#receiptView(found);
  }

  /** Of the workspace, oldest first: the whole chain. */
  async receipts(
    caller: Caller,
    query: { limit?: number | undefined; cursor?: string | undefined } = {},
  ): Promise<{ readonly items: readonly ErasureReceipt[]; readonly next_cursor: string | null }> {
    const { limit = governanceLimits.pageItemsMax, cursor } = query;
    const page = await this.#records.receipts(requireAdmin(caller).tenant, { limit: checkLimit(limit), cursor });
    const items = await Promise.all(page.receipts.map((one) => this.#receiptView(one)));
    return { items, next_cursor: page.cursor ?? null };
  }

  /** Counts again. The id of the subject is forgotten by then, so it has to be given. */
  async verify(
    caller: Caller,
    erasureId: string,
    input: ErasureSubject,
    paths?: readonly string[],
  ): Promise<ErasureVerification> {
    const record = await this.#read(caller, erasureId);
    const subject = checkSubject(input, checkPaths(paths));
    if ((await this.#records.hmac(subject)) !== record.subject_hmac)
      throw invalid("subject: it is not the one of this erasure; nothing was counted.");
    const stores = new Map<string, number>();
    for (const workspace of record.workspaces) {
      const run = await this.#run(record, subject, workspace, new AbortController().signal);
      await run.verify();
      for (const { store, remaining } of run.counts.values())
        stores.set(store, (stores.get(store) ?? 0) + (remaining ?? 0));
    }
    const rows = [...stores].map(([store, remaining]) => ({ store, remaining }));
    return {
      erasure_id: erasureId,
      remaining: rows.reduce((sum, { remaining }) => sum + remaining, 0),
      stores: rows,
      receipt: await this.#checkOwnReceipt(record),
    };
  }

  /** Waits for its end, for callers in the same process. */
  async wait(caller: Caller, erasureId: string, signal?: AbortSignal): Promise<Erasure> {
    const scope = this.#deps.system.forTenant(governanceTenant);
    for (;;) {
      const record = await this.#read(caller, erasureId);
      if (endedStates.has(record.state)) return viewOf(record);
      // Joins a run of this process; one that was left by a process that died is taken over once it is silent.
      if ((await this.#deps.jobs.stateOf(scope, record.job_id)) !== "over")
        await this.#deps.jobs.run(scope, record.job_id);
      await sleep(waitMs, undefined, signal === undefined ? {} : { signal });
    }
  }

  async #read(caller: Caller, erasureId: string): Promise<ErasureRecord> {
    const { tenant } = requireAdmin(caller);
    const found = typeof erasureId === "string" ? await this.#records.read(tenant, erasureId) : undefined;
    if (found === undefined) throw new PinakesError("NOT_FOUND", `There is no erasure ${show(erasureId)}.`);
    return found.record;
  }

  async #requireKnown(record: ErasureRecord, subject: Subject): Promise<void> {
    for (const workspace of record.workspaces)
      if (await namesAnything(await this.#context(record, subject, workspace, new AbortController().signal))) return;
    if (await this.#records.knows(record.workspace_id, record.subject_hmac)) return;
    throw new PinakesError(
      "NOT_FOUND",
      `Nothing in ${record.workspaces.length === 1 ? "this workspace" : "these workspaces"} names this ${subject.type}.`,
    );
  }

  async #dryRun(record: ErasureRecord, subject: Subject): Promise<Erasure> {
    const counted = await this.#count(record, subject, new AbortController().signal);
    const { subject: _, ...rest } = record;
    const ended: ErasureRecord = { ...rest, ...counted, state: "counted", finished_at: record.created_at };
    await this.#records.create(ended);
    return viewOf(ended);
  }

  async #count(
    record: ErasureRecord,
    subject: Subject,
    signal: AbortSignal,
  ): Promise<Pick<ErasureRecord, "stores" | "holds">> {
    const runs: ErasureRun[] = [];
    for (const workspace of record.workspaces) {
      const run = await this.#run(record, subject, workspace, signal);
      await run.scan();
      runs.push(run);
    }
    return summed(runs);
  }

  async #start({ erasure_id, workspace_id, job_id }: ErasureRecord): Promise<void> {
    const scope = this.#deps.system.forTenant(governanceTenant);
    const input = { erasure_id, workspace_id };
    const job = { kind: "erasure", repository_id: "", collection_id: "", created_by: "system", input } as const;
    await this.#deps.jobs.start(scope, job, { job_id });
  }

  async #afterRelease(workspace: string): Promise<void> {
    for (let cursor: string | undefined, first = true; first || cursor !== undefined; first = false) {
      const page = await this.#records.list(workspace, { limit: governanceLimits.pageItemsMax, cursor });
      for (const { erasure_id, state } of page.records) {
        if (state !== "held") continue;
        const again = { state: "received", fenced: true, finished_at: null, job_id: this.#deps.newId() } as const;
        await this.#start(await this.#update(workspace, erasure_id, again));
      }
      ({ cursor } = page);
    }
  }

  /** From its first step, whatever an earlier attempt did. An erasure never gives up: what fails is tried again later. */
  async #job({ input }: JobRecord, { signal, tell }: JobTools): Promise<JsonObject> {
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
      const scanned = await this.#count(current, subject, signal);
      current = await this.#update(home, id, { ...mergedFound(current, scanned), state: "executing" });
      await tell({ done: 1, total: 4 });
      current = await this.#execute(current, subject, signal);
      await tell({ done: 2, total: 4 });
    }
    const held = current.holds.length > 0;
    await this.#scrub(current);
    await tell({ done: 3, total: 4 });
    const ended = await this.#end(current, held);
    this.#own.delete(id);
    this.#deps.fences.lower(id);
    return ended;
  }

  async #fence({ erasure_id, workspaces }: ErasureRecord, subject: Subject, signal: AbortSignal): Promise<void> {
    this.#own.add(erasure_id);
    await this.#deps.fences.raise({ erasureId: erasure_id, workspaces, subject });
    // Other processes look for fences every `fenceMs`; a write that they began before has ended within another.
    if (this.#deps.fenceMs > 0) await sleep(2 * this.#deps.fenceMs, undefined, { signal });
  }

  async #execute(record: ErasureRecord, subject: Subject, signal: AbortSignal): Promise<ErasureRecord> {
    const { workspace_id: home, erasure_id: id } = record;
    const runs: ErasureRun[] = [];
    for (const workspace of record.workspaces) {
      const run = await this.#run(record, subject, workspace, signal);
      await run.scan();
      run.counts.clear();
      await run.execute();
      await this.#deps.forgetInLog?.(workspace, subject);
      runs.push(run);
    }
    await this.#update(home, id, { state: "verifying" });
    let remaining = 0;
    for (const run of runs) remaining += await run.verify();
    const { stores, holds } = summed(runs);
    const current = await this.#update(home, id, { stores: mergedDone(record.stores, stores), holds: [...holds] });
    if (remaining > 0) throw remainsError(remaining, new Map(stores.map((one) => [one.store, one])));
    if (holds.length > 0) return current;
    await this.#records.dropLinks(home, id);
    // From here on nobody can tell whose erasure it was, which is why the files are rewritten after it.
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

  async #run(record: ErasureRecord, subject: Subject, workspace: string, signal: AbortSignal): Promise<ErasureRun> {
    const { workspace_id: home, erasure_id: id } = record;
    const context = await this.#context(record, subject, workspace, signal);
    return new ErasureRun(context, {
      knowledge: this.#deps.knowledge,
      state: this.#deps.state,
      forgetCredentials: this.#deps.forgetCredentials,
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

  async #context(
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

  async #checkOwnReceipt({ receipt_id, workspace_id }: ErasureRecord): Promise<ErasureVerification["receipt"]> {
    const found = receipt_id === null ? undefined : await this.#records.receipt(workspace_id, receipt_id);
    if (found === undefined) return { valid: false, reason: "there is no receipt yet" };
    const checked = checkReceipt(found.jws, await this.#records.publicKey());
    return { valid: checked.valid, reason: checked.valid ? null : checked.reason };
  }

  async #receiptView({
    receipt_id,
    erasure_id,
    sequence,
    jws,
  }: {
    readonly receipt_id: string;
    readonly erasure_id: string;
    readonly sequence: number;
    readonly jws: string;
  }): Promise<ErasureReceipt> {
    const public_key = await this.#records.publicKey();
    const checked = checkReceipt(jws, public_key);
    return { receipt_id, erasure_id, sequence, jws, content: checked.valid ? checked.content : {}, public_key };
  }

  #now(): string {
    return new Date(this.#deps.clock.now()).toISOString();
  }
}

function stored(subject: Subject): NonNullable<ErasureRecord["subject"]> {
  const { documents } = subject;
  return {
    type: subject.type,
    id: subject.id,
    ...(documents === undefined ? {} : { documents: { ...documents, document_ids: [...documents.document_ids] } }),
    paths: [...subject.paths],
  };
}

function checkPaths(paths: readonly string[] = []): readonly string[] {
  if (paths.length <= governanceLimits.pathsMax) return paths;
  throw invalid(`paths: at most ${governanceLimits.pathsMax}, got ${paths.length}.`);
}

function checkLimit(limit: number): number {
  if (Number.isInteger(limit) && limit >= 1 && limit <= governanceLimits.pageItemsMax) return limit;
  throw invalid(`limit: must be a whole number from 1 to ${governanceLimits.pageItemsMax}, got ${show(limit)}.`);
}

/** Another workspace answers as one that does not exist. */
function checkWorkspaces(
  own: string,
  subject: Subject,
  asked: readonly string[] | undefined,
  mayTouchAll: boolean,
): readonly string[] {
  const wanted = asked ?? [subject.type === "workspace" && mayTouchAll ? subject.id : own];
  const max = governanceLimits.workspacesMax;
  if (wanted.length === 0 || wanted.length > max) throw invalid(`workspaces: must be 1–${max} ids.`);
  const foreign = wanted.find((id) => id !== own && !mayTouchAll);
  if (foreign !== undefined) throw new PinakesError("NOT_FOUND", `There is no workspace ${show(foreign)}.`);
  if (subject.type !== "workspace") return [...new Set(wanted)];
  if (subject.id !== own && !mayTouchAll)
    throw new PinakesError("NOT_FOUND", `There is no workspace ${show(subject.id)}.`);
  if (wanted.length !== 1 || wanted[0] !== subject.id)
    throw invalid("workspaces: the erasure of a workspace is in that workspace alone.");
  return wanted;
}

function summed(runs: readonly ErasureRun[]): { stores: ErasureRecord["stores"]; holds: string[] } {
  const stores = new Map<string, ErasureRecord["stores"][number]>();
  for (const one of runs.flatMap((run) => [...run.counts.values()])) {
    const known = stores.get(one.store) ?? emptyCounts(one.store);
    stores.set(one.store, {
      store: one.store,
      found: known.found + one.found,
      deleted: known.deleted + one.deleted,
      redacted: known.redacted + one.redacted,
      anonymised: known.anonymised + one.anonymised,
      held: known.held + one.held,
      remaining: one.remaining === null ? known.remaining : (known.remaining ?? 0) + one.remaining,
    });
  }
  return { stores: [...stores.values()], holds: [...new Set(runs.flatMap((run) => [...run.holds]))] };
}

/** What the first attempt found stays: a later one finds only what was left. */
function mergedFound(
  record: ErasureRecord,
  { stores, holds }: Pick<ErasureRecord, "stores" | "holds">,
): Partial<ErasureRecord> {
  const known = new Map(record.stores.map((one) => [one.store, one]));
  const merged = stores.map((one) => ({ ...(known.get(one.store) ?? one), held: one.held }));
  const rest = record.stores.filter(({ store }) => !stores.some((one) => one.store === store));
  return { stores: [...merged, ...rest], holds: [...holds] };
}

/** What earlier attempts removed counts, too. */
function mergedDone(before: ErasureRecord["stores"], now: ErasureRecord["stores"]): ErasureRecord["stores"] {
  const names = new Set([...before, ...now].map(({ store }) => store));
  return [...names].map((store) => {
    const [earlier, latest] = [before, now].map(
      (list) => list.find((one) => one.store === store) ?? emptyCounts(store),
    ) as [ErasureRecord["stores"][number], ErasureRecord["stores"][number]];
    return {
      store,
      found: earlier.found,
      deleted: earlier.deleted + latest.deleted,
      redacted: earlier.redacted + latest.redacted,
      anonymised: earlier.anonymised + latest.anonymised,
      held: latest.held,
      remaining: latest.remaining ?? 0,
    };
  });
}

export function viewOf(record: ErasureRecord): Erasure {
  const { erasure_id, workspace_id, workspaces, state, subject_type, subject_hmac, dry_run, stores, holds } = record;
  const { attempts, error, receipt_id, created_by, created_at, updated_at, finished_at } = record;
  return {
    erasure_id,
    workspace_id,
    workspaces,
    state,
    subject: { type: subject_type, hmac: subject_hmac },
    dry_run,
    stores,
    holds,
    attempts,
    error,
    receipt_id,
    last_backup_expires_at: null,
    created_by,
    created_at,
    updated_at,
    finished_at,
  };
}
