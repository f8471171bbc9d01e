/**
 * The background audit: all workspaces, one small step at a time, without repairs except for quarantining data of unknown collections and
 * removing expired quarantine entries. Its progress, its findings and those of the last complete pass are stored where every process sees
 * them; one process at a time continues.
 */
import type { JsonObject } from "../domain/json.ts";
import type { Scope, SystemScope } from "../domain/scope.ts";
import { isConflict } from "../runtime/expected-errors.ts";
import type { Clock } from "../ports/clock.ts";
import type { ItemStore } from "../ports/item-store.ts";
import type { RepositoryRecord } from "../knowledge/records/records.ts";
import type { Quarantine } from "./quarantine/index.ts";
import { auditCollection, auditRepository } from "./audit-incarnation.ts";
import { beginAudit, type AuditDependencies } from "./audit-run.ts";
import { auditFilesPage, firstFiles, type FilesPosition } from "./check-files.ts";
import { auditIncarnationsPage } from "./check-incarnations.ts";
import { Findings, type FindingKind } from "./finding.ts";
import { auditLimits } from "./limits.ts";
import { auditContainer, auditTenant } from "./suspects.ts";
import { nextCollection, nextRepository } from "./walk.ts";

type Counts = Readonly<Partial<Record<FindingKind, number>>>;

/** Where the next step starts. Absent cursors: the start of their list. */
interface RoundPosition {
  /** Cursor in the list of workspaces, after the current one. */
  readonly workspaces?: string | undefined;
  readonly tenant?: string | undefined;
  /** Cursor of the quarantine sweep, while it is in progress. */
  readonly quarantine?: string | undefined;
  readonly swept?: boolean | undefined;
  /** Number of stores that are done. */
  readonly stores?: number | undefined;
  readonly lives?: string | undefined;
  /** Cursor after the current repository. */
  readonly repositories?: string | undefined;
  readonly repository?: string | undefined;
  readonly collections?: string | undefined;
  /** No more repositories in the workspace. */
  readonly lastRepository?: boolean | undefined;
  /** Position in the users' files, after the last repository. */
  readonly files?: FilesPosition | undefined;
}

interface RoundState {
  readonly owner: string;
  readonly until: number;
  readonly place: RoundPosition;
  /** Findings of the step that starts there. */
  readonly failures: number;
  readonly began_at: number;
  readonly found: Counts;
  readonly last: { readonly finished_at: number; readonly found: Counts } | null;
}

interface Step {
  readonly position: RoundPosition | undefined;
  readonly counts: Counts;
}

export interface AuditFigures {
  /** Epoch milliseconds; absent until the first complete pass. */
  readonly lastPassAt: number | undefined;
  /** Findings of the last complete pass, or of the first one so far. */
  readonly found: Counts;
}

export interface RoundsOptions {
  readonly items: ItemStore;
  readonly system: SystemScope;
  readonly clock: Clock;
  readonly owner: string;
  readonly log: (line: string) => void;
  readonly lifecycle: { readonly listing: readonly string[] };
  readonly quarantine: Pick<Quarantine, "sweep">;
  /** The workspace after a position of the list; undefined at its end. */
  readonly workspaces: (
    after: string | undefined,
  ) => Promise<{ readonly tenant: string; readonly position: string } | undefined>;
}

const key = { part: "rounds", id: "state" };

export class AuditRounds {
  readonly #services: AuditDependencies;
  readonly #deps: RoundsOptions;
  readonly #scope: Scope;
  #figures: AuditFigures = { lastPassAt: undefined, found: {} };

  constructor(services: AuditDependencies, deps: RoundsOptions) {
    this.#services = services;
    this.#deps = deps;
    this.#scope = deps.system.forTenant(auditTenant);
  }

  get figures(): AuditFigures {
    return this.#figures;
  }

  /** A bounded number of steps, unless another process is active or the last pass was recent. */
  async round(signal: AbortSignal): Promise<void> {
    const { clock, owner } = this.#deps;
    const began = clock.now();
    const found = await this.#read();
    let state: RoundState = found?.state ?? {
      owner,
      until: 0,
      place: {},
      failures: 0,
      began_at: began,
      found: {},
      last: null,
    };
    this.#tell(state);
    if (state.owner !== owner && state.until > began) return;
    const isFresh = Object.keys(state.place).length === 0;
    if (isFresh && state.last !== null && began - state.last.finished_at < auditLimits.passPauseMs) return;
    if (isFresh) state = { ...state, began_at: began, found: {} };
    let etag = await this.#write({ ...state, owner, until: began + auditLimits.roundLeaseMs }, found?.etag);
    for (let steps = 0; etag !== undefined && steps < auditLimits.roundStepsMax; steps += 1) {
      if (signal.aborted || clock.now() - began > auditLimits.roundMsMax) break;
      const { position, counts } = await this.#tried(state, etag, signal);
      const sums = added(state.found, counts);
      const now = clock.now();
      const over = position === undefined;
      const last = over ? { finished_at: now, found: sums } : state.last;
      state = {
        ...state,
        owner,
        until: now + auditLimits.roundLeaseMs,
        place: position ?? {},
        failures: 0,
        found: sums,
        last,
      };
      etag = await this.#write(state, etag);
      this.#tell(state);
      if (over) break;
    }
    // The next process may continue immediately.
    if (etag !== undefined) await this.#write({ ...state, owner, until: 0 }, etag);
  }

  /** A failing step is retried in the next rounds, and skipped when it fails too often, so that the rest does not wait for it. */
  async #tried(state: RoundState, etag: string, signal: AbortSignal): Promise<Step> {
    const { place: position } = state;
    const skip = state.failures >= auditLimits.stepTriesMax;
    try {
      if (skip) this.#deps.log(`audit: skipped after ${state.failures} failures: ${JSON.stringify(position)}`);
      return await this.#step(position, signal, skip);
    } catch (error) {
      // If not even the next position is known, continue with the next workspace.
      const next = skip
        ? { place: { workspaces: position.workspaces }, failures: 0 }
        : { failures: state.failures + 1 };
      if (!signal.aborted) await this.#write({ ...state, owner: this.#deps.owner, until: 0, ...next }, etag);
      throw error;
    }
  }

  /** One page of incarnations or files, one repository or one collection. No position: the pass is complete. */
  async #step(position: RoundPosition, signal: AbortSignal, skip: boolean): Promise<Step> {
    const { items, system, lifecycle, workspaces } = this.#deps;
    const findings = new Findings();
    if (position.tenant === undefined) {
      const next = await workspaces(position.workspaces);
      return {
        position: next === undefined ? undefined : { workspaces: next.position, tenant: next.tenant },
        counts: {},
      };
    }
    const run = beginAudit(this.#services, system.forTenant(position.tenant), {
      repair: false,
      forced: false,
      deep: false,
      findings,
      jobId: null,
      signal,
    });
    if (position.swept !== true) {
      const quarantine = skip ? undefined : await this.#deps.quarantine.sweep(run.scope, position.quarantine);
      return { position: { ...position, quarantine, swept: quarantine === undefined }, counts: {} };
    }
    const store = lifecycle.listing[position.stores ?? 0];
    if (store !== undefined) {
      const lives = skip
        ? undefined
        : await auditIncarnationsPage(run, { store, cursor: position.lives, remove: true });
      const stores = lives === undefined ? (position.stores ?? 0) + 1 : position.stores;
      return { position: { ...position, stores, lives }, counts: findings.counts };
    }
    if (position.repository !== undefined) {
      const { record, cursor } = await nextCollection(items, run.scope, position.repository, position.collections);
      if (record !== undefined && !skip) await auditCollection(run, record);
      const behind =
        cursor === undefined
          ? { ...position, repository: undefined, collections: undefined }
          : { ...position, collections: cursor };
      return { position: behind, counts: findings.counts };
    }
    if (position.lastRepository === true) {
      const files = skip ? undefined : await auditFilesPage(run, position.files ?? firstFiles);
      const behind = files === undefined ? { workspaces: position.workspaces } : { ...position, files };
      return { position: behind, counts: findings.counts };
    }
    const { record, cursor } = await nextRepository(items, run.scope, position.repositories);
    if (record !== undefined && !skip) await auditRepository(run, record);
    return { position: behindRepository(position, record, cursor), counts: findings.counts };
  }

  async #read(): Promise<{ readonly state: RoundState; readonly etag: string } | undefined> {
    const item = await this.#deps.items.read(this.#scope, auditContainer.name, {
      partition: [key.part],
      id: key.id,
    });
    return item === undefined ? undefined : { state: item.document as unknown as RoundState, etag: item.etag };
  }

  /** Undefined: another process was faster, and continues. */
  async #write(state: RoundState, etag: string | undefined): Promise<string | undefined> {
    const { owner, until, place, failures, began_at, found, last } = state;
    // Drops undefined properties.
    const document = JSON.parse(
      JSON.stringify({ ...key, owner, until, place, failures, began_at, found, last }),
    ) as JsonObject;
    const write =
      etag === undefined
        ? ({ op: "create", document } as const)
        : ({ op: "replace", document, ifMatch: etag } as const);
    try {
      return (await this.#deps.items.write(this.#scope, auditContainer.name, [key.part], write)).etag;
    } catch (error) {
      if (!isConflict(error)) throw error;
      return undefined;
    }
  }

  #tell({ last, found }: RoundState): void {
    this.#figures = { lastPassAt: last?.finished_at, found: last?.found ?? found };
  }
}

function behindRepository(
  position: RoundPosition,
  record: RepositoryRecord | undefined,
  cursor: string | undefined,
): RoundPosition {
  return {
    ...position,
    repositories: cursor,
    lastRepository: cursor === undefined,
    repository: record?.repository_id,
    collections: undefined,
  };
}

function added(sums: Counts, more: Counts): Counts {
  const kinds = [...Object.keys(sums), ...Object.keys(more)] as FindingKind[];
  return Object.fromEntries(kinds.map((kind) => [kind, (sums[kind] ?? 0) + (more[kind] ?? 0)]));
}
