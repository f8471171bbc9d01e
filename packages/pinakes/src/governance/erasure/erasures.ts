/** Erasures (RFC 0012): requested by admins, run as jobs under the system's tenant, proved by a count of zero and a signed receipt. */
import { setTimeout as sleep } from "node:timers/promises";
import type {
  Erasure,
  ErasureReceipt,
  ErasureReceiptKey,
  ErasureSubject,
  ErasureVerification,
  NewErasure,
} from "@pinakes/client";
import type { Caller } from "../../domain/caller.ts";
import { invalid, PinakesError, show } from "../../domain/errors.ts";
import { requireAdmin } from "../holds/holds.ts";
import { governanceLimits } from "../limits.ts";
import { checkReceipt, keyIdOf } from "../receipts/jws.ts";
import { checkSubject, type Subject } from "../subjects/subject.ts";
import { governanceTenant } from "../tenant.ts";
import { endedStates, ErasureJobs, type ErasuresDependencies } from "./erasure-job.ts";
import { RecordStore } from "./record-store.ts";
import { emptyWork, erasureItem, newErasureFormat, type ErasureRecord } from "./records.ts";
import { namesAnything } from "./scan.ts";

export interface ErasurePage {
  readonly items: readonly Erasure[];
  readonly next_cursor: string | null;
}

const waitMs = 200;

export class Erasures {
  readonly #deps: ErasuresDependencies;
  readonly #records: RecordStore;
  readonly #jobs: ErasureJobs;

  constructor(deps: ErasuresDependencies) {
    this.#deps = deps;
    this.#records = new RecordStore(deps.items, deps.system);
    this.#jobs = new ErasureJobs(deps, this.#records);
  }

  async open(): Promise<this> {
    await this.#records.open();
    this.#deps.jobs.register("erasure", (_scope, job, tools) => this.#jobs.run(job, tools));
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
    this.#deps.fences.replace(fences, this.#jobs.own);
  }

  /**
   * Validates the request and starts it; a dry run counts before it returns. NOT_FOUND if nothing names the subject, unless it was erased
   * here before.
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
    await this.#jobs.start(record);
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

  /** Receipts of the workspace, oldest first: the whole chain. */
  async receipts(
    caller: Caller,
    query: { limit?: number | undefined; cursor?: string | undefined } = {},
  ): Promise<{ readonly items: readonly ErasureReceipt[]; readonly next_cursor: string | null }> {
    const { limit = governanceLimits.pageItemsMax, cursor } = query;
    const page = await this.#records.receipts(requireAdmin(caller).tenant, { limit: checkLimit(limit), cursor });
    const items = await Promise.all(page.receipts.map((one) => this.#receiptView(one)));
    return { items, next_cursor: page.cursor ?? null };
  }

  /** The public key of this instance. Workspaces share it. */
  async receiptKey(caller: Caller): Promise<ErasureReceiptKey> {
    requireAdmin(caller);
    const public_key = await this.#records.publicKey();
    return { key_id: keyIdOf(public_key), public_key };
  }

  /** Counts again. The erasure no longer stores the subject's id, so it must be passed in. */
  async verify(
    caller: Caller,
    erasureId: string,
    input: ErasureSubject,
    paths?: readonly string[],
  ): Promise<ErasureVerification> {
    const record = await this.#read(caller, erasureId);
    const subject = checkSubject(input, checkPaths(paths));
    if ((await this.#records.hmac(subject)) !== record.subject_hmac)
      throw invalid("subject: does not match this erasure; nothing was counted.");
    const stores = new Map<string, number>();
    for (const workspace of record.workspaces) {
      const run = await this.#jobs.runOf(record, subject, workspace, new AbortController().signal);
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
      // Joins a run of this process; a run of a dead process is taken over once its heartbeat has stopped.
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
    const { signal } = new AbortController();
    for (const workspace of record.workspaces) {
      if (await namesAnything(await this.#jobs.contextOf(record, subject, workspace, signal))) return;
      if (await (await this.#jobs.runOf(record, subject, workspace, signal)).namesOwnRows()) return;
    }
    if (await this.#records.knows(record.workspace_id, record.subject_hmac)) return;
    throw new PinakesError(
      "NOT_FOUND",
      `Nothing in ${record.workspaces.length === 1 ? "this workspace" : "these workspaces"} names this ${subject.type}.`,
    );
  }

  async #dryRun(record: ErasureRecord, subject: Subject): Promise<Erasure> {
    const counted = await this.#jobs.count(record, subject, new AbortController().signal);
    const { subject: _, ...rest } = record;
    const ended: ErasureRecord = { ...rest, ...counted, state: "counted", finished_at: record.created_at };
    await this.#records.create(ended);
    return viewOf(ended);
  }

  async #afterRelease(workspace: string): Promise<void> {
    for (let cursor: string | undefined, first = true; first || cursor !== undefined; first = false) {
      const page = await this.#records.list(workspace, { limit: governanceLimits.pageItemsMax, cursor });
      for (const { erasure_id, state } of page.records) {
        if (state !== "held") continue;
        const again = { state: "received", fenced: true, finished_at: null, job_id: this.#deps.newId() } as const;
        await this.#jobs.start(
          await this.#records.update(workspace, erasure_id, (current) => ({ ...current, ...again })),
        );
      }
      ({ cursor } = page);
    }
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

/** Another workspace is reported as missing. */
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
